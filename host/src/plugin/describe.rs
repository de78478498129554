//! What a plug-in says about its tools: asked twice, of instances without grants at another time and with other chance, and
//! believed only where it keeps the rules and says the same both times.

use super::bindings::PluginPre;
use super::bindings::exports::counterfoil::tool::tools::{Level as WitLevel, Tool};
use super::call::trapped;
use super::fixed::Fixed;
use super::given::Given;
use super::instance::{Instance, State};
use super::opened::Opened;
use super::options::Limits;
use super::sandbox::Sandbox;
use super::stdio::Volume;
use super::veil::Veil;
use crate::policy::Level;
use crate::schema::Schema;
use crate::text;
use crate::tool::{Declaration, NAME_RULE, Power, is_name};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Tools of one plug-in: more than an agent can choose among.
const TOOLS: usize = 256;
/// Longest title, in bytes.
const TITLE: usize = 256;
/// Longest description, in bytes: agents read all of them.
const DESCRIPTION: usize = 16 * 1024;

/// Whose the calls of a start are: no owner is called so.
const NOBODY: &str = "";

/// Asks for the tools and checks each declaration. Returns them with their input schemas.
pub(super) async fn ask(
    sandbox: &Sandbox,
    pre: &PluginPre<State>,
    plugin: &str,
    limits: &Limits,
    fixed: &Fixed,
) -> Result<(Vec<Declaration>, BTreeMap<String, Arc<Schema>>), String> {
    // The pool has no more instances than there are slots. What is asked at a start is nobody's, and leaves room for calls.
    let place = sandbox.slots.enter(NOBODY).map_err(|asked| format!("waits behind {asked} others"))?;
    let _slot = place.turn(false).await.map_err(|error| error.to_string())?;
    let tools = list(pre, limits, fixed, Some(plugin)).await?;
    // Whoever reads a list and agrees to it must have read the one that there will be.
    if let Some(what) = changed(&tools, &list(pre, limits, &elsewhere(fixed), None).await?) {
        return Err(format!(
            "lists its tools otherwise when it is asked again: {what}; what it lists must not depend on time or chance"
        ));
    }
    if tools.is_empty() || tools.len() > TOOLS {
        return Err(format!("lists {} tools: 1 to {TOOLS} are allowed", tools.len()));
    }
    let (mut declared, mut schemas) = (Vec::with_capacity(tools.len()), BTreeMap::new());
    for tool in tools {
        let name = text::brief(&tool.name);
        let (tool, schema) = declaration(tool).map_err(|what| format!("tool \"{name}\": {what}"))?;
        if schemas.insert(tool.name.clone(), Arc::new(schema)).is_some() {
            return Err(format!("lists the tool \"{name}\" twice"));
        }
        declared.push(tool);
    }
    Ok((declared, schemas))
}

/// What a fresh instance lists. What it prints goes to the log under the plug-in's name, where that is given.
async fn list(
    pre: &PluginPre<State>,
    limits: &Limits,
    fixed: &Fixed,
    plugin: Option<&str>,
) -> Result<Vec<Tool>, String> {
    let nothing = Given { fixed: fixed.clone(), ..Given::default() };
    let asked = async {
        let mut instance = Instance::new(pre, limits, &nothing, Power::ReadOnly, Opened::default())
            .await
            .map_err(|error| super::load::not_started(&error))?;
        let tools = instance.plugin.counterfoil_tool_tools().call_list_tools(&mut instance.store).await;
        if let Some(plugin) = plugin {
            instance.log(&Volume::new(limits.log_per_minute), &Veil::default(), plugin, "list-tools");
        }
        tools.map_err(|error| format!("failed in list-tools: {}", trapped(&error, &instance.store.data().usage)))
    };
    match tokio::time::timeout(limits.preview, asked).await {
        Ok(tools) => tools,
        Err(_) => Err(format!("did not list its tools within {:?}", limits.preview)),
    }
}

/// Another time and another chance, as far as the operator has not fixed them.
fn elsewhere(fixed: &Fixed) -> Fixed {
    /// Some ten years: past whatever a list might wait for.
    const LATER: Duration = Duration::from_hours(10 * 366 * 24);
    /// Any number.
    const CHANCE: u64 = 7;
    Fixed { clock: fixed.clock.or_else(|| SystemTime::now().checked_add(LATER)), random: fixed.random.or(Some(CHANCE)) }
}

/// What is not the same in two lists.
fn changed(one: &[Tool], other: &[Tool]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} tools, and then {}", one.len(), other.len()));
    }
    let differs = |(one, other): (&Tool, &Tool)| {
        let what = match (one, other) {
            _ if one.name != other.name => {
                return Some(format!("the tool \"{}\" is not there again", text::brief(&one.name)));
            }
            _ if one.level != other.level || one.critical != other.critical => "level",
            _ if one.title != other.title || one.description != other.description => "title or description",
            _ if one.input_schema != other.input_schema || one.output_schema != other.output_schema => "schemas",
            _ => return None,
        };
        Some(format!("the tool \"{}\" has other {what}", text::brief(&one.name)))
    };
    one.iter().zip(other).find_map(differs)
}

fn declaration(tool: Tool) -> Result<(Declaration, Schema), String> {
    check_name(&tool.name)?;
    if tool.title.as_ref().is_some_and(|title| title.len() > TITLE) {
        return Err(format!("its title has more than {TITLE} bytes"));
    }
    if tool.description.len() > DESCRIPTION {
        return Err(format!("its description has more than {DESCRIPTION} bytes"));
    }
    let schema =
        Schema::compile(&tool.input_schema).map_err(|what| format!("its input schema is not acceptable: {what}"))?;
    if let Some(schema) = &tool.output_schema {
        Schema::compile(schema).map_err(|what| format!("its output schema is not acceptable: {what}"))?;
    }
    let declaration = Declaration {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        level: tool.level.into(),
        critical: tool.critical,
    };
    Ok((declaration, schema))
}

fn check_name(name: &str) -> Result<(), String> {
    if is_name(name) { Ok(()) } else { Err(format!("this cannot be the name of a tool: {NAME_RULE}")) }
}

/// The tools that are switched on, under their listed names, and from those back to the plug-in's own.
pub(super) fn listed(
    mut tools: Vec<Declaration>,
    on: Option<&[String]>,
    rename: &BTreeMap<String, String>,
) -> Result<(Vec<Declaration>, BTreeMap<String, String>), String> {
    let known: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let unknown = |name: &String| format!("it has no tool {name:?}: it has {}", known.join(", "));
    if let Some(on) = on {
        if let Some(name) = on.iter().find(|name| !known.contains(name)) {
            return Err(unknown(name));
        }
        tools.retain(|tool| on.contains(&tool.name));
    }
    for name in rename.keys() {
        if !known.contains(name) {
            return Err(unknown(name));
        }
        if !tools.iter().any(|tool| tool.name == *name) {
            return Err(format!("{name:?} is renamed but switched off: switch it on, or leave the name out"));
        }
    }
    let mut own = BTreeMap::new();
    for tool in &mut tools {
        let name = tool.name.clone();
        if let Some(new) = rename.get(&name) {
            check_name(new).map_err(|what| format!("{name:?} cannot be renamed to {new:?}: {what}"))?;
            tool.name.clone_from(new);
        }
        if own.insert(tool.name.clone(), name).is_some() {
            return Err(format!("two of its tools would be named {:?}: rename one of them", tool.name));
        }
    }
    Ok((tools, own))
}

impl From<WitLevel> for Level {
    fn from(level: WitLevel) -> Self {
        match level {
            WitLevel::Safe => Self::Safe,
            WitLevel::Caution => Self::Caution,
            WitLevel::Review => Self::Review,
            WitLevel::ApprovalRequired => Self::ApprovalRequired,
        }
    }
}

impl From<Level> for WitLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Safe => Self::Safe,
            Level::Caution => Self::Caution,
            Level::Review => Self::Review,
            Level::ApprovalRequired => Self::ApprovalRequired,
        }
    }
}
