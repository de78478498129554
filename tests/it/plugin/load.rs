//! What is loaded, and what is not.

use super::bench::{SANDBOX, load, options, short};
use counterfoil::plugin::{Plugin, PluginOptions};
use counterfoil::{ErrorKind, Level};
use counterfoil_tests::fixture;
use sha2::{Digest as _, Sha256};
use wasm_encoder::{
    Alias, CanonicalFunctionSection, CodeSection, Component, ComponentAliasSection, ComponentBuilder,
    ComponentExportKind, ComponentExportSection, ComponentInstanceSection, ComponentTypeRef, ComponentTypeSection,
    ComponentValType, ExportKind, ExportSection, Function, FunctionSection, InstanceSection, InstanceType, Module,
    ModuleArg, ModuleSection, TypeSection, ValType,
};

const TOOLS: &str = "counterfoil:tool/tools@0.1.0";

async fn bytes(bytes: Vec<u8>) -> Result<Plugin, counterfoil::Error> {
    Plugin::from_bytes(&SANDBOX, bytes, options("bad"), "bad.wasm").await
}

#[track_caller]
fn check(result: Result<Plugin, counterfoil::Error>, kind: ErrorKind, with: &str) {
    let error = result.expect_err("refused");
    assert!(error.to_string().contains(with), "{error}");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
}

#[tokio::test]
async fn a_plug_in_tells_what_it_is() {
    let echo = load("echo", options("e")).await.unwrap();
    assert_eq!(echo.name(), "e");
    let digest = Sha256::digest(std::fs::read(fixture("echo")).unwrap());
    assert_eq!(echo.digest(), digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    assert_eq!(echo.exports(), [TOOLS]);
    assert!(echo.imports().iter().any(|name| name.starts_with("wasi:cli/environment@")), "{:?}", echo.imports());
    let [tool] = echo.tools() else { panic!("{:?}", echo.tools()) };
    assert_eq!((tool.name.as_str(), tool.level, tool.title.as_deref()), ("echo", Level::Safe, Some("Echo")));
}

#[tokio::test]
async fn what_is_no_plug_in_is_refused_with_what_it_is() {
    let good = std::fs::read(fixture("echo")).unwrap();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"".into(), "is empty"),
        (b"hello".into(), "is not WebAssembly"),
        (b"MZ\0\0".into(), "is not WebAssembly"),
        (b"(component)".into(), "is WebAssembly text"),
        (b"\0asm\x01".into(), "is cut short"),
        (b"\0asm\x01\0\0\0".into(), "is a core module"),
        (b"\0asm\x09\0\x01\0".into(), "is damaged"),
        (b"\0asm\x09\0\x09\0".into(), "version"),
        (good[..good.len() / 2].into(), "is damaged"),
        (b"\0asm\x0d\0\x01\0".into(), "does not export counterfoil:tool/tools@0.1.0"),
        (good.iter().map(|byte| byte ^ (byte & 1)).collect(), "WebAssembly"),
    ];
    for (file, with) in cases {
        check(bytes(file).await, ErrorKind::Plugin, with);
    }
}

#[tokio::test]
async fn what_is_no_file_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let load = async |path: &str| Plugin::load(&SANDBOX, &place.path().join(path), options("x")).await;
    check(load("missing.wasm").await, ErrorKind::Plugin, "cannot be read");
    check(load(".").await, ErrorKind::Plugin, "is not a file");
    let made = std::process::Command::new("mkfifo").arg(place.path().join("pipe")).status().unwrap();
    assert!(made.success());
    check(load("pipe").await, ErrorKind::Plugin, "is not a file");
}

#[tokio::test]
async fn imports_that_are_not_provided_are_named() {
    let mut component = ComponentBuilder::default();
    let nothing = component.type_instance(None, &InstanceType::new());
    for name in ["wasi:keyvalue/store@0.2.0", "example:key/value@1.0.0", "wasi:random/random@0.2.6"] {
        component.import(name, ComponentTypeRef::Instance(nothing));
    }
    let error = bytes(component.finish()).await.unwrap_err().to_string();
    assert!(error.contains("wasi:keyvalue/store@0.2.0, example:key/value@1.0.0, which"), "{error}");
    assert!(!error.contains("wasi:random"), "{error}");
}

/// A component that exports, under a name, an instance of functions without parameters and results; and one of these
/// functions by itself, if asked.
fn exporting(name: &str, functions: &[&str], extra: bool) -> Vec<u8> {
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([], Vec::<ValType>::new());
    let mut body = Function::new([]);
    body.instructions().end();
    let (mut declared, mut exports, mut code) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    declared.function(0);
    exports.export("f", ExportKind::Func, 0);
    code.function(&body);
    module.section(&types).section(&declared).section(&exports).section(&code);

    let mut instances = InstanceSection::new();
    instances.instantiate(0, Vec::<(&str, ModuleArg)>::new());
    let mut aliases = ComponentAliasSection::new();
    aliases.alias(Alias::CoreInstanceExport { instance: 0, kind: ExportKind::Func, name: "f" });
    let mut types = ComponentTypeSection::new();
    types.function().async_(false).params(Vec::<(&str, ComponentValType)>::new()).result(None);
    let mut lifted = CanonicalFunctionSection::new();
    lifted.lift(0, 0, []);
    let mut made = ComponentInstanceSection::new();
    made.export_items(functions.iter().map(|name| (*name, ComponentExportKind::Func, 0)));
    let mut exported = ComponentExportSection::new();
    exported.export(name, ComponentExportKind::Instance, 0, None);
    if extra {
        exported.export("init", ComponentExportKind::Func, 0, None);
    }
    let mut component = Component::new();
    component.section(&ModuleSection(&module)).section(&instances).section(&aliases).section(&types);
    component.section(&lifted).section(&made).section(&exported);
    component.finish()
}

#[tokio::test]
async fn exports_that_do_not_fit_are_told() {
    let all = ["list-tools", "preview", "execute"];
    let other = exporting("counterfoil:tool/tools@0.2.0", &all, false);
    check(bytes(other).await, ErrorKind::Plugin, "exports counterfoil:tool/tools@0.2.0; this program needs");
    let fewer = exporting(TOOLS, &all[..2], false);
    check(bytes(fewer).await, ErrorKind::Plugin, "execute");
    let wrong = exporting(TOOLS, &all, false);
    check(bytes(wrong).await, ErrorKind::Plugin, "of other types");
    // What is exported besides is not looked at: the fault stays the same.
    let extra = exporting(TOOLS, &all, true);
    check(bytes(extra).await, ErrorKind::Plugin, "of other types");
}

/// The fixture `declare` with other tools: `name|level|input schema|output schema` a line.
fn declaring(text: &str) -> Vec<u8> {
    const ROOM: usize = 2048;
    let mut component = std::fs::read(fixture("declare")).unwrap();
    let start = component.windows(10).position(|window| window == b"fine|safe|").unwrap();
    let mut padded = text.as_bytes().to_vec();
    assert!(padded.len() <= ROOM);
    padded.resize(ROOM, b'@');
    component[start..start + ROOM].copy_from_slice(&padded);
    component
}

#[tokio::test]
async fn declarations_that_break_a_rule_are_refused() {
    const OBJECT: &str = r#"{"type":"object"}"#;
    let fine = format!("a|safe|{OBJECT}|-\nb-2_B|danger|{OBJECT}|{OBJECT}\n");
    let plugin = bytes(declaring(&fine)).await.unwrap();
    assert_eq!(plugin.tools().len(), 2);
    assert_eq!(plugin.tools()[1].level, Level::ApprovalRequired);

    let long = "x".repeat(65);
    let cases = [
        (String::new(), "lists 0 tools"),
        (format!("a|safe|{OBJECT}|-\na|safe|{OBJECT}|-\n"), "\"a\" twice"),
        (format!("bad name|safe|{OBJECT}|-\n"), "use 1 to 64 of"),
        (format!("é|safe|{OBJECT}|-\n"), "use 1 to 64 of"),
        (format!("|safe|{OBJECT}|-\n"), "use 1 to 64 of"),
        (format!("{long}|safe|{OBJECT}|-\n"), "use 1 to 64 of"),
        ("a|safe|nonsense|-\n".into(), "input schema"),
        ("a|safe|{\"type\":\"object\",\"type\":\"object\"}|-\n".into(), "twice"),
        ("a|safe|{\"type\":\"string\"}|-\n".into(), "top level"),
        (
            "a|safe|{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"https://example.com/x\"}}}|-\n".into(),
            "not local",
        ),
        ("a|safe|{\"type\":\"object\",\"allOf\":[{\"$ref\":\"#\"}]}|-\n".into(), "back to itself"),
        (format!("a|safe|{OBJECT}|[]\n"), "output schema"),
    ];
    for (declared, with) in cases {
        check(bytes(declaring(&declared)).await, ErrorKind::Plugin, with);
    }
}

#[tokio::test]
async fn a_list_that_never_ends_is_given_up() {
    let mut options = options("loop");
    options.limits = short().limits;
    let start = std::time::Instant::now();
    check(load("loop-list", options).await, ErrorKind::Plugin, "did not list its tools within");
    assert!(start.elapsed().as_secs() < 5);
}

#[tokio::test]
async fn tools_are_switched_and_renamed_by_their_own_names() {
    let with = |tools: Option<&[&str]>, rename: &[(&str, &str)]| {
        let mut options = PluginOptions::new("c");
        options.tools = tools.map(|tools| tools.iter().map(|name| (*name).to_owned()).collect());
        options.rename = rename.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        load("counter", options)
    };
    let counter = with(Some(&["increment", "read"]), &[("read", "peek")]).await.unwrap();
    let names: Vec<&str> = counter.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["increment", "peek"]);
    assert_eq!((counter.listed("read"), counter.listed("fail"), counter.listed("peek")), (Some("peek"), None, None));
    assert!(counter.preview("peek", "{}", None).await.is_ok());
    assert_eq!(counter.preview("read", "{}", None).await, Err(counterfoil::tool::ToolError::UnknownTool));

    check(with(Some(&["nothing"]), &[]).await, ErrorKind::Config, "no tool \"nothing\"");
    check(with(None, &[("nothing", "x")]).await, ErrorKind::Config, "no tool \"nothing\"");
    check(with(Some(&["read"]), &[("fail", "x")]).await, ErrorKind::Config, "switched off");
    check(with(None, &[("fail", "read")]).await, ErrorKind::Config, "would be named \"read\"");
    check(with(None, &[("fail", "no good")]).await, ErrorKind::Config, "cannot be renamed");
}

#[tokio::test]
async fn what_was_read_is_what_runs() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("plugin.wasm");
    std::fs::copy(fixture("echo"), &path).unwrap();
    let echo = Plugin::load(&SANDBOX, &path, options("e")).await.unwrap();
    std::fs::copy(fixture("counter"), &path).unwrap();
    assert!(echo.preview("echo", "{}", None).await.unwrap().summary.contains("would echo"));
}
