//! What may be granted, and that a call gets the directory that was granted and no other.

use super::bench::{SANDBOX, bench, call, check_refused, gate, load, options};
use counterfoil::audit::{Audit, AuditOptions, CheckpointCommand};
use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use counterfoil::{Error, ErrorKind, Host, Status};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

fn granted(name: &str, dir: &Path, access: Access) -> PluginOptions {
    let mut options = options(name);
    options.dirs.push(DirGrant { host: dir.into(), guest: "/data".into(), access });
    options
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    let error = result.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word:?} is missing in {error}");
    }
}

#[tokio::test]
async fn a_directory_that_was_replaced_is_not_followed() {
    let prowl = bench("prowl").await;
    prowl.put("old", "mine");
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("old"), "secret").unwrap();
    let (here, aside) = (prowl.data.path(), prowl.data.path().with_extension("aside"));

    std::fs::rename(here, &aside).unwrap();
    std::os::unix::fs::symlink(secret.path(), here).unwrap();
    for tool in ["mutate_safe", "mutate_caution", "mutate"] {
        let answer = prowl.call(tool, "{}").await;
        assert!(!answer.1.to_string().contains(&*here.to_string_lossy()), "{}", answer.1);
        check_refused(answer, Status::Rejected, "unavailable", "/data of plug-in prowl was moved or replaced");
    }
    assert_eq!(std::fs::read_to_string(secret.path().join("old")).unwrap(), "secret");

    // Neither is another directory, nor none; the granted one is, also by a link.
    std::fs::remove_file(here).unwrap();
    check_refused(prowl.call("mutate_safe", "{}").await, Status::Rejected, "unavailable", "/data");
    std::fs::create_dir(here).unwrap();
    check_refused(prowl.call("mutate_safe", "{}").await, Status::Rejected, "unavailable", "/data");
    std::fs::remove_dir(here).unwrap();
    std::os::unix::fs::symlink(&aside, here).unwrap();
    assert_eq!(prowl.call("mutate_safe", "{}").await.1["readable"], true);
    std::fs::remove_file(here).unwrap();
    std::fs::rename(&aside, here).unwrap();
    assert_eq!(prowl.call("mutate_safe", "{}").await.1["readable"], true);
}

#[tokio::test]
async fn a_call_is_refused_while_a_link_in_the_granted_path_leads_elsewhere() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    for folder in ["one", "two"] {
        std::fs::create_dir(at(folder)).unwrap();
        std::fs::write(at(folder).join("old"), folder).unwrap();
    }
    std::os::unix::fs::symlink(at("one"), at("current")).unwrap();
    let prowl = load("prowl", granted("prowl", &at("current"), Access::ReadWrite)).await.unwrap();
    let host = Host::builder(gate()).plugin(prowl).build().await.unwrap();
    assert_eq!(call(&host, "mutate_safe", "{}").await.1["readable"], true);
    std::fs::remove_file(at("current")).unwrap();
    std::os::unix::fs::symlink(at("two"), at("current")).unwrap();
    for tool in ["mutate_safe", "mutate_caution", "mutate"] {
        let answer = call(&host, tool, "{}").await;
        check_refused(answer, Status::Rejected, "unavailable", "/data of plug-in prowl was moved or replaced");
    }
    assert_eq!(std::fs::read_to_string(at("two/old")).unwrap(), "two");
    std::fs::remove_file(at("current")).unwrap();
    std::os::unix::fs::symlink(at("one"), at("current")).unwrap();
    assert_eq!(call(&host, "mutate_safe", "{}").await.1["readable"], true);
}

#[tokio::test]
async fn a_grant_inside_one_that_can_be_written_stops_the_start() {
    use Access::{ReadOnly, ReadWrite};
    let place = tempfile::tempdir().unwrap();
    let (outer, inner) = (place.path().join("outer"), place.path().join("outer/inner"));
    std::fs::create_dir_all(&inner).unwrap();
    let together = async |one: (&Path, Access), other: (&Path, Access)| {
        let one = load("prowl", granted("one", one.0, one.1)).await.unwrap();
        let other = load("echo", granted("other", other.0, other.1)).await.unwrap();
        Host::builder(gate()).plugin(one).plugin(other).build().await.map(drop)
    };
    for access in [ReadOnly, ReadWrite] {
        let words = ["\"other\"", "outer/inner for plug-in", "lies inside", "\"one\" may write"];
        refused(together((&outer, ReadWrite), (&inner, access)).await, &words);
        together((&outer, ReadOnly), (&inner, access)).await.unwrap();
        // Neither can replace the directory itself.
        together((&outer, ReadWrite), (&outer, access)).await.unwrap();
        together((&outer, ReadOnly), (&outer, access)).await.unwrap();
    }
}

#[tokio::test]
async fn a_grant_that_reaches_a_plug_in_file_or_compiled_code_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    for folder in ["plugs/deep", "cache", "data"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    let file = at("plugs/echo.wasm");
    std::fs::copy(counterfoil_tests::fixture("echo"), &file).unwrap();
    let load_own = |dir: &str| {
        let options = granted("echo", &at(dir), Access::ReadOnly);
        let file = file.clone();
        async move { Plugin::load(&SANDBOX, &file, options).await }
    };
    refused(load_own("plugs").await, &["\"echo\"", "a plug-in file", "echo.wasm"]);
    refused(load_own("").await, &["a plug-in file"]);
    load_own("plugs/deep").await.unwrap();
    let echo = load_own("data").await.unwrap();

    // The file of another, and the compiled code of all.
    let prowl = load("prowl", granted("prowl", &at("plugs"), Access::ReadOnly)).await.unwrap();
    let together = Host::builder(gate()).plugin(echo).plugin(prowl).build().await;
    refused(together.map(drop), &["\"prowl\"", "echo.wasm"]);
    refused(load("echo", granted("echo", &counterfoil_tests::code(), Access::ReadOnly)).await, &["compiled"]);
    let sandbox = Sandbox::new(SandboxOptions { cache: Some(at("cache/not/yet")) }).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let in_cache = granted("echo", &at("cache"), Access::ReadWrite);
    refused(Plugin::from_bytes(&sandbox, bytes, in_cache, "echo").await, &["compiled"]);
}

#[tokio::test]
async fn a_grant_that_reaches_the_audit_its_checkpoints_or_their_command_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    for folder in ["app/data", "outside", "tools"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    let program = at("tools/keep");
    std::fs::copy("/bin/true", &program).unwrap();
    let build = |dir: &str, access| {
        let mut options = AuditOptions::new(at("app/audit"), at("outside/heads"));
        options.command = Some(CheckpointCommand { program: program.clone(), arguments: Vec::new() });
        let (audit, dir) = (Audit::open(options).unwrap(), at(dir));
        // It is made with the first row; a grant can only be of what is there.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(at("app/audit")).unwrap();
        async move {
            let prowl = load("prowl", granted("prowl", &dir, access)).await.unwrap();
            Host::builder(gate()).audit(audit).plugin(prowl).build().await.map(drop)
        }
    };
    for access in [Access::ReadOnly, Access::ReadWrite] {
        refused(build("app", access).await, &["\"prowl\"", "the audit ("]);
        refused(build("app/audit", access).await, &["the audit ("]);
        refused(build("outside", access).await, &["the checkpoints of the audit"]);
        build("app/data", access).await.unwrap();
    }
    refused(build("tools", Access::ReadWrite).await, &["the command that keeps checkpoints"]);
    build("tools", Access::ReadOnly).await.unwrap();
}
