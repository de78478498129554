//! RFC 3339 in UTC, to the second. Days from the civil-calendar arithmetic of proleptic Gregorian eras (400 years each).

use crate::prose::push_decimal;
use alloc::string::String;

/// `2026-05-18T14:33:21Z`.
pub(crate) fn rfc3339(unix_millis: u64) -> String {
    let seconds = unix_millis / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that the leap day is the last of its year; day 0 is 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let mut out = String::new();
    let parts = [(year, 4, '-'), (month, 2, '-'), (day, 2, 'T'), (hour, 2, ':'), (minute, 2, ':'), (second, 2, 'Z')];
    for (number, width, behind) in parts {
        push_decimal(&mut out, number, width);
        out.push(behind);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_millis: u64, expected: &str) {
        assert_eq!(rfc3339(unix_millis), expected);
    }

    #[test]
    fn times_are_written_to_the_second() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400_000, "2000-02-29T00:00:00Z");
        check(951_868_799_999, "2000-02-29T23:59:59Z");
        check(951_868_800_000, "2000-03-01T00:00:00Z");
        check(1_779_114_801_812, "2026-05-18T14:33:21Z");
        check(4_107_542_399_000, "2100-02-28T23:59:59Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00Z");
        check(253_402_300_799_000, "9999-12-31T23:59:59Z");
    }
}
