//! Who else could put another directory in the place of a granted one: told where it is granted, and where it is used.

use counterfoil::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use counterfoil_tests::program::Folder;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::path::PathBuf;

/// Any user but the one that runs the tests.
const ANOTHER: u32 = 65534;

const LIST: [&str; 3] = ["call", "list_files", r#"{"path": "/files"}"#];

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// One that is ready, and grants `open/work`, whose ways are these tests'.
struct Desk(Folder);

impl Desk {
    fn new() -> Self {
        let folder = Folder::ready();
        fs::create_dir_all(folder.path("open/work")).unwrap();
        let desk = Self(folder);
        desk.grants("../open/work");
        desk
    }

    fn grants(&self, host: &str) {
        let dirs = format!("dirs = [{{ host = \"{host}\", guest = \"/files\", access = \"read-write\" }}]");
        self.0.write("work/counterfoil.toml", &format!("[plugins.files]\nsource = \"files.wasm\"\n{dirs}\n"));
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path(path)
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn accepted(&self) {
        self.0.run(&LIST).gave(0, &[]);
    }

    #[track_caller]
    fn refused(&self, words: &[&str]) {
        for verb in [&LIST[..], &["config", "check"], &["serve"], &["doctor"]] {
            let ran = self.0.run(verb);
            ran.gave(2, words);
            ran.gave(2, &["counterfoil.toml:3:", "dirs = "]);
        }
    }
}

#[test]
fn a_folder_on_the_way_to_a_granted_directory_is_not_everybodys() {
    let desk = Desk::new();
    desk.accepted();
    desk.mode("open", 0o777);
    desk.refused(&["everybody can replace it", "chmod go-w"]);
    // What everybody can write has the sticky bit, as the folder for temporary files.
    desk.mode("open", 0o1777);
    desk.accepted();
    desk.mode("open", 0o755);
    // The directory itself may be shared on purpose.
    desk.mode("open/work", 0o777);
    desk.accepted();
    // Further up.
    fs::create_dir(desk.path("open/work/deep")).unwrap();
    desk.grants("../open/work/deep");
    desk.refused(&["everybody can replace it"]);
    desk.mode("open/work", 0o755);
    desk.accepted();
    desk.mode("open", 0o757);
    desk.refused(&["everybody can replace it", "chmod o-w"]);
}

#[test]
fn every_link_on_the_way_to_a_granted_directory_is_followed() {
    let desk = Desk::new();
    fs::create_dir(desk.path("ways")).unwrap();
    symlink("../open/work", desk.path("ways/here")).unwrap();
    desk.grants("../ways/here");
    desk.accepted();
    desk.mode("ways", 0o777);
    desk.refused(&["everybody can replace it", "ways"]);
    desk.mode("ways", 0o755);
    desk.mode("open", 0o777);
    desk.refused(&["everybody can replace it", "open"]);
    desk.mode("open", 0o755);
    desk.accepted();
}

#[test]
fn where_a_granted_directory_really_is_is_shown() {
    let desk = Desk::new();
    let leads_to = || desk.0.run(&["config", "check", "--json"]).json()["grants"][0]["leads_to"].clone();
    assert!(leads_to().is_null());
    for verb in [&["config", "check"][..], &["doctor"]] {
        assert!(!desk.0.run(verb).out.contains("->"));
    }
    symlink("../open", desk.path("work/way")).unwrap();
    desk.grants("way/work");
    let real = desk.path("open/work").canonicalize().unwrap();
    assert_eq!(leads_to(), real.to_str().unwrap());
    fs::remove_file(desk.path("work/counterfoil.lock")).unwrap();
    let shown = format!("work/way/work -> {}", real.display());
    for (verb, code) in [(&["config", "check"][..], 0), (&["doctor"], 0), (&["plugin", "lock", "--check"], 2)] {
        desk.0.run(verb).gave(code, &[&shown]);
    }
}

/// Only root can give something away; whoever else runs the tests has the rows without an owner above.
#[test]
fn what_somebody_else_can_rename_on_the_way_is_refused() {
    let desk = Desk::new();
    if !is_root() {
        return desk.accepted();
    }
    let give = |path: &str, to: u32| lchown(desk.path(path), Some(to), None).unwrap();
    give("open", ANOTHER);
    desk.refused(&["open belongs to another user, who can replace it"]);
    give("open", 0);
    // It belongs to somebody else in a folder that is ours: shared on purpose.
    give("open/work", ANOTHER);
    desk.accepted();
    // In one that everybody can write the sticky bit lets its owner rename it.
    desk.mode("open", 0o1777);
    desk.refused(&["open/work belongs to another user, who can replace it"]);
    give("open/work", 0);
    desk.accepted();
    // A link of somebody else's there, which leads to a folder that is closed to them.
    fs::create_dir(desk.path("private")).unwrap();
    fs::rename(desk.path("open/work"), desk.path("open/old")).unwrap();
    symlink(desk.path("private"), desk.path("open/work")).unwrap();
    give("open/work", ANOTHER);
    desk.refused(&["the link", "belongs to another user"]);
}

#[tokio::test]
async fn the_library_refuses_it_where_the_plug_in_is_loaded() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("open/work")).unwrap();
    let sandbox = Sandbox::new(SandboxOptions { cache: None }).unwrap();
    let load = async || {
        let mut options = PluginOptions::new("files");
        options.dirs.push(DirGrant { host: at("open/work"), guest: "/files".into(), access: Access::ReadOnly });
        Plugin::load(&sandbox, &counterfoil_tests::component("files"), options).await
    };
    assert!(load().await.is_ok());
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let said = load().await.expect_err("refused");
    assert_eq!(said.kind(), counterfoil::ErrorKind::Config);
    assert!(said.to_string().contains("everybody can replace it"), "{said}");
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(load().await.is_ok());
}
