//! Takes out of a component what only its own parts read: names for debuggers, the list of tools that made it, and the
//! long names under which its module hands functions to the component around it. What it does is the same before and after.

use wasm_encoder::reencode::{Error, Reencode, ReencodeComponent};
use wasm_encoder::{Alias, Component, ComponentAliasSection, ExportSection, Module};
use wasmparser::{ComponentAliasSectionReader, CustomSectionReader, Export, Parser};

/// Rewrites a component.
pub fn slim(component: &[u8]) -> Result<Vec<u8>, String> {
    let mut slimmed = Component::new();
    Slim::default().parse_component(&mut slimmed, Parser::new(0), component).map_err(|e| e.to_string())?;
    Ok(slimmed.finish())
}

/// The names of lifted functions and of what frees their results, each by its number.
#[derive(Default)]
struct Slim(Vec<String>);

impl Slim {
    /// `counterfoil:gate/levels@0.1.0#parse` is a number; `memory` and the like stay.
    fn name(&mut self, name: &str) -> String {
        if !name.contains('#') {
            return name.to_owned();
        }
        let number = self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        number.to_string()
    }
}

type Done<T = ()> = Result<T, Error>;

impl Reencode for Slim {
    type Error = std::convert::Infallible;

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Done {
        let (kind, index) = (self.export_kind(export.kind)?, self.external_index(export.kind, export.index)?);
        exports.export(&self.name(export.name), kind, index);
        Ok(())
    }

    fn parse_custom_section(&mut self, _: &mut Module, _: CustomSectionReader<'_>) -> Done {
        Ok(())
    }
}

impl ReencodeComponent for Slim {
    fn parse_component_alias_section(
        &mut self,
        aliases: &mut ComponentAliasSection,
        section: ComponentAliasSectionReader<'_>,
    ) -> Done {
        for alias in section {
            match self.component_alias(alias?)? {
                Alias::CoreInstanceExport { instance, kind, name } => {
                    aliases.alias(Alias::CoreInstanceExport { instance, kind, name: &self.name(name) });
                }
                other => {
                    aliases.alias(other);
                }
            }
        }
        Ok(())
    }

    fn parse_component_custom_section(&mut self, _: &mut Component, _: CustomSectionReader<'_>) -> Done {
        Ok(())
    }
}
