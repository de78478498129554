//! Small files that become large when they are put together or compiled: refused before either, by whatever loads a plug-in,
//! and what unfolds to less is not.

use super::made;
use crate::plugin::bench::{SANDBOX, options};
use crate::reload::{begun, hang_up, said};
use crate::startup::{Session, echo};
use counterfoil::plugin::Plugin;
use counterfoil_tests::fixture;
use counterfoil_tests::program::Folder;
use std::time::{Duration, Instant};
use wasm_encoder::{
    Alias, BlockType, CodeSection, Component, ComponentAliasSection, ComponentExportKind, ComponentImportSection,
    ComponentInstanceSection, ComponentOuterAliasKind, ComponentTypeRef, ComponentTypeSection, Function,
    FunctionSection, InstanceSection, InstanceType, Module, ModuleArg, ModuleSection, NestedComponentSection, RefType,
    TableSection, TableType, TypeBounds, TypeSection, ValType,
};

/// What is said of a component that could be a plug-in and exports nothing.
const NONE: &str = "does not export counterfoil:tool/tools";
/// Each takes seconds at least where it is put together, or ends the process. The usual machine needs a millisecond.
const SOON: Duration = Duration::from_secs(5);

fn instantiate(index: u32, times: u32) -> ComponentInstanceSection {
    let mut made = ComponentInstanceSection::new();
    for _ in 0..times {
        made.instantiate(index, Vec::<(&str, ComponentExportKind, u32)>::new());
    }
    made
}

/// Components of which each holds `each` instances of the one before, and one of the last.
pub fn levels(levels: u32, each: u32) -> Vec<u8> {
    let mut whole = Component::new();
    whole.section(&NestedComponentSection(&Component::new()));
    for index in 0..levels {
        let mut aliases = ComponentAliasSection::new();
        aliases.alias(Alias::Outer { kind: ComponentOuterAliasKind::Component, count: 1, index });
        let mut next = Component::new();
        next.section(&aliases).section(&instantiate(0, each));
        whole.section(&NestedComponentSection(&next));
    }
    whole.section(&instantiate(levels, 1));
    whole.finish()
}

/// Components that hold two copies of the one before and make nothing of them.
fn copies(levels: u32) -> Vec<u8> {
    let mut whole = Component::new();
    whole.section(&NestedComponentSection(&Component::new()));
    for index in 0..levels {
        let mut aliases = ComponentAliasSection::new();
        for _ in 0..2 {
            aliases.alias(Alias::Outer { kind: ComponentOuterAliasKind::Component, count: 1, index });
        }
        let mut next = Component::new();
        next.section(&aliases);
        whole.section(&NestedComponentSection(&next));
    }
    whole.finish()
}

/// Instances that hold the one before under two names.
fn bundles(levels: u32) -> Vec<u8> {
    let mut made = instantiate(0, 1);
    for index in 0..levels {
        made.export_items(["a", "b"].map(|name| (name, ComponentExportKind::Instance, index)));
    }
    let mut whole = Component::new();
    whole.section(&NestedComponentSection(&Component::new())).section(&made);
    whole.finish()
}

/// A component inside a component inside a component.
fn nested(levels: u32) -> Vec<u8> {
    let mut inner = Component::new();
    for _ in 1..levels {
        let mut outer = Component::new();
        outer.section(&NestedComponentSection(&inner));
        inner = outer;
    }
    inner.finish()
}

/// So many imports of an instance whose type has that of the one before under two names.
fn imports(levels: u32, count: u32) -> Vec<u8> {
    let mut types = ComponentTypeSection::new();
    let mut first = InstanceType::new();
    first.export("r", ComponentTypeRef::Type(TypeBounds::SubResource));
    types.instance(&first);
    for index in 0..levels {
        let mut next = InstanceType::new();
        next.alias(Alias::Outer { kind: ComponentOuterAliasKind::Type, count: 1, index });
        next.export("a", ComponentTypeRef::Instance(0)).export("b", ComponentTypeRef::Instance(0));
        types.instance(&next);
    }
    let mut imports = ComponentImportSection::new();
    for n in 0..count {
        imports.import(format!("x{n}").as_str(), ComponentTypeRef::Instance(levels));
    }
    let mut whole = Component::new();
    whole.section(&types).section(&imports);
    whole.finish()
}

/// Types inside types.
pub fn types(levels: u32) -> Vec<u8> {
    let mut inner = InstanceType::new();
    for _ in 1..levels {
        let mut outer = InstanceType::new();
        outer.ty().instance(&inner);
        inner = outer;
    }
    let mut all = ComponentTypeSection::new();
    all.instance(&inner);
    let mut whole = Component::new();
    whole.section(&all);
    whole.finish()
}

fn around(modules: &[Module]) -> Vec<u8> {
    let mut whole = Component::new();
    for module in modules {
        whole.section(&ModuleSection(module));
    }
    whole.finish()
}

/// One module of a function of so many results, and of one that has so many variables and calls it.
fn values(results: usize, locals: u32, calls: u32) -> Vec<u8> {
    let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
    types.ty().function([], vec![ValType::I64; results]);
    types.ty().function([], []);
    functions.function(0).function(1);
    let mut first = Function::new([]);
    first.instructions().unreachable().end();
    let mut second = Function::new([(locals, ValType::I64)]);
    for _ in 0..calls {
        second.instructions().block(BlockType::Empty).call(0).br(0).end();
    }
    second.instructions().end();
    code.function(&first).function(&second);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    around(&[module])
}

fn tables(count: u32) -> Vec<u8> {
    let (element_type, minimum) = (RefType::FUNCREF, 100_000);
    let mut tables = TableSection::new();
    for _ in 0..count {
        tables.table(TableType { element_type, table64: false, minimum, maximum: None, shared: false });
    }
    let mut module = Module::new();
    module.section(&tables);
    around(&[module])
}

/// So many instances of a module with so many imports.
fn imported(count: u32, instances: u32) -> Vec<u8> {
    let (mut types, mut imports, mut made) =
        (TypeSection::new(), wasm_encoder::ImportSection::new(), InstanceSection::new());
    types.ty().function([], []);
    for n in 0..count {
        imports.import("a", &format!("{n}"), wasm_encoder::EntityType::Function(0));
    }
    let mut module = Module::new();
    module.section(&types).section(&imports);
    for _ in 0..instances {
        made.instantiate(0, Vec::<(&str, ModuleArg)>::new());
    }
    let mut whole = Component::new();
    whole.section(&ModuleSection(&module)).section(&made);
    whole.finish()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_unfolds_to_too_much_is_not_compiled_and_what_unfolds_to_less_is() {
    let (instances, pieces) = ("more than 1000 instances", "more than 100000 pieces");
    let modules = |count| around(&vec![Module::new(); count]);
    for (component, says) in [
        (levels(40, 2), instances),
        (levels(200, 2), instances),
        (levels(2, 900), instances),
        (levels(6, 2), NONE),
        (copies(40), pieces),
        (copies(8), NONE),
        (bundles(60), pieces),
        (bundles(8), NONE),
        (nested(17), "16 deep"),
        (nested(16), NONE),
        (imports(18, 1), pieces),
        (imports(11, 100), pieces),
        (imports(4, 2), "imports x0, x1, which is not provided"),
        (types(100_000), "types inside types"),
        (types(50), NONE),
        (values(33, 0, 1), "more than 256 parameters or 32 results"),
        (values(32, 50_000, 10), NONE),
        (tables(65), "tables of more than 6400000 elements"),
        (modules(257), "more than 256 core modules"),
        (modules(30), NONE),
        (imported(5000, 500), pieces),
    ] {
        let (begun, length) = (Instant::now(), component.len());
        let error = Plugin::from_bytes(&SANDBOX, component, options("bad"), "bad.wasm").await.unwrap_err().to_string();
        assert!(error.contains(says), "{length} bytes: {error}");
        assert!(begun.elapsed() < SOON, "{length} bytes: {:?}: {error}", begun.elapsed());
    }
    let mut many = values(1, 50_000, 0);
    let one = many.split_off(8);
    let three = [many.as_slice(), &one, &one, &one].concat();
    let error = Plugin::from_bytes(&SANDBOX, three, options("bad"), "bad.wasm").await.unwrap_err().to_string();
    assert!(error.contains("more local variables than their code can use"), "{error}");
}

#[test]
fn no_verb_and_no_reload_puts_together_what_doubles() {
    let folder = Folder::new();
    std::fs::copy(fixture("echo"), folder.path("work/echo.wasm")).unwrap();
    folder.write("work/counterfoil.toml", "[plugins.echo]\nsource = \"echo.wasm\"\n");
    folder.lock();
    let mut session = begun(&folder);
    let mut messages = session.messages();
    std::fs::write(folder.path("work/echo.wasm"), made::component("doubling")).unwrap();
    let begun = Instant::now();
    let says = "consists of more than 1000 instances when it is put together";
    folder.run(&["plugin", "inspect", "echo.wasm"]).gave(2, &[says]);
    folder.run(&["plugin", "lock"]).gave(2, &[says]);
    hang_up(&session);
    said(&mut messages, "it is not the file that was locked");
    session.send(&echo(3));
    assert_eq!(session.answer(3)["result"]["isError"], false);
    session.end();

    std::fs::remove_file(folder.path("work/counterfoil.lock")).unwrap();
    let (code, _, told) = Session::start(&folder).ended();
    assert!(code == Some(2) && told.contains(says), "{code:?} {told}");
    assert!(begun.elapsed() < 4 * SOON, "{:?}", begun.elapsed());
}
