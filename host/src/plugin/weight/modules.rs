//! The core modules of a component, whether it uses them or not: all are compiled. What is bounded here is what is written in
//! a byte or two and becomes thousands of values, or an image of megabytes.

use super::super::sandbox::{CORE_INSTANCES_EACH, TABLE_ELEMENTS};
use super::{damaged, each, too_much};
use wasmparser::{CompositeInnerType, FunctionBody, Payload};

/// Four for each that can run: linkers leave some that only join others.
const MODULES: u32 = 4 * CORE_INSTANCES_EACH;
/// Elements that all tables begin with, used or not.
const ELEMENTS: u64 = CORE_INSTANCES_EACH as u64 * TABLE_ELEMENTS as u64;
/// Parameters of a function or a block. Languages of many have 255.
const PARAMS: usize = 256;
/// Results of a function or a block. Most languages have one, some a few.
const RESULTS: usize = 32;
/// Local variables of all functions, beside one for each byte of code: whoever uses one writes two bytes and more.
const SPARE_LOCALS: u64 = 100_000;

/// What all modules have together, and how much of the one that is open has been read.
#[derive(Default)]
pub(super) struct Modules {
    count: u32,
    elements: u64,
    locals: u64,
    code: u64,
    open: Option<u64>,
}

impl Modules {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn open(&mut self) -> Result<(), String> {
        self.count += 1;
        if self.count > MODULES {
            return Err(too_much(format_args!("has more than {MODULES} core modules")));
        }
        self.open = Some(0);
        Ok(())
    }

    /// The number of imports, once the module has been read.
    pub(super) fn take(&mut self, payload: Payload<'_>) -> Result<Option<u64>, String> {
        match payload {
            Payload::TypeSection(all) => each(all, |group: wasmparser::RecGroup| {
                group.types().try_for_each(|kind| match &kind.composite_type.inner {
                    CompositeInnerType::Func(kind) => signature(kind.params().len(), kind.results().len()),
                    _ => Ok(()),
                })
            })?,
            Payload::ImportSection(all) => {
                for import in all.into_imports() {
                    import.map_err(|error| damaged(&error))?;
                    self.open = self.open.map(|count| count + 1);
                }
            }
            Payload::TableSection(all) => each(all, |table: wasmparser::Table<'_>| self.table(table.ty.initial))?,
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            Payload::End(_) => return Ok(self.open.take()),
            _ => {}
        }
        Ok(None)
    }

    fn table(&mut self, elements: u64) -> Result<(), String> {
        self.elements = self.elements.saturating_add(elements);
        if self.elements > ELEMENTS {
            return Err(too_much(format_args!("has tables of more than {ELEMENTS} elements")));
        }
        Ok(())
    }

    fn body(&mut self, body: &FunctionBody<'_>) -> Result<(), String> {
        self.code = self.code.saturating_add(body.range().len() as u64);
        for group in body.get_locals_reader().map_err(|error| damaged(&error))? {
            let (count, _) = group.map_err(|error| damaged(&error))?;
            self.locals = self.locals.saturating_add(u64::from(count));
        }
        if self.locals > SPARE_LOCALS.saturating_add(self.code) {
            return Err(too_much("has functions with more local variables than their code can use"));
        }
        Ok(())
    }
}

fn signature(params: usize, results: usize) -> Result<(), String> {
    if params > PARAMS || results > RESULTS {
        let most = format_args!("{PARAMS} parameters or {RESULTS} results");
        return Err(too_much(format_args!("has a function or a block of more than {most}")));
    }
    Ok(())
}
