//! Components that no compiler makes.

use wasm_encoder::{
    Alias, CanonicalFunctionSection, CodeSection, Component, ComponentAliasSection, ComponentBuilder,
    ComponentExportKind, ComponentExportSection, ComponentInstanceSection, ComponentTypeRef, ComponentTypeSection,
    ComponentValType, ExportKind, ExportSection, Function, FunctionSection, InstanceSection, InstanceType,
    MemorySection, MemoryType, Module, ModuleArg, ModuleSection, RefType, StartSection, TableSection, TableType,
    TypeSection, ValType,
};

/// What a module has besides its one function, which never ends if it is the module's start.
#[derive(Default)]
struct With {
    memory: Option<MemoryType>,
    table: Option<TableType>,
    starts: bool,
}

pub fn component(name: &str) -> Vec<u8> {
    let memory =
        |minimum, maximum, shared| MemoryType { minimum, maximum, memory64: false, shared, page_size_log2: None };
    let around = |with: With| around(&module(&with), 1);
    match name {
        "core_module" => module(&With::default()).finish(),
        "truncated" => {
            let mut whole = std::fs::read(counterfoil_tests::fixture("echo")).unwrap();
            whole.truncate(whole.len() / 2);
            whole
        }
        "import" => {
            let mut component = ComponentBuilder::default();
            let nothing = component.type_instance(None, &InstanceType::new());
            component.import("example:key/value@1.0.0", ComponentTypeRef::Instance(nothing));
            component.finish()
        }
        "other_types" => around(With::default()),
        "shared_memory" => around(With { memory: Some(memory(1, Some(2), true)), ..With::default() }),
        "large_memory" => around(With { memory: Some(memory(65_536, None, false)), ..With::default() }),
        "large_table" => {
            let table = TableType {
                element_type: RefType::FUNCREF,
                table64: false,
                minimum: 1_000_000,
                maximum: None,
                shared: false,
            };
            around(With { table: Some(table), ..With::default() })
        }
        "many_memories" => self::around(&module(&With { memory: Some(memory(1, None, false)), ..With::default() }), 5),
        "many_instances" => self::around(&module(&With::default()), 100),
        "doubling" => super::unfolds::levels(40, 2),
        "deep_types" => super::unfolds::types(100_000),
        "loop_core" => around(With { starts: true, ..With::default() }),
        other => panic!("nothing makes {other}"),
    }
}

/// A component that is made of more: of so many memories, and of so many core instances that have none.
pub fn with_more(mut component: Vec<u8>, memories: u32, instances: u32) -> Vec<u8> {
    let memory = MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
    let parts = wasmparser::Parser::new(0).parse_all(&component);
    let (mut depth, mut modules) = (0, 0);
    for part in parts {
        match part.unwrap() {
            wasmparser::Payload::ModuleSection { .. } => {
                modules += u32::from(depth == 0);
                depth += 1;
            }
            wasmparser::Payload::ComponentSection { .. } => depth += 1,
            wasmparser::Payload::End(_) => depth -= 1,
            _ => {}
        }
    }
    for (with, count) in [(With { memory: Some(memory), ..With::default() }, memories), (With::default(), instances)] {
        let mut made = InstanceSection::new();
        for _ in 0..count {
            made.instantiate(modules, Vec::<(&str, ModuleArg)>::new());
        }
        modules += 1;
        wasm_encoder::ComponentSection::append_to_component(&ModuleSection(&module(&with)), &mut component);
        wasm_encoder::ComponentSection::append_to_component(&made, &mut component);
    }
    component
}

fn module(with: &With) -> Module {
    let (mut types, mut functions, mut exports, mut code) =
        (TypeSection::new(), FunctionSection::new(), ExportSection::new(), CodeSection::new());
    types.ty().function([], Vec::<ValType>::new());
    functions.function(0);
    exports.export("f", ExportKind::Func, 0);
    let mut body = Function::new([]);
    if with.starts {
        body.instructions().loop_(wasm_encoder::BlockType::Empty).br(0).end();
    }
    body.instructions().end();
    code.function(&body);
    let mut module = Module::new();
    module.section(&types).section(&functions);
    if let Some(table) = with.table {
        module.section(TableSection::new().table(table));
    }
    if let Some(memory) = with.memory {
        module.section(MemorySection::new().memory(memory));
    }
    module.section(&exports);
    if with.starts {
        module.section(&StartSection { function_index: 0 });
    }
    module.section(&code);
    module
}

/// A component of so many instances of a module, which exports what a plug-in exports, with functions of other types.
fn around(module: &Module, count: u32) -> Vec<u8> {
    let mut instances = InstanceSection::new();
    for _ in 0..count {
        instances.instantiate(0, Vec::<(&str, ModuleArg)>::new());
    }
    let mut aliases = ComponentAliasSection::new();
    aliases.alias(Alias::CoreInstanceExport { instance: 0, kind: ExportKind::Func, name: "f" });
    let mut types = ComponentTypeSection::new();
    types.function().async_(false).params(Vec::<(&str, ComponentValType)>::new()).result(None);
    let mut lifted = CanonicalFunctionSection::new();
    lifted.lift(0, 0, []);
    let mut made = ComponentInstanceSection::new();
    made.export_items(["list-tools", "preview", "execute"].map(|name| (name, ComponentExportKind::Func, 0)));
    let mut exports = ComponentExportSection::new();
    exports.export("counterfoil:tool/tools@0.1.0", ComponentExportKind::Instance, 0, None);
    let mut component = Component::new();
    component.section(&ModuleSection(module)).section(&instances).section(&aliases).section(&types);
    component.section(&lifted).section(&made).section(&exports);
    component.finish()
}
