//! A client's own file: which ones are refused and left, and what of them is kept.

use super::*;

#[test]
fn a_damaged_file_is_refused_with_its_place_and_left() {
    for (text, words) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", &["mcp.json:2:9:", "left as it is"][..]),
        ("{\"mcpServers\": []}", &["mcp.json:1:16:", "object"]),
        ("{\"\u{1b}[2J\": }", &["mcp.json:1:"]),
    ] {
        let folder = with_cursor(text);
        refuses(&folder, 2, words);
        folder.run(&["install"]).gave(0, &["cursor"]);
    }
    let folder = with_cursor("");
    std::fs::write(folder.path(CURSOR), b"{}\n\xff").unwrap();
    refuses(&folder, 2, &["not UTF-8 in line 2"]);
    std::fs::create_dir(folder.path("home/.codex")).unwrap();
    folder.write("home/.codex/config.toml", "a = 1\na = 2\n");
    folder.run(&["install", "--client", "codex", "--yes"]).gave(2, &["config.toml:2:1:", "duplicate"]);
}

#[test]
fn a_file_that_others_can_write_is_refused_and_a_group_is_pointed_out() {
    let folder = with_cursor("{}");
    mode(folder.path(CURSOR), 0o646);
    refuses(&folder, 2, &["everybody", "chmod go-w"]);
    mode(folder.path(CURSOR), 0o600);
    mode(folder.path("home/.cursor"), 0o777);
    refuses(&folder, 2, &["everybody can replace it", "chmod go-w"]);
    mode(folder.path("home/.cursor"), 0o755);
    mode(folder.path(CURSOR), 0o664);
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(0, &["wrote", "written by its group"]);
    assert_eq!(folder.path(CURSOR).metadata().unwrap().mode() & 0o777, 0o664);
}

#[test]
fn mode_link_and_mark_are_kept() {
    let folder = with_cursor("");
    std::fs::create_dir(folder.path("home/dotfiles")).unwrap();
    folder.write("home/dotfiles/mcp.json", "\u{feff}{\r\n}\r\n");
    mode(folder.path("home/dotfiles/mcp.json"), 0o640);
    std::fs::remove_file(folder.path(CURSOR)).unwrap();
    symlink("../dotfiles/mcp.json", folder.path(CURSOR)).unwrap();
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(0, &["wrote"]);
    assert!(folder.path(CURSOR).symlink_metadata().unwrap().is_symlink());
    let real = folder.path("home/dotfiles/mcp.json");
    assert_eq!(real.metadata().unwrap().mode() & 0o777, 0o640);
    let text = read(real);
    assert!(text.starts_with("\u{feff}{\r\n") && text.contains("counterfoil.toml"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    let backup = folder.path("home/dotfiles/mcp.json.counterfoil-backup-1");
    assert_eq!(backup.metadata().unwrap().mode() & 0o777, 0o640);
    assert_eq!(read(backup), "\u{feff}{\r\n}\r\n");

    let ran = folder.run(&["install", "--client", "cursor", "--remove", "--dry-run"]);
    assert!(ran.code == 0 && !ran.err.contains("another name"), "{ran:?}");
    std::fs::hard_link(folder.path("home/dotfiles/mcp.json"), folder.path("home/dotfiles/other")).unwrap();
    let ran = folder.run(&["install", "--client", "cursor", "--remove", "--dry-run"]);
    ran.gave(0, &["another name"]);

    std::fs::remove_file(folder.path("home/dotfiles/mcp.json")).unwrap();
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(2, &["leads nowhere"]);
    assert!(!folder.path("home/dotfiles/mcp.json").exists());
}

#[test]
fn an_entry_that_somebody_else_put_there_is_replaced_whole_and_what_is_kept_is_shown() {
    let evil = json!({"command": "/bin/sh", "args": ["-c", "evil"], "env": {"LD_PRELOAD": "/evil.so"}, "cwd": "/evil",
        "envFile": "/evil.env", "timeout": "evil"});
    let folder = with_cursor(&json!({"mcpServers": {"counterfoil": evil}}).to_string());
    let install = ["install", "--client", "cursor", "--yes"];
    let ran = folder.run(&install);
    ran.gave(0, &["wrote"]);
    assert!(!read(folder.path(CURSOR)).contains("evil") && !ran.err.contains("decides what runs"), "{ran:?}");

    // One that starts this program keeps what its user added, and is shown with it.
    let mut written: Value = serde_json::from_str(&read(folder.path(CURSOR))).unwrap();
    let entry = written["mcpServers"]["counterfoil"].as_object_mut().unwrap();
    entry.insert("env".to_owned(), json!({"LD_PRELOAD": "/nowhere.so"}));
    entry.insert("cwd".to_owned(), json!("/"));
    entry.insert("timeout".to_owned(), json!(5));
    let warned = ["The whole entry", "LD_PRELOAD", "/nowhere.so", "cwd \"/\"", "decides what runs"];
    folder.write(CURSOR, &written.to_string());
    folder.run(&install).gave(0, &[&["nothing to change"][..], &warned].concat());
    folder.write(CURSOR, &written.to_string().replace("\"serve\",", ""));
    folder.run(&install).gave(0, &[&["wrote", "timeout"][..], &warned].concat());
    assert!(read(folder.path(CURSOR)).contains("/nowhere.so"));
}

#[test]
fn a_project_reaches_nothing_outside_of_it() {
    let folder = Folder::ready();
    let project = ["install", "--client", "cursor", "--project", "--yes"];
    std::fs::create_dir(folder.path("home/.ssh")).unwrap();
    symlink("../home/.ssh", folder.path("work/.cursor")).unwrap();
    folder.run(&project).gave(2, &["leads to", "home/.ssh/mcp.json, outside the project"]);
    assert!(std::fs::read_dir(folder.path("home/.ssh")).unwrap().next().is_none());
    folder.write("home/settings.json", "{}");
    symlink("../home/settings.json", folder.path("work/.mcp.json")).unwrap();
    let code = ["install", "--client", "claude-code", "--project", "--yes"];
    folder.run(&code).gave(2, &["leads to", "home/settings.json, outside the project"]);
    assert_eq!(read(folder.path("home/settings.json")), "{}");

    // A link within the project is followed, and the file that changes is named.
    std::fs::remove_file(folder.path("work/.cursor")).unwrap();
    std::fs::create_dir(folder.path("work/settings")).unwrap();
    symlink("settings", folder.path("work/.cursor")).unwrap();
    folder.run(&project).gave(0, &["wrote", "links lead to another file", "work/settings/mcp.json"]);
    assert!(read(folder.path("work/settings/mcp.json")).contains("counterfoil.toml"));

    // Only root can give a folder away.
    if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        std::os::unix::fs::lchown(folder.path("work/settings"), Some(65534), None).unwrap();
        folder
            .run(&["install", "--client", "cursor", "--project", "--remove", "--yes"])
            .gave(2, &["work/.cursor belongs to another user, who can replace it"]);
    }
}

#[test]
fn a_project_and_any_other_file_can_be_named() {
    let folder = Folder::ready();
    folder.run(&["install", "--client", "vscode", "--project", "--yes"]).gave(0, &["wrote"]);
    let written: Value = serde_json::from_str(&read(folder.path("work/.vscode/mcp.json"))).unwrap();
    assert_eq!(written["servers"]["counterfoil"]["type"], "stdio");
    folder.run(&["install", "--client", "zed", "--project", "--yes"]).gave(2, &["no file for a project", "vscode"]);
    let elsewhere = ["install", "--client", "claude-desktop", "--file", "my.json", "--name", "tools_2", "--yes"];
    folder.run(&elsewhere).gave(0, &["wrote"]);
    assert!(read(folder.path("work/my.json")).contains("\"tools_2\""));
    for wrong in [
        &["install", "--client", "emacs"][..],
        &["install", "--client", "zed", "--name", "a b"],
        &["install", "--client", "zed", "--print", "--yes"],
        &["install", "--yes"],
    ] {
        folder.run(wrong).gave(2, &[]);
    }
}
