//! What a component becomes before any of it runs, reckoned from its bytes in one pass, without putting it together: whoever
//! compiles one spends time and memory by what it unfolds to, and a part that holds another one twice, which holds another
//! one twice, doubles that with each level, in fifty bytes. Nothing is compiled that unfolds to more than the bounds here.
//!
//! What is reckoned is never less than what comes of it, and may be more. Compilers of plug-ins stay below a tenth of each bound.

mod kinds;
mod modules;
mod part;

use modules::Modules;
use part::Part;
use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef, Instance,
    Parser, Payload, TypeBounds,
};

/// Components in components: those that are put together from others have three.
const DEPTH: usize = 16;
/// Instances of components and of core modules, when all is put together; Python's have some dozen, and 64 can run.
const INSTANCES: u64 = 1000;
/// Items that are written down or handed on while it is put together: about a kilobyte and ten microseconds each.
const PIECES: u64 = 100_000;

/// Refuses what unfolds to more than a plug-in can be.
pub(super) fn check(component: &[u8]) -> Result<(), String> {
    let mut seen = Seen::default();
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.map_err(|error| damaged(&error))?;
        if let Payload::ComponentTypeSection(section) = &payload {
            kinds::shallow(component.get(section.range()).unwrap_or_default())?;
        }
        seen.take(payload)?;
    }
    Ok(())
}

fn damaged(error: &wasmparser::BinaryReaderError) -> String {
    format!("is damaged or uses what is not supported: {}", error.message())
}

fn too_much(what: impl std::fmt::Display) -> String {
    format!("{what}: nothing is compiled that unfolds to so much; no plug-in needs it")
}

/// A size that depends on what is handed in: so much, and so often the largest of what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weight {
    alone: u64,
    handed: u64,
}

impl Weight {
    const ONE: Self = Self { alone: 1, handed: 0 };

    fn of(alone: u64) -> Self {
        Self { alone, handed: 0 }
    }

    fn and(self, other: Self) -> Self {
        Self { alone: self.alone.saturating_add(other.alone), handed: self.handed.saturating_add(other.handed) }
    }

    /// With the largest of what is handed in.
    fn given(self, largest: Self) -> Self {
        Self {
            alone: self.alone.saturating_add(self.handed.saturating_mul(largest.alone)),
            handed: self.handed.saturating_mul(largest.handed),
        }
    }

    fn larger(self, other: Self) -> Self {
        Self { alone: self.alone.max(other.alone), handed: self.handed.max(other.handed) }
    }
}

/// What has been read: the components that are open, the outermost first, and what all modules have.
#[derive(Default)]
struct Seen {
    open: Vec<Part>,
    modules: Modules,
    /// Pieces of all parts as they are written, whether they are ever put together or not: they are checked.
    written: u64,
}

impl Seen {
    fn take(&mut self, payload: Payload<'_>) -> Result<(), String> {
        if self.modules.is_open() {
            if let Some(imports) = self.modules.take(payload)?
                && let Some(part) = self.open.last_mut()
            {
                part.modules.push(imports);
            }
            return Ok(());
        }
        match payload {
            Payload::Version { encoding: wasmparser::Encoding::Component, .. } => {
                if self.open.len() >= DEPTH {
                    return Err(too_much(format_args!("has components in components, {DEPTH} deep and more")));
                }
                self.open.push(Part::default());
            }
            Payload::ModuleSection { .. } => self.modules.open()?,
            Payload::End(_) => self.close()?,
            Payload::InstanceSection(all) => each(all, |made| self.core_instance(&made))?,
            Payload::ComponentInstanceSection(all) => each(all, |made| self.instance(&made))?,
            Payload::ComponentAliasSection(all) => each(all, |alias| self.alias(&alias))?,
            Payload::ComponentTypeSection(all) => each(all, |kind| {
                let kind = kinds::of(&kind, &self.open)?;
                self.kind(kind)
            })?,
            Payload::ComponentCanonicalSection(all) => self.linear(all.count())?,
            Payload::ComponentImportSection(all) => each(all, |import| self.import(import.ty))?,
            Payload::ComponentExportSection(all) => each(all, |export| self.export(export.kind, export.index))?,
            _ => {}
        }
        Ok(())
    }

    /// What is written in the part that is being read.
    fn here(&mut self) -> Result<&mut Part, String> {
        self.open.last_mut().ok_or_else(|| "is damaged: it has a section outside of a component".to_owned())
    }

    /// Written here, and done again with each instance of this part.
    fn spend(&mut self, weight: Weight) -> Result<(), String> {
        self.written = self.written.saturating_add(weight.alone);
        let written = self.written;
        let part = self.here()?;
        part.pieces = part.pieces.and(weight);
        within(written.max(part.pieces.alone), part.instances)
    }

    /// As long as it is written, so it counts where it is done again only.
    fn linear(&mut self, count: u32) -> Result<(), String> {
        let part = self.here()?;
        part.again = part.again.saturating_add(u64::from(count));
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(part) = self.open.pop() else { return Ok(()) };
        if self.open.is_empty() {
            return Ok(());
        }
        let closure = part.closure();
        self.here()?.components.push(part.sealed());
        self.spend(closure)
    }

    fn core_instance(&mut self, made: &Instance<'_>) -> Result<(), String> {
        let part = self.here()?;
        let items = match made {
            Instance::Instantiate { module_index, args } => {
                let imports = part.modules.get(*module_index as usize).copied().unwrap_or_default();
                part.instances = part.instances.saturating_add(1);
                imports.saturating_add(args.len() as u64)
            }
            Instance::FromExports(exports) => exports.len() as u64,
        };
        // Core items are small.
        self.spend(Weight::of(1 + items / 8))
    }

    fn instance(&mut self, made: &ComponentInstance<'_>) -> Result<(), String> {
        let part = self.here()?;
        match made {
            ComponentInstance::Instantiate { component_index, args } => {
                let largest = args.iter().map(|arg| part.handed(arg.kind, arg.index)).fold(Weight::ONE, Weight::larger);
                let all = Weight::of(args.len() as u64);
                if args.iter().any(|arg| is_code(arg.kind)) {
                    return Err(code());
                }
                let Some(made) = part.components.get(*component_index as usize).copied() else { return Ok(()) };
                part.instances = part.instances.saturating_add(1).saturating_add(made.instances);
                part.made.push(Weight::ONE.and(made.exports.given(largest)));
                // What it has been found to be is looked at here, and what it is made of is made again.
                self.written = self.written.saturating_add(made.exports.given(largest).alone);
                let inside = made.pieces.given(largest);
                let part = self.here()?;
                part.pieces = part.pieces.and(inside).and(Weight::of(made.again));
                self.spend(Weight::ONE.and(all).and(Weight::of(made.closes)))
            }
            ComponentInstance::FromExports(exports) => {
                if exports.iter().any(|export| is_code(export.kind)) {
                    return Err(code());
                }
                let all = exports.iter().map(|export| part.handed(export.kind, export.index));
                let all = all.fold(Weight::ONE, Weight::and);
                part.made.push(all);
                self.spend(all)
            }
        }
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) -> Result<(), String> {
        match *alias {
            ComponentAlias::InstanceExport { kind, .. } if is_code(kind) => Err(code()),
            ComponentAlias::InstanceExport { kind: ComponentExternalKind::Instance, instance_index, .. } => {
                let part = self.here()?;
                let whole = part.handed(ComponentExternalKind::Instance, instance_index);
                part.made.push(whole);
                self.spend(whole)
            }
            ComponentAlias::InstanceExport { kind, .. } => {
                if kind == ComponentExternalKind::Type {
                    self.here()?.kinds.push(kinds::Kind::PLAIN);
                }
                self.linear(1)
            }
            ComponentAlias::CoreInstanceExport { .. } => self.linear(1),
            ComponentAlias::Outer { kind, count, index } => self.outer(kind, count, index),
        }
    }

    fn outer(&mut self, kind: ComponentOuterAliasKind, count: u32, index: u32) -> Result<(), String> {
        let place = self.open.len().checked_sub(1 + count as usize);
        let Some(from) = place.and_then(|place| self.open.get(place)) else { return Ok(()) };
        let index = index as usize;
        match kind {
            ComponentOuterAliasKind::Type => {
                let kind = from.kinds.get(index).copied().unwrap_or(kinds::Kind::PLAIN);
                self.here()?.kinds.push(kind);
                self.linear(1)
            }
            ComponentOuterAliasKind::CoreModule => {
                let imports = from.modules.get(index).copied().unwrap_or_default();
                self.here()?.modules.push(imports);
                self.spend(Weight::ONE)
            }
            ComponentOuterAliasKind::Component => {
                let Some(part) = from.components.get(index).copied() else { return Ok(()) };
                // Each component between here and there holds a copy, with all that it holds itself.
                let copy = part.closes.saturating_add(1);
                for between in self.open.iter_mut().rev().take(count as usize) {
                    between.closes = between.closes.saturating_add(copy);
                }
                self.here()?.components.push(part);
                self.spend(Weight::of(copy))
            }
            ComponentOuterAliasKind::CoreType => Ok(()),
        }
    }

    fn kind(&mut self, kind: kinds::Kind) -> Result<(), String> {
        self.here()?.kinds.push(kind);
        self.spend(Weight::of(kind.weight))
    }

    fn import(&mut self, what: ComponentTypeRef) -> Result<(), String> {
        let part = self.here()?;
        let weight = kinds::named(&part.kinds, what)?;
        match what {
            ComponentTypeRef::Instance(_) => part.made.push(Weight { alone: weight, handed: 1 }),
            ComponentTypeRef::Type(TypeBounds::Eq(_) | TypeBounds::SubResource) => part.kinds.push(kinds::Kind::PLAIN),
            _ => {}
        }
        let handed = u64::from(matches!(what, ComponentTypeRef::Instance(_)));
        self.spend(Weight { alone: weight, handed })
    }

    fn export(&mut self, kind: ComponentExternalKind, index: u32) -> Result<(), String> {
        if is_code(kind) {
            return Err(code());
        }
        let part = self.here()?;
        let whole = part.handed(kind, index);
        part.exports = part.exports.and(whole);
        match kind {
            ComponentExternalKind::Instance => part.made.push(whole),
            ComponentExternalKind::Type => {
                let kind = kinds::named(&part.kinds, ComponentTypeRef::Type(TypeBounds::Eq(index)));
                kind.map(|_| part.kinds.push(kinds::Kind::PLAIN))?;
            }
            _ => {}
        }
        self.spend(whole)
    }
}

fn each<'a, T: wasmparser::FromReader<'a>>(
    all: wasmparser::SectionLimited<'a, T>,
    mut take: impl FnMut(T) -> Result<(), String>,
) -> Result<(), String> {
    all.into_iter().try_for_each(|item| take(item.map_err(|error| damaged(&error))?))
}

fn within(pieces: u64, instances: u64) -> Result<(), String> {
    if instances > INSTANCES {
        return Err(too_much(format_args!("consists of more than {INSTANCES} instances when it is put together")));
    }
    if pieces > PIECES {
        return Err(too_much(format_args!("consists of more than {PIECES} pieces when it is put together")));
    }
    Ok(())
}

/// What is not weighed, as no compiler hands it on: components and core modules as values.
fn is_code(kind: ComponentExternalKind) -> bool {
    matches!(kind, ComponentExternalKind::Component | ComponentExternalKind::Module)
}

fn code() -> String {
    "hands components or core modules from one of its parts to another, which is not supported".into()
}
