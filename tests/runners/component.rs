//! The built component under wasmtime, called by the names and types that it brings: no types of its exports are written
//! down here, so that what a vector says is compared with what the component says.

use super::world::{Insertion, Replacement, Room, Row, World};
use super::{Answers, interface_of};
use counterfoil_gate_core::confirmation::{Index, Phase};
use counterfoil_gate_core::digest::Sha;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use wasmtime::component::{Component, Func, HasSelf, Linker, Type, Val};
use wasmtime::error::Context as _;
use wasmtime::{Config, Engine, Result, Store, bail, format_err};

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wasmtime::component::bindgen!({ path: "../wit/gate", world: "component" });
}
use bindings::counterfoil::gate::store as wit;
use bindings::wasi::{clocks::wall_clock, random::random};

/// One instance of the gate.
pub struct Instance {
    store: Store<World>,
    functions: BTreeMap<String, Func>,
}

struct Built {
    engine: Engine,
    component: Component,
    linker: Linker<World>,
}

fn build() -> Result<Built> {
    let mut config = Config::new();
    config.concurrency_support(false);
    let engine = Engine::new(&config)?;
    let component = Component::from_file(&engine, crate::component("gate"))?;
    let mut linker = Linker::new(&engine);
    bindings::Component::add_to_linker::<_, HasSelf<_>>(&mut linker, |world| world)?;
    Ok(Built { engine, component, linker })
}

impl Instance {
    /// A fresh instance in a world.
    pub fn new(world: World) -> Result<Self> {
        static BUILT: OnceLock<Built> = OnceLock::new();
        let built = match BUILT.get() {
            Some(built) => built,
            None => BUILT.get_or_init(|| build().unwrap_or_else(|error| panic!("{error:#}"))),
        };
        let mut store = Store::new(&built.engine, world);
        let instance = built.linker.instantiate(&mut store, &built.component)?;
        let mut functions = BTreeMap::new();
        for name in super::FUNCTIONS {
            let (interface, function) = interface_of(name);
            let interface = format!("counterfoil:gate/{interface}@0.1.0");
            let place = instance
                .get_export_index(&mut store, None, &interface)
                .and_then(|outer| instance.get_export_index(&mut store, Some(&outer), &function.replace('_', "-")))
                .with_context(|| format!("the component exports no {function} in {interface}"))?;
            let function = instance.get_func(&mut store, place).context("not a function")?;
            functions.insert((*name).to_string(), function);
        }
        Ok(Self { store, functions })
    }

    fn try_call(&mut self, function: &str, arguments: &Map<String, Value>) -> Result<Value> {
        let called = self.functions.get(function).with_context(|| format!("no function {function}"))?;
        let ty = called.ty(&self.store);
        let given = ty
            .params()
            .map(|(name, ty)| {
                let value = arguments.get(&name.replace('-', "_")).unwrap_or(&Value::Null);
                to_val(value, &ty).with_context(|| format!("parameter {name}"))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut results = vec![Val::Bool(false); ty.results().len()];
        called.call(&mut self.store, &given, &mut results)?;
        let answer = results.first().map_or(Value::Null, to_json);
        if matches!(function, "show" | "list") { items(answer) } else { Ok(answer) }
    }
}

impl Answers for Instance {
    fn call(&mut self, function: &str, arguments: &Map<String, Value>) -> Value {
        self.try_call(function, arguments).unwrap_or_else(|error| panic!("{function}: {error:#}"))
    }
}

/// An answer of `show` or `list`, whose items are JSON in text, with the items read.
fn items(answer: Value) -> Result<Value> {
    Ok(match answer {
        Value::String(text) => serde_json::from_str(&text)?,
        Value::Array(list) => list.into_iter().map(items).collect::<Result<_>>()?,
        Value::Object(mut result) => {
            if let Some(value) = result.remove("ok") {
                result.insert("ok".to_string(), items(value)?);
            }
            Value::Object(result)
        }
        other => other,
    })
}

/// JSON as a value of a type: records and cases by their names with `_` for `-`, bytes as hexadecimal digits.
fn to_val(value: &Value, ty: &Type) -> Result<Val> {
    let text = || value.as_str().ok_or_else(|| format_err!("a string is wanted, not {value}"));
    let number = || value.as_u64().ok_or_else(|| format_err!("a number is wanted, not {value}"));
    Ok(match ty {
        Type::Bool => Val::Bool(value.as_bool().ok_or_else(|| format_err!("a boolean is wanted, not {value}"))?),
        Type::U8 => Val::U8(number()?.try_into()?),
        Type::U32 => Val::U32(number()?.try_into()?),
        Type::U64 => Val::U64(number()?),
        Type::String => Val::String(text()?.to_string()),
        Type::List(list) if matches!(list.ty(), Type::U8) => {
            let digits = text()?.as_bytes().chunks(2);
            let byte = |pair: &[u8]| Ok(Val::U8(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
            Val::List(digits.map(byte).collect::<Result<_>>()?)
        }
        Type::List(list) => {
            let items = value.as_array().ok_or_else(|| format_err!("a list is wanted, not {value}"))?;
            Val::List(items.iter().map(|item| to_val(item, &list.ty())).collect::<Result<_>>()?)
        }
        Type::Record(record) => {
            let field = |field: wasmtime::component::types::Field<'_>| {
                let value = value.get(field.name.replace('-', "_")).unwrap_or(&Value::Null);
                Ok((field.name.to_string(), to_val(value, &field.ty).with_context(|| field.name.to_string())?))
            };
            Val::Record(record.fields().map(field).collect::<Result<_>>()?)
        }
        Type::Enum(_) => Val::Enum(text()?.replace('_', "-")),
        Type::Option(_) if value.is_null() => Val::Option(None),
        Type::Option(option) => Val::Option(Some(Box::new(to_val(value, &option.ty())?))),
        other => bail!("nothing in a vector has the type {other:?}"),
    })
}

fn to_json(value: &Val) -> Value {
    let inner = |value: &Option<Box<Val>>| value.as_deref().map_or(Value::Null, to_json);
    match value {
        Val::Bool(value) => json!(value),
        Val::U8(value) => json!(value),
        Val::U32(value) => json!(value),
        Val::U64(value) => json!(value),
        Val::String(value) => json!(value),
        Val::List(items) => items.iter().map(to_json).collect(),
        Val::Record(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.replace('-', "_"), to_json(value))).collect())
        }
        Val::Enum(case) | Val::Variant(case, None) => json!(case.replace('-', "_")),
        Val::Variant(case, Some(value)) => json!({ case.replace('-', "_"): to_json(value) }),
        Val::Option(value) => inner(value),
        Val::Result(Ok(value)) => json!({ "ok": inner(value) }),
        Val::Result(Err(value)) => json!({ "err": inner(value) }),
        other => panic!("nothing in the gate has the type of {other:?}"),
    }
}

impl wall_clock::Host for World {
    fn now(&mut self) -> wall_clock::Datetime {
        let now = World::now(self);
        wall_clock::Datetime { seconds: now / 1000, nanoseconds: (now % 1000) as u32 * 1_000_000 }
    }
    fn resolution(&mut self) -> wall_clock::Datetime {
        wall_clock::Datetime { seconds: 0, nanoseconds: 1_000_000 }
    }
}

impl random::Host for World {
    fn get_random_bytes(&mut self, length: u64) -> Vec<u8> {
        World::random(self, length)
    }
    fn get_random_u64(&mut self) -> u64 {
        u64::from_le_bytes(World::random(self, 8).try_into().unwrap_or_default())
    }
}

impl wit::Host for World {
    fn insert(&mut self, key: Vec<u8>, entry: wit::Entry, room: wit::Room) -> Result<wit::Insertion, String> {
        let room = Room { now: room.now, per_owner: room.per_owner, in_all: room.in_all };
        Ok(match World::insert(self, sha(&key)?, index_in(entry.index)?, entry.body, room)? {
            Insertion::Inserted => wit::Insertion::Inserted,
            Insertion::OwnerFull => wit::Insertion::OwnerFull,
            Insertion::AllFull => wit::Insertion::AllFull,
            Insertion::Exists => wit::Insertion::Exists,
        })
    }
    fn load(&mut self, key: Vec<u8>) -> Result<Option<wit::Stored>, String> {
        let key = sha(&key)?;
        Ok(World::load(self, &key)?.map(|row| stored((key, row))))
    }
    fn load_by_approval_id(&mut self, approval_id: String) -> Result<Option<wit::Stored>, String> {
        Ok(World::load_by_approval_id(self, &approval_id)?.map(stored))
    }
    fn replace(&mut self, key: Vec<u8>, version: u64, entry: wit::Entry) -> Result<wit::Replacement, String> {
        Ok(match World::replace(self, &sha(&key)?, version, index_in(entry.index)?, entry.body)? {
            Replacement::Replaced => wit::Replacement::Replaced,
            Replacement::Stale => wit::Replacement::Stale,
            Replacement::Held => wit::Replacement::Held,
        })
    }
    fn find(&mut self, binding: Vec<u8>, limit: u32) -> Result<Vec<wit::Found>, String> {
        Ok(World::find(self, &sha(&binding)?, limit)?.into_iter().map(found).collect())
    }
    fn list_by_state(
        &mut self,
        state: wit::State,
        after: Option<wit::Cursor>,
        limit: u32,
    ) -> Result<Vec<wit::Stored>, String> {
        let after = after.map(|cursor| (cursor.issued, cursor.approval_id));
        Ok(World::list(self, phase(state), after, limit)?.into_iter().map(stored).collect())
    }
    fn due(&mut self, now: u64, limit: u32) -> Result<Vec<wit::Found>, String> {
        Ok(World::due(self, now, limit)?.into_iter().map(found).collect())
    }
    fn remove(&mut self, key: Vec<u8>, version: u64) -> Result<bool, String> {
        World::remove(self, &sha(&key)?, version)
    }
}

fn sha(bytes: &[u8]) -> Result<Sha, String> {
    bytes.try_into().map_err(|_| "a digest has 32 bytes".to_string())
}

fn stored((key, row): (Sha, Row)) -> wit::Stored {
    let entry = wit::Entry { index: index_out(row.index), body: row.body };
    wit::Stored { key: key.to_vec(), version: row.version, entry }
}

fn found((key, row): (Sha, Row)) -> wit::Found {
    wit::Found { key: key.to_vec(), version: row.version, index: index_out(row.index) }
}

fn phase(state: wit::State) -> Phase {
    match state {
        wit::State::Pending => Phase::Pending,
        wit::State::InFlight => Phase::InFlight,
        wit::State::Completed => Phase::Completed,
        wit::State::Declined => Phase::Declined,
        wit::State::Settled => Phase::Settled,
    }
}

fn index_in(index: wit::Index) -> Result<Index, String> {
    let wit::Index { state, owner, approval_id, binding, issued, changed, until, purge_after } = index;
    let binding = sha(&binding)?;
    Ok(Index { phase: phase(state), owner, approval_id, binding, issued, changed, until, purge_after })
}

fn index_out(index: Index) -> wit::Index {
    let state = match index.phase {
        Phase::Pending => wit::State::Pending,
        Phase::InFlight => wit::State::InFlight,
        Phase::Completed => wit::State::Completed,
        Phase::Declined => wit::State::Declined,
        Phase::Settled => wit::State::Settled,
    };
    let Index { owner, approval_id, binding, issued, changed, until, purge_after, .. } = index;
    wit::Index { state, owner, approval_id, binding: binding.to_vec(), issued, changed, until, purge_after }
}
