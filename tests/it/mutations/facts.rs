//! What the program made of a configuration, as facts. Every field is taken apart by name: one that is added is missed here by
//! the compiler.

use super::order::Fact::{AtLeast, AtMost, Guard, Is, Label, Power};
use super::order::{Fact, Facts};
use counterfoil::audit::CheckpointCommand;
use counterfoil::config::{
    AuditConfig, Config, GateConfig, PluginConfig, Raise, StoreConfig, Variable, VariableSource,
};
use counterfoil::gate::Settings;
use counterfoil::plugin::{
    Access, Declared, DeclaredDir, DeclaredHttp, DirGrant, Fixed, HttpGrant, Limits, PluginOptions,
};
use counterfoil::policy::{Budget, Counts, Rule, Then, Tools};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// Every fact of a configuration.
pub fn of(config: &Config, raises: &[Raise]) -> Facts {
    let Config { gate, store, audit, cache, plugins, lock, rules, budgets, places } = config;
    let mut facts = Facts::new();
    contract(gate, &mut facts);
    let store = match store {
        StoreConfig::Sqlite(file) => file.display().to_string(),
        StoreConfig::Memory => "memory".to_owned(),
    };
    facts.insert("store".into(), Is(store));
    facts.insert("cache".into(), Is(cache.as_ref().unwrap().display().to_string()));
    assert_eq!(lock.file(), places.file().with_extension("lock"));
    let AuditConfig { dir, checkpoints, command, max_file } = audit.as_ref().expect("there always is an audit");
    facts.insert("audit".into(), Is(dir.display().to_string()));
    facts.insert("a file of the audit".into(), Is(max_file.to_string()));
    facts.extend(checkpoints.iter().map(|place| (format!("checkpoints in {}", place.display()), Guard)));
    facts.extend(command.iter().map(|CheckpointCommand { program, arguments }| {
        (format!("checkpoints by {} {arguments:?}", program.display()), Guard)
    }));
    for plugin in plugins {
        let source = plugin.source.display();
        let same = plugins.iter().take_while(|other| other.name != plugin.name).filter(|o| o.source == plugin.source);
        one(&format!("{source} ({})", same.count()), plugin, &mut facts);
    }
    for Raise { tool, declared, level, place: _ } in raises {
        facts.insert(format!("level of {tool}"), AtLeast(level.number().max(declared.number()).into()));
    }
    facts.extend(rules.iter().map(|rule| (ruled(rule), Guard)));
    facts.extend(budgets.iter().map(|budget| (counted(budget), Guard)));
    facts
}

/// A rule's fields are its own: these are all that it shows.
fn ruled(rule: &Rule) -> String {
    let then = match rule.then() {
        Then::Raise(level) => format!("raised to {}", level.number()),
        Then::Deny => "denied".to_owned(),
    };
    format!("calls of {} are {then} when {} since {}", tools(rule.tools()), rule.when(), rule.why())
}

fn counted(budget: &Budget) -> String {
    let most = match budget.counts() {
        Counts::Calls(most) => format!("{most} calls"),
        Counts::Sum { path, at_most } => format!("{at_most} of args.{}", path.join(".")),
    };
    format!("calls of {} have {most} in {} ms", tools(budget.tools()), budget.per().as_millis())
}

fn tools(tools: &Tools) -> String {
    let names: BTreeSet<&str> = match tools {
        Tools::All => BTreeSet::from(["*"]),
        Tools::Named(names) => names.iter().map(String::as_str).collect(),
    };
    format!("{names:?}")
}

fn contract(gate: &GateConfig, facts: &mut Facts) {
    // Its other fields are put into the settings by the program's own function.
    facts.insert("confirm parameter".into(), Is(gate.confirm_parameter.clone().unwrap_or("confirm_token".into())));
    let mut settings = Settings::default();
    gate.apply(&mut settings);
    let Settings {
        ttl,
        approval_window,
        replay_window,
        tombstone,
        cool_down,
        recent_window,
        max_arguments,
        max_depth,
        max_number,
        max_exponent,
        max_plan,
        max_precondition,
        max_outcome,
        max_output,
        pending_per_owner,
        pending_in_all,
    } = settings;
    let all = [
        ("ttl", AtMost(ttl.into())),
        ("approval_window", AtMost(approval_window.into())),
        ("replay_window", AtMost(replay_window.into())),
        ("tombstone", AtLeast(tombstone.into())),
        ("cool_down", AtLeast(cool_down.into())),
        ("recent_window", AtLeast(recent_window.into())),
        ("max_arguments", AtMost(max_arguments.into())),
        ("max_depth", AtMost(max_depth.into())),
        ("max_number", AtMost(max_number.into())),
        ("max_exponent", AtMost(max_exponent.into())),
        ("max_plan", AtMost(max_plan.into())),
        ("max_precondition", AtMost(max_precondition.into())),
        ("max_outcome", AtMost(max_outcome.into())),
        ("max_output", AtMost(max_output.into())),
        ("pending_per_owner", AtMost(pending_per_owner.into())),
        ("pending_in_all", AtMost(pending_in_all.into())),
    ];
    facts.extend(all.map(|(name, fact)| (format!("gate.{name}"), fact)));
}

fn one(of: &str, plugin: &PluginConfig, facts: &mut Facts) {
    let PluginConfig { name, source: _, options, env: variables, levels } = plugin;
    let mut put = |what: String, fact: Fact| drop(facts.insert(format!("{of}: {what}"), fact));
    put("name".into(), Label(name.clone()));
    for (tool, level) in levels {
        put(format!("level of {tool}"), AtLeast(level.number().into()));
    }
    let PluginOptions { name: same, dirs, http, env, fixed, declares, limits, tools, rename, lock } = options;
    assert!(same == name && env.is_empty(), "a value before anybody asked for one");
    for DirGrant { host, guest, access } in dirs {
        put(format!("reads {} as {guest}", host.display()), Power);
        if *access == Access::ReadWrite {
            put(format!("writes {} as {guest}", host.display()), Power);
        }
    }
    for HttpGrant { scheme, host, port, methods, preview } in http {
        for method in methods {
            let request = format!("{method} {}://{host}:{}", scheme.name(), port.unwrap_or(scheme.port()));
            put(format!("sends {request}"), Power);
            if *preview {
                put(format!("sends {request} in previews"), Power);
            }
        }
    }
    for Variable { name, source } in variables {
        let source = match source {
            VariableSource::Environment(name) => format!("{name} of the environment"),
            VariableSource::File(file) => file.display().to_string(),
        };
        put(format!("sees {source}"), Power);
        put(format!("variable {name}"), Label(source));
    }
    let Fixed { clock, random } = fixed;
    if let Some(clock) = clock {
        let since = clock.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        put("clock".into(), Is(format!("{} ns", since.as_nanos())));
    }
    if let Some(random) = random {
        put("randomness".into(), Is(random.to_string()));
    }
    if let Some(declared) = declares {
        asks(declared, &mut put);
    }
    bounds(limits, &mut put);
    match tools {
        None => put("every tool".into(), Power),
        Some(tools) => tools.iter().for_each(|tool| put(format!("tool {tool}"), Power)),
    }
    for (own, listed) in rename {
        put(format!("{own} is listed as"), Is(listed.clone()));
    }
    if let Some(digest) = lock {
        put(format!("is not raised while it is {digest}"), Power);
    }
}

fn asks(Declared { dirs, http, env }: &Declared, put: &mut impl FnMut(String, Fact)) {
    put("is declared for".into(), Power);
    for DeclaredDir { path, access } in dirs {
        put(format!("asks to read {path}"), Power);
        if *access == Access::ReadWrite {
            put(format!("asks to write {path}"), Power);
        }
    }
    for DeclaredHttp { scheme, host, port, methods } in http {
        let scheme = scheme.map_or("*", |scheme| scheme.name());
        let port = port.map_or("*".to_owned(), |port| port.to_string());
        for method in methods.clone().unwrap_or(vec!["*".into()]) {
            put(format!("asks to send {method} {scheme}://{host}:{port}"), Power);
        }
    }
    for name in env {
        put(format!("asks for the variable {name}"), Power);
    }
}

fn bounds(limits: &Limits, put: &mut impl FnMut(String, Fact)) {
    let Limits {
        preview,
        execute,
        memory,
        output,
        table_elements,
        instances,
        handles,
        log,
        log_per_minute,
        stack,
        reading,
        per_owner,
        queue,
        http_body,
        http_requests,
        max_concurrent,
    } = limits;
    let time = Duration::as_millis;
    let all = [
        ("preview", time(preview)),
        ("execute", time(execute)),
        ("queue", time(queue)),
        ("memory", (*memory).into()),
        ("output", (*output).into()),
        ("table_elements", (*table_elements).into()),
        ("instances", (*instances).into()),
        ("handles", (*handles).into()),
        ("log", (*log).into()),
        ("log_per_minute", (*log_per_minute).into()),
        ("stack", (*stack).into()),
        ("reading", (*reading).into()),
        ("per_owner", (*per_owner).into()),
        ("http_body", (*http_body).into()),
        ("http_requests", (*http_requests).into()),
        ("max_concurrent", (*max_concurrent).into()),
    ];
    for (name, value) in all {
        put(format!("limit {name}"), AtMost(value));
    }
}
