//! A password goes in and never comes out.

use super::desk::Desk;
use counterfoil::Status;
use serde_json::json;

const PASSWORD: &str = "hunter2-very-secret";

fn arguments(name: &str, password: &str) -> String {
    let arguments = json!({
        "name": name, "host": "smtp.example.com", "port": 587, "encryption": "none", "username": "desk", "password": password,
    });
    arguments.to_string()
}

#[tokio::test]
async fn it_is_in_no_answer_and_nowhere_in_the_data() {
    let desk = Desk::new().await;
    let tool = "create_email_smtp_server";
    let preview = desk.preview(tool, &arguments("Main", PASSWORD)).await;
    assert_eq!(
        preview.says("summary"),
        "Will create SMTP server 'Main' at smtp.example.com:587 (none) for user 'desk'; its password is given and not shown."
    );
    assert!(preview.json["warnings"][0].as_str().unwrap().contains("not encrypted"), "{}", preview.text);
    let stale = desk.preview(tool, &arguments("Second", PASSWORD)).await;
    let done = desk.confirm(tool, &arguments("Main", PASSWORD), &preview).await;
    assert_eq!(done.status, Status::Ok, "{}", done.text);
    let replayed = desk.confirm(tool, &arguments("Main", PASSWORD), &preview).await;
    let changed = desk.confirm(tool, &arguments("Second", &format!("{PASSWORD}!")), &stale).await;
    assert_eq!(changed.json["reason"], "params_changed");
    let mut answers = vec![preview, stale, done, replayed, changed];
    for wrong in [
        arguments("main", PASSWORD),
        arguments(PASSWORD, PASSWORD),
        arguments(&format!("x{PASSWORD}x"), PASSWORD),
        arguments("Third", PASSWORD).replace("587", "0"),
        arguments("Third", PASSWORD).replace(&format!("\"{PASSWORD}\""), &format!("[\"{PASSWORD}\"]")),
        arguments("Third", PASSWORD).replace("\"password\"", "\"Password\""),
        arguments("Third", &PASSWORD.repeat(20)),
    ] {
        let answer = desk.call(tool, &wrong).await;
        assert_eq!(answer.status, Status::Rejected, "{}", answer.text);
        answers.push(answer);
    }
    for answer in &answers {
        assert!(!answer.text.contains(PASSWORD), "{}", answer.text);
    }
    for (path, content) in desk.files() {
        let found = content.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
        assert!(!found, "it is in {}", path.display());
    }
}

#[tokio::test]
async fn what_is_kept_recognises_it_and_differs_from_server_to_server() {
    let desk = Desk::new().await;
    for name in ["One", "Two"] {
        desk.done("create_email_smtp_server", &arguments(name, PASSWORD)).await;
    }
    let servers = desk.data()["smtp_servers"].clone();
    let (one, two) = (&servers[1]["password"], &servers[2]["password"]);
    for kept in [one, two] {
        let derived = pbkdf2(PASSWORD, kept["salt"].as_str().unwrap(), kept["rounds"].as_u64().unwrap());
        assert_eq!((&kept["kept"], &kept["digest"]), (&json!("pbkdf2-sha256"), &json!(derived)));
    }
    assert_ne!(one["salt"], two["salt"]);
    desk.refused("create_email_smtp_server", &arguments("Three", "short"), "password").await;
}

/// By another implementation than the plug-in's.
fn pbkdf2(password: &str, salt: &str, rounds: u64) -> String {
    let script = "import hashlib, sys; p, s, n = sys.argv[1:]; print(hashlib.pbkdf2_hmac('sha256', p.encode(), bytes.fromhex(s), int(n)).hex())";
    let ran = std::process::Command::new("python3").args(["-c", script, password, salt, &rounds.to_string()]).output();
    let ran = ran.expect("python3, which the other tests need as well");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
