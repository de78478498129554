//! Takes out of a component what only its own parts read: names for debuggers, the list of tools that made it, and the
//! long names under which its parts hand functions and types to each other. What it does is the same before and after.

use wasm_encoder::reencode::{Error, Reencode, ReencodeComponent, component_utils as utils};
use wasm_encoder::{
    Alias, Component, ComponentAliasSection, ComponentExportKind, ComponentImportSection, ComponentInstanceSection,
    ExportSection, Module,
};
use wasmparser::{
    ComponentAliasSectionReader, ComponentImportSectionReader, ComponentInstance, CustomSectionReader, Export, Parser,
};

/// Rewrites a component.
pub fn slim(component: &[u8]) -> Result<Vec<u8>, String> {
    let mut slimmed = Component::new();
    Slim::default().parse_component(&mut slimmed, Parser::new(0), component).map_err(|e| e.to_string())?;
    Ok(slimmed.finish())
}

/// The names that only parts of the component read, each by its number.
#[derive(Default)]
struct Slim(Vec<String>);

impl Slim {
    /// `counterfoil:gate/levels@0.1.0#parse` is a number; `memory` and the like stay.
    fn name(&mut self, name: &str) -> String {
        if name.contains('#') { self.number(name).to_string() } else { name.to_owned() }
    }

    /// `import-type-level`, by which an interface gets what it exports, is `n` and a number; what the world imports stays.
    fn inner_name(&mut self, name: &str) -> String {
        if name.starts_with("import-") { format!("n{}", self.number(name)) } else { name.to_owned() }
    }

    fn number(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
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

    fn parse_component_import_section(
        &mut self,
        imports: &mut ComponentImportSection,
        section: ComponentImportSectionReader<'_>,
    ) -> Done {
        for import in section {
            let import = import?;
            let ty = self.component_type_ref(import.ty)?;
            imports.import(self.inner_name(import.name.name).as_str(), ty);
        }
        Ok(())
    }

    fn parse_component_instance(
        &mut self,
        instances: &mut ComponentInstanceSection,
        instance: ComponentInstance<'_>,
    ) -> Done {
        let ComponentInstance::Instantiate { component_index, args } = instance else {
            return utils::parse_component_instance(self, instances, instance);
        };
        let component = self.component_index(component_index);
        let args: Vec<(String, ComponentExportKind, u32)> = args
            .iter()
            .map(|arg| {
                let index = self.component_external_index(arg.kind, arg.index);
                (self.inner_name(arg.name), arg.kind.into(), index)
            })
            .collect();
        instances.instantiate(component, args.iter().map(|(name, kind, index)| (name.as_str(), *kind, *index)));
        Ok(())
    }

    fn parse_component_custom_section(&mut self, _: &mut Component, _: CustomSectionReader<'_>) -> Done {
        Ok(())
    }
}
