//! Types of components. Those of values are as long as they are written; those of instances and of components are looked at
//! item by item each time that something has one.

use super::part::Part;
use super::{code, too_much};
use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind, ComponentType, ComponentTypeDeclaration,
    ComponentTypeRef, InstanceTypeDeclaration, TypeBounds,
};

/// Types of instances and components that are written inside others, of one section. The reader of a type reads what is inside
/// by calling itself, and there is a stack of 2 MiB for it.
const INSIDE: usize = 200;

/// A type, by how many items it has in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) weight: u64,
    /// Whether it is that of an instance or a component.
    many: bool,
}

impl Kind {
    pub(super) const PLAIN: Self = Self { weight: 1, many: false };
}

/// Looks at the bytes of a section before it is read: no type in it is deeper than it has the two bytes that begin one
/// inside another.
pub(super) fn shallow(section: &[u8]) -> Result<(), String> {
    let inside = section.windows(2).filter(|pair| matches!(pair, [0x01, 0x41 | 0x42])).count();
    if inside > INSIDE {
        return Err(too_much(format_args!("has types inside types, {INSIDE} and more")));
    }
    Ok(())
}

/// A type that is written in the innermost of the open components.
pub(super) fn of(kind: &ComponentType<'_>, open: &[Part]) -> Result<Kind, String> {
    written(kind, &mut Scopes { open, inner: Vec::new() })
}

/// How many items something of this type has.
pub(super) fn named(kinds: &[Kind], what: ComponentTypeRef) -> Result<u64, String> {
    let found = |index: u32| kinds.get(index as usize).copied().unwrap_or(Kind::PLAIN);
    match what {
        ComponentTypeRef::Instance(index) => Ok(found(index).weight),
        ComponentTypeRef::Component(_) => Err(code()),
        ComponentTypeRef::Module(_) => Err("takes core modules from outside, which is not provided to plug-ins".into()),
        // An instance of such a type would be taken for one of a small type.
        ComponentTypeRef::Type(TypeBounds::Eq(index)) if found(index).many => {
            Err("hands types of instances or components from one of its parts to another, which is not supported"
                .into())
        }
        ComponentTypeRef::Func(_) | ComponentTypeRef::Value(_) | ComponentTypeRef::Type(_) => Ok(1),
    }
}

/// The types that can be named: of the types that are being read, the outermost first, within those of the components.
struct Scopes<'a> {
    open: &'a [Part],
    inner: Vec<Vec<Kind>>,
}

impl Scopes<'_> {
    fn outer(&self, count: u32, index: u32) -> Kind {
        let count = count as usize;
        let scope = match self.inner.len().checked_sub(1 + count) {
            Some(place) => self.inner.get(place),
            None => {
                let place = (self.open.len() + self.inner.len()).checked_sub(1 + count);
                place.and_then(|place| self.open.get(place)).map(|part| &part.kinds)
            }
        };
        scope.and_then(|kinds| kinds.get(index as usize)).copied().unwrap_or(Kind::PLAIN)
    }

    fn here(&self) -> &[Kind] {
        self.inner.last().map_or(&[], Vec::as_slice)
    }

    fn push(&mut self, kind: Kind) {
        if let Some(kinds) = self.inner.last_mut() {
            kinds.push(kind);
        }
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) {
        match *alias {
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Type, count, index } => {
                let kind = self.outer(count, index);
                self.push(kind);
            }
            ComponentAlias::InstanceExport { kind: ComponentExternalKind::Type, .. } => self.push(Kind::PLAIN),
            _ => {}
        }
    }

    /// An item that something of this type has.
    fn item(&mut self, what: ComponentTypeRef) -> Result<u64, String> {
        let weight = named(self.here(), what)?;
        if let ComponentTypeRef::Type(_) = what {
            self.push(Kind::PLAIN);
        }
        Ok(weight)
    }
}

fn written(kind: &ComponentType<'_>, scopes: &mut Scopes<'_>) -> Result<Kind, String> {
    let mut weight = 1_u64;
    scopes.inner.push(Vec::new());
    match kind {
        ComponentType::Defined(_) | ComponentType::Func(_) | ComponentType::Resource { .. } => {
            scopes.inner.pop();
            return Ok(Kind::PLAIN);
        }
        ComponentType::Instance(all) => {
            for declared in all {
                weight = weight.saturating_add(match declared {
                    InstanceTypeDeclaration::CoreType(_) => 1,
                    InstanceTypeDeclaration::Type(kind) => inside(kind, scopes)?,
                    InstanceTypeDeclaration::Alias(alias) => {
                        scopes.alias(alias);
                        1
                    }
                    InstanceTypeDeclaration::Export { ty, .. } => scopes.item(*ty)?,
                });
            }
        }
        ComponentType::Component(all) => {
            for declared in all {
                weight = weight.saturating_add(match declared {
                    ComponentTypeDeclaration::CoreType(_) => 1,
                    ComponentTypeDeclaration::Type(kind) => inside(kind, scopes)?,
                    ComponentTypeDeclaration::Alias(alias) => {
                        scopes.alias(alias);
                        1
                    }
                    ComponentTypeDeclaration::Export { ty, .. } => scopes.item(*ty)?,
                    ComponentTypeDeclaration::Import(import) => scopes.item(import.ty)?,
                });
            }
        }
    }
    scopes.inner.pop();
    Ok(Kind { weight, many: true })
}

fn inside(kind: &ComponentType<'_>, scopes: &mut Scopes<'_>) -> Result<u64, String> {
    let kind = written(kind, scopes)?;
    scopes.push(kind);
    Ok(kind.weight)
}
