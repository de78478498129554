//! How times and states stand in the file's columns.

use crate::store::State;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A time, a version or an amount. SQLite's integers are signed: what is larger is written as the largest, in 292 million years.
pub(super) struct Time(pub(super) u64);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u64::try_from(value.as_i64()?).map(Self).map_err(|_| FromSqlError::InvalidType)
    }
}

/// The numbers are in the file, and `schema.rs` has them too.
impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let number: i64 = match self {
            Self::Pending => 0,
            Self::InFlight => 1,
            Self::Completed => 2,
            Self::Declined => 3,
            Self::Settled => 4,
        };
        Ok(number.into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Self::Pending),
            1 => Ok(Self::InFlight),
            2 => Ok(Self::Completed),
            3 => Ok(Self::Declined),
            4 => Ok(Self::Settled),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}
