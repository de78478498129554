//! The files plug-in as built, tool by tool: what it does, what it refuses, and that it touches nothing else.

mod changing;
mod confines;
mod reading;
mod sandbox;

use sandbox::{Level, Outcome, Plan, Sandbox, ToolError};
use serde_json::{Value, json};

/// The structured part of an outcome.
fn details(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.details).unwrap()
}

/// The structured part of a plan.
fn planned(plan: &Plan) -> Value {
    serde_json::from_str(&plan.details).unwrap()
}

/// Runs a safe tool.
#[track_caller]
fn read(sandbox: &Sandbox, tool: &str, arguments: Value) -> Value {
    let before = sandbox.tree();
    assert_eq!(sandbox.preview(tool, arguments.clone()).unwrap().level, Some(Level::Safe));
    let outcome = sandbox.execute(tool, &arguments, Level::Safe, None).unwrap();
    assert_eq!(before, sandbox.tree());
    details(&outcome)
}

/// Preview, `meanwhile`, and the run at the level of the plan.
#[track_caller]
fn confirm(sandbox: &Sandbox, tool: &str, arguments: Value, meanwhile: impl FnOnce()) -> Result<Outcome, ToolError> {
    let plan = sandbox.preview(tool, arguments.clone()).unwrap();
    meanwhile();
    sandbox.execute(tool, &arguments, plan.level.unwrap(), plan.precondition)
}

/// The same where it is to be refused, with this in the text and nothing changed after `meanwhile`.
#[track_caller]
fn stale(sandbox: &Sandbox, tool: &str, arguments: Value, meanwhile: impl FnOnce(), text: &str) {
    let mut before = None;
    let result = confirm(sandbox, tool, arguments, || {
        meanwhile();
        before = Some(sandbox.tree());
    });
    assert!(matches!(&result, Err(ToolError::Refused(reason)) if reason.contains(text)), "{result:?}");
    assert_eq!(before, Some(sandbox.tree()));
}

/// Refused by preview and by execute, with this in the text, and nothing changed.
#[track_caller]
fn refused(sandbox: &Sandbox, tool: &str, arguments: Value, text: &str) {
    let before = sandbox.tree();
    let run = sandbox
        .execute(tool, &arguments, Level::ApprovalRequired, Some("absent".to_owned()))
        .map(|outcome| outcome.message);
    for result in [sandbox.preview(tool, arguments).map(|plan| plan.summary), run] {
        let reason = match &result {
            Err(ToolError::Refused(reason) | ToolError::InvalidArguments(reason)) => reason,
            other => panic!("{tool} answers {other:?}"),
        };
        assert!(reason.contains(text), "{reason}");
    }
    assert_eq!(before, sandbox.tree());
}

#[test]
fn eight_tools_are_described_with_strict_schemas_and_their_highest_level() {
    let tools = Sandbox::new().tools();
    let listed: Vec<(&str, Level)> = tools.iter().map(|tool| (tool.name.as_str(), tool.level)).collect();
    let expected = [
        ("list_files", Level::Safe),
        ("read_file", Level::Safe),
        ("search_files", Level::Safe),
        ("create_directory", Level::Caution),
        ("write_file", Level::ApprovalRequired),
        ("move_file", Level::ApprovalRequired),
        ("delete_file", Level::ApprovalRequired),
        ("delete_directory", Level::ApprovalRequired),
    ];
    assert_eq!(listed, expected);
    for tool in &tools {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{}",
            tool.name
        );
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(schema["required"].as_array().unwrap().contains(&json!(name)), "{} {name}", tool.name);
            assert!(property["maxLength"].is_u64() && property["description"].is_string(), "{} {name}", tool.name);
        }
        assert!(!tool.description.is_empty() && tool.title.is_some());
        let always = ["move_file", "delete_file", "delete_directory"].contains(&tool.name.as_str());
        assert_eq!(tool.critical, always, "{}", tool.name);
        assert_eq!(
            serde_json::from_str::<Value>(tool.output_schema.as_ref().unwrap()).unwrap()["type"],
            json!("object")
        );
    }
}

#[test]
fn unknown_tools_and_arguments_are_told_apart() {
    let sandbox = Sandbox::new();
    assert!(matches!(sandbox.preview("format_disk", json!({})), Err(ToolError::UnknownTool)));
    assert!(matches!(sandbox.execute("", &json!({}), Level::Safe, None), Err(ToolError::UnknownTool)));
    for arguments in [json!({}), json!([]), json!({ "path": 1 }), json!({ "path": "a", "force": true })] {
        assert!(matches!(sandbox.preview("delete_file", arguments), Err(ToolError::InvalidArguments(_))));
    }
}
