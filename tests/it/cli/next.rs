//! What the program prints for a person to type next, typed.

use counterfoil_tests::program::{Folder, Ran, program};
use std::process::Command;

/// A line that was printed, as a shell runs it where it was printed.
#[track_caller]
fn typed(folder: &Folder, line: &str) -> Ran {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(folder.path("work")).env_clear().stdin(std::process::Stdio::null());
    shell.envs(folder.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(&shell.output().unwrap())
}

/// The command at the end of the note that has these words.
#[track_caller]
fn noted<'r>(ran: &'r Ran, words: &str) -> &'r str {
    let note = ran.err.lines().find(|line| line.starts_with("note: ") && line.contains(words));
    note.and_then(|note| note.split_once(": ")?.1.split_once(": ")).unwrap_or_else(|| panic!("{words}: {ran:?}")).1
}

/// The line that confirms.
#[track_caller]
fn confirming(ran: &Ran) -> &str {
    ran.gave(3, &["confirmation required", "Nothing has been changed", "To do exactly this, once"]);
    ran.out.lines().find(|line| line.contains(" --confirm cfm_")).unwrap_or_else(|| panic!("{ran:?}")).trim()
}

#[test]
fn the_printed_command_confirms() {
    let folder = Folder::ready();
    std::fs::copy(folder.path("work/counterfoil.toml"), folder.path("work/my own.toml")).unwrap();
    std::fs::copy(folder.path("work/counterfoil.lock"), folder.path("work/my own.lock")).unwrap();
    let file = folder.path("work/workspace/it's.txt");
    let call = ["call", "delete_file", r#"{"path": "it's.txt"}"#];
    let mut stories: Vec<Vec<&str>> = vec![call.to_vec()];
    stories.push([&call[..], &["--owner", "my agent"]].concat());
    stories.push([&call[..], &["--owner=-x"]].concat());
    stories.push([&["--config", "./my own.toml"], &call[..]].concat());
    for words in stories {
        folder.write("work/workspace/it's.txt", "precious");
        let ran = folder.run(&words);
        assert!(ran.out.contains("8 bytes") && !ran.out.contains('\u{1b}'), "colours without a terminal: {ran:?}");
        assert!(file.exists());
        typed(&folder, confirming(&ran)).gave(0, &["it's.txt"]);
        assert!(!file.exists(), "{words:?}");
    }
}

#[test]
fn the_program_is_named_as_the_shell_finds_it() {
    let folder = Folder::ready();
    folder.write("work/workspace/a.txt", "precious");
    let call = ["call", "delete_file", r#"{"path":"a.txt"}"#];
    let program = program();
    let found = folder.command(&call).env("PATH", program.parent().unwrap()).output().unwrap();
    assert!(confirming(&Ran::of(&found)).starts_with("counterfoil call delete_file"));
    let path = format!("{} call delete_file", program.display());
    assert!(confirming(&folder.run(&call)).starts_with(&path));
}

#[test]
fn arguments_from_standard_input_are_printed_so_that_the_command_can_be_copied() {
    let folder = Folder::ready();
    folder.write("work/workspace/it's.txt", "precious");
    let ran = folder.run_with_input(&["call", "delete_file", "-"], "{\n  \"path\": \"it's.txt\"\n}\n");
    typed(&folder, confirming(&ran)).gave(0, &[]);
    assert!(!folder.path("work/workspace/it's.txt").exists());
}

#[test]
fn a_password_is_printed_nowhere() {
    let folder = Folder::new();
    folder.run(&["config", "init", "--plugin", "offers"]).gave(0, &[]);
    let arguments = r#"{"name":"Main","host":"smtp.example.com","port":587,"encryption":"starttls","username":"desk","password":"S3cret-of-the-desk"}"#;
    for ran in [
        folder.run(&["call", "create_email_smtp_server", arguments]),
        folder.run_with_input(&["call", "create_email_smtp_server", "-"], arguments),
    ] {
        ran.gave(3, &["'…the same JSON…' --confirm cfm_", "give the same ones again"]);
        assert!(!format!("{ran:?}").contains("S3cret"), "{ran:?}");
    }
    let tested = folder.run(&["policy", "test", "create_email_smtp_server", arguments]);
    tested.gave(3, &["call create_email_smtp_server '…the same JSON…'"]);
    assert!(!format!("{tested:?}").contains("S3cret"), "{tested:?}");
    for verb in [&["call"][..], &["policy", "test"]] {
        let slip = folder.run(&[verb, &["create_email_smtp_server", "password=S3cret-of-the-desk"]].concat());
        slip.gave(4, &[r#""host":"…""#, r#""password":"…""#]);
        assert!(!format!("{slip:?}").contains("S3cret"), "{slip:?}");
    }
}

#[test]
fn arguments_that_are_no_json_object_get_the_command_with_one() {
    let folder = Folder::ready();
    for (tool, slip, object, code) in [
        ("list_files", "path=.", r#"'{"path":"."}'"#, 0),
        ("delete_file", "it's.txt", r#"'{"path":"it'\''s.txt"}'"#, 3),
        ("delete_file", "[1]", r#"'{"path":"…"}'"#, 4),
        ("delete_file", "{}", r#"'{"path":"…"}'"#, 4),
        ("write_file", "it's.txt", r#"'{"path":"it'\''s.txt","content":"…"}'"#, 3),
    ] {
        folder.write("work/workspace/it's.txt", "precious");
        for verb in ["call", "policy test"] {
            let words: Vec<&str> = verb.split(' ').chain([tool, slip]).collect();
            let ran = folder.run(&words);
            ran.gave(4, &["invalid_arguments"]);
            let said = noted(&ran, "arguments are one JSON object");
            assert_eq!(said, format!("{} {verb} {tool} {object}", program().display()), "{words:?}");
            assert_eq!(ran.err.contains("here with … for what is yours to write"), said.contains('…'), "{ran:?}");
            // A rule is asked before a tool looks whether the file is there.
            let refused = verb == "policy test" && said.contains("delete_file");
            assert_eq!(typed(&folder, said).code, if refused { 3 } else { code }, "{said}");
        }
    }
    // Of what begins as an object the answer says what is wrong.
    for (tool, sent) in [("delete_file", "{"), ("delete_file", r#"{"pfad":"a"}"#), ("no_such_tool", "b")] {
        let ran = folder.run(&["call", tool, sent]);
        assert!(ran.code == 4 && !ran.err.contains("one JSON object"), "{ran:?}");
    }
}

#[test]
fn a_tried_call_is_followed_by_the_command_that_makes_it() {
    let folder = Folder::ready();
    folder.write("work/workspace/it's.txt", "precious");
    let test = |tool: &str, arguments: &str| folder.run(&["policy", "test", tool, arguments, "--owner", "my agent"]);
    let read = test("read_file", r#"{"path":"it's.txt"}"#);
    typed(&folder, noted(&read, "nothing ran; this runs it")).gave(0, &["precious"]);
    let write = test("write_file", r#"{"path":"b.txt","content":"x"}"#);
    assert!(!folder.path("work/workspace/b.txt").exists());
    typed(&folder, noted(&write, "runs it at once where it is milder")).gave(0, &["b.txt"]);
    assert!(folder.path("work/workspace/b.txt").exists());
    let delete = test("delete_file", r#"{"path":"it's.txt"}"#);
    let previewed = typed(&folder, noted(&delete, "shows its plan and gives a token, and changes nothing"));
    assert!(folder.path("work/workspace/it's.txt").exists());
    typed(&folder, confirming(&previewed)).gave(0, &[]);
    assert!(!folder.path("work/workspace/it's.txt").exists());

    // What is denied says why, and a program is told nothing beside.
    let config = std::fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let deny = "[[rules]]\ntool = \"read_file\"\nwhen = \"true\"\ndeny = true\nreason = \"not now\"\n";
    folder.write("work/counterfoil.toml", &format!("{config}\n{deny}"));
    for ran in [
        test("read_file", r#"{"path":"a"}"#),
        folder.run(&["policy", "test", "delete_file", r#"{"path":"b.txt"}"#, "--json"]),
        folder.run(&["policy", "test", "delete_file", "b.txt", "--json"]),
    ] {
        let beside = ran.err.lines().find(|line| !line.starts_with("note: the configuration is "));
        assert_eq!(beside, None, "{ran:?}");
    }
}
