//! Email lists: who is on them, what they are sent, and what fills them.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::describe::{DELETED, Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::kinds::{EMAIL_LISTS, LANDINGS, TRIGGERS};
use crate::say::{deletion, ids, names};
use crate::shown::hex;
use crate::text::{count, quote};
use crate::work::{Change, Record, Work};
use crate::{invalid, refused};
use sha2::{Digest, Sha256};

/// Most steps of a sequence.
const MAX_STEPS: usize = 100;

/// Characters of a mail that a plan shows: what a person reads who is asked. Its length and digest stand for the rest.
const MAX_SHOWN: usize = 500;

const LIST: &[(&str, Shape)] = &[(
    "email_list",
    Shape::Object(&[
        ("id", Shape::Whole),
        ("name", Shape::Text),
        ("from_name", Shape::Text),
        ("from_email", Shape::Text),
    ]),
)];
const LIST_ID: &str = "The list's id.";

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "create_email_list",
        title: "Create an email list",
        about: "Creates an empty email list.",
        level: Level::Caution,
        takes: &[
            needs("name", What::Line(120), "Its name, which no other list has."),
            needs("from_name", What::Line(120), "Who its mails come from."),
            needs("from_email", What::Email, "The address that they come from."),
        ],
        gives: LIST,
        run: create_email_list,
    },
    Tool {
        name: "update_email_list",
        title: "Change an email list",
        about: "Changes the name of an email list, or who its mails come from. What is not given stays.",
        level: Level::Caution,
        takes: &[
            needs("list_id", What::Id, LIST_ID),
            takes("name", What::Line(120), "Its new name, which no other list has."),
            takes("from_name", What::Line(120), "Who its mails come from from now on."),
            takes("from_email", What::Email, "The address that they come from from now on."),
        ],
        gives: LIST,
        run: update_email_list,
    },
    Tool {
        name: "add_email_sequence_step",
        title: "Add a step to an email sequence",
        about: "Adds a mail at the end of a list's sequence, up to 100.",
        level: Level::Caution,
        takes: &[
            needs("list_id", What::Id, LIST_ID),
            needs("subject", What::Line(200), "The mail's subject."),
            needs("body", What::Body(20_000), "The mail's text."),
            needs("delay_hours", What::Whole(0, 8_760), "Hours after the step before it, or after the enrolment."),
        ],
        gives: &[("email_list_id", Shape::Whole), ("position", Shape::Whole), ("subject", Shape::Text)],
        run: add_email_sequence_step,
    },
    Tool {
        name: "enroll_email_subscriber",
        title: "Put a subscriber on an email list",
        about: "Puts an address on an email list. Refused for one that is on it, and for one that has unsubscribed: coming back is \
                that person's own decision.",
        level: Level::Caution,
        takes: &[
            needs("list_id", What::Id, LIST_ID),
            needs("email", What::Email, "The subscriber's address."),
            takes("name", What::Line(120), "The subscriber's name."),
        ],
        gives: &[("email_list_id", Shape::Whole), ("email", Shape::Text), ("subscribers", Shape::Whole)],
        run: enroll_email_subscriber,
    },
    Tool {
        name: "bind_landing_to_email_list",
        title: "Bind a landing to an email list",
        about: "Lets a landing collect subscribers for a list, instead of for the one that it was bound to.",
        level: Level::Caution,
        takes: &[needs("landing_id", What::Id, "The landing's id."), needs("list_id", What::Id, LIST_ID)],
        gives: &[(
            "landing",
            Shape::Object(&[("id", Shape::Whole), ("name", Shape::Text), ("email_list_id", Shape::Whole)]),
        )],
        run: bind_landing_to_email_list,
    },
    Tool {
        name: "delete_email_list",
        title: "Delete an email list",
        about: "Deletes an email list for good, with its subscribers and its sequence; landings that collect for it are unbound. \
                Refused while a conversion trigger puts people on it.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, LIST_ID)],
        gives: DELETED,
        run: delete_email_list,
    },
    Tool {
        name: "delete_email_conversion_trigger",
        title: "Delete an email conversion trigger",
        about: "Deletes a trigger that puts people on a list when they convert. Those who are on it stay.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, "The trigger's id.")],
        gives: DELETED,
        run: delete_email_conversion_trigger,
    },
];

fn create_email_list(work: &mut Work) -> Result<Change, ToolError> {
    let name = work.text("name")?;
    work.free(&EMAIL_LISTS, &name)?;
    let (from_name, from_email) = (work.text("from_name")?, work.text("from_email")?);
    let summary = format!("Will create email list {} from {} <{from_email}>.", quote(&name), quote(&from_name));
    let members =
        [("name", Json::text(name)), ("from_name", Json::text(from_name)), ("from_email", Json::text(from_email))];
    let details = Json::object(members.clone());
    let list = work.add(&EMAIL_LISTS, members)?;
    work.set(&list, [("subscribers", Json::List(Vec::new())), ("sequence", Json::List(Vec::new()))]);
    Ok(Change {
        summary,
        details,
        warnings: Vec::new(),
        message: format!("Created {}", list.named()),
        outcome: now(work, &list),
    })
}

fn update_email_list(work: &mut Work) -> Result<Change, ToolError> {
    let list = work.find(&EMAIL_LISTS, "list_id")?;
    let (mut words, mut changes) = (Vec::new(), Vec::new());
    for (member, noun) in [("name", "name"), ("from_name", "sender's name"), ("from_email", "sender's address")] {
        let Some(new) = work.given(member).map(str::to_owned) else { continue };
        let old = list.text(member);
        if new == old {
            continue;
        }
        if member == "name" && new.to_lowercase() != old.to_lowercase() {
            work.free(&EMAIL_LISTS, &new)?;
        }
        words.push(format!("{noun} from {} to {}", quote(old), quote(&new)));
        changes.push(Json::object([
            ("member", Json::text(member)),
            ("old", Json::text(old)),
            ("new", Json::text(new.clone())),
        ]));
        work.set(&list, [(member, Json::text(new))]);
    }
    if changes.is_empty() {
        return Err(invalid(format!(
            "nothing would change about {}: give a name, from_name or from_email that it does not have",
            list.named()
        )));
    }
    Ok(Change {
        summary: format!("Will change {}: {}.", list.named(), words.join(", ")),
        details: Json::object([("email_list_id", Json::whole(list.id)), ("changes", Json::List(changes))]),
        warnings: Vec::new(),
        message: format!("Changed email list #{}: {}", list.id, words.join(", ")),
        outcome: now(work, &list),
    })
}

fn add_email_sequence_step(work: &mut Work) -> Result<Change, ToolError> {
    let list = work.find(&EMAIL_LISTS, "list_id")?;
    let (subject, body, delay) = (work.text("subject")?, work.text("body")?, work.id("delay_hours")?);
    let position = list.rows("sequence").len() + 1;
    if position > MAX_STEPS {
        return Err(refused(format!("{} has {MAX_STEPS} steps, and a sequence has no more", list.named())));
    }
    let entry = Json::object([
        ("subject", Json::text(subject.clone())),
        ("body", Json::text(body.clone())),
        ("delay_hours", Json::whole(delay)),
    ]);
    let same =
        |last: &Json| ["subject", "body", "delay_hours"].iter().all(|member| last.get(member) == entry.get(member));
    if list.rows("sequence").last().is_some_and(same) {
        return Err(refused(format!("the last step of {} is this one already", list.named())));
    }
    work.append(&list, "sequence", entry);
    let facts = [
        ("email_list_id", Json::whole(list.id)),
        ("position", Json::whole(position as u64)),
        ("subject", Json::text(subject.clone())),
        ("delay_hours", Json::whole(delay)),
    ];
    let words = format!("step {position}, {}, to the sequence of {}", quote(&subject), list.named());
    let beginning: String = body.chars().take(MAX_SHOWN).collect();
    let shown = [
        ("body", Json::text(beginning.clone())),
        ("body_whole", Json::Bool(beginning == body)),
        ("body_characters", Json::whole(body.chars().count() as u64)),
        ("body_sha256", Json::text(hex(&Sha256::digest(&body)))),
    ];
    let outcome = Json::object(facts);
    let mut details = outcome.clone();
    shown.into_iter().for_each(|(name, value)| details.set(name, value));
    Ok(Change {
        summary: format!("Will add {words}, {} after the one before.", count(delay, "hour")),
        details,
        warnings: Vec::new(),
        message: format!("Added {words}"),
        outcome,
    })
}

fn enroll_email_subscriber(work: &mut Work) -> Result<Change, ToolError> {
    let list = work.find(&EMAIL_LISTS, "list_id")?;
    let email = work.text("email")?;
    let text = |row: &Json, member: &str| row.get(member).and_then(Json::as_text).unwrap_or_default().to_owned();
    let there = list.rows("subscribers").iter().find(|row| text(row, "email").eq_ignore_ascii_case(&email));
    match there.map(|row| text(row, "status")).as_deref() {
        None => {}
        Some("unsubscribed") => {
            let named = list.named();
            return Err(refused(format!(
                "{email} has unsubscribed from {named}; coming back is that person's own decision"
            )));
        }
        Some(status) => return Err(refused(format!("{email} is on {} already ({status})", list.named()))),
    }
    let name = work.given("name").map_or(Json::Null, Json::text);
    let entry = [
        ("email", Json::text(email.clone())),
        ("name", name.clone()),
        ("status", Json::text("subscribed")),
        ("enrolled_at", Json::text(work.now.clone())),
    ];
    work.append(&list, "subscribers", Json::object(entry));
    let details = Json::object([
        ("email_list_id", Json::whole(list.id)),
        ("email", Json::text(email.clone())),
        ("name", name),
        ("subscribers", Json::whole(list.rows("subscribers").len() as u64 + 1)),
    ]);
    Ok(Change {
        summary: format!("Will put {email} on {}.", list.named()),
        details: details.clone(),
        warnings: Vec::new(),
        message: format!("Put {email} on {}", list.named()),
        outcome: details,
    })
}

fn bind_landing_to_email_list(work: &mut Work) -> Result<Change, ToolError> {
    let (landing, list) = (work.find(&LANDINGS, "landing_id")?, work.find(&EMAIL_LISTS, "list_id")?);
    let before = landing.refers("email_list_id");
    if before == Some(list.id) {
        return Err(refused(format!("{} is bound to {} already", landing.named(), list.named())));
    }
    work.set(&landing, [("email_list_id", Json::whole(list.id))]);
    let instead = before.map_or_else(String::new, |id| format!(" instead of email list #{id}"));
    let words = format!("{} to {}{instead}", landing.named(), list.named());
    Ok(Change {
        summary: format!("Will bind {words}."),
        details: Json::object([
            ("landing_id", Json::whole(landing.id)),
            ("email_list_id", Json::whole(list.id)),
            ("previous_email_list_id", before.map_or(Json::Null, Json::whole)),
        ]),
        warnings: Vec::new(),
        message: format!("Bound {words}"),
        outcome: Json::object([(
            "landing",
            Json::object([
                ("id", Json::whole(landing.id)),
                ("name", Json::text(landing.text("name"))),
                ("email_list_id", Json::whole(list.id)),
            ]),
        )]),
    })
}

fn delete_email_list(work: &mut Work) -> Result<Change, ToolError> {
    let list = work.find(&EMAIL_LISTS, "id")?;
    let of_it = |record: &Record| record.refers("email_list_id") == Some(list.id);
    let triggers = work.those(&TRIGGERS, of_it);
    if !triggers.is_empty() {
        return Err(refused(format!(
            "{} is filled by {} ({}): delete_email_conversion_trigger first",
            list.named(),
            count(triggers.len() as u64, "conversion trigger"),
            names(&triggers)
        )));
    }
    let landings = work.those(&LANDINGS, of_it);
    for landing in &landings {
        work.set(landing, [("email_list_id", Json::Null)]);
    }
    work.remove(&list);
    let (subscribers, steps) = (list.rows("subscribers").len() as u64, list.rows("sequence").len() as u64);
    let bound = landings.len() as u64;
    let mut warnings = Vec::new();
    if subscribers > 0 {
        warnings.push("The addresses are in no other place of this data.".to_owned());
    }
    if bound > 0 {
        let collect = if bound == 1 { "collects" } else { "collect" };
        warnings.push(format!("{} {collect} no subscribers any more: {}.", count(bound, "landing"), names(&landings)));
    }
    let facts = [count(subscribers, "subscriber"), count(steps, "sequence step"), count(bound, "bound landing")];
    let details = [
        ("email_list_id", Json::whole(list.id)),
        ("email_list_name", Json::text(list.text("name"))),
        ("subscribers", Json::whole(subscribers)),
        ("sequence_steps", Json::whole(steps)),
        ("landings_unbound", ids(&landings)),
    ];
    Ok(deletion(work, &list, &facts, details, warnings))
}

fn delete_email_conversion_trigger(work: &mut Work) -> Result<Change, ToolError> {
    let trigger = work.find(&TRIGGERS, "id")?;
    let (list, active) = (trigger.whole("email_list_id"), trigger.flag("active"));
    let name = work.look(&EMAIL_LISTS, list).map_or_else(|| format!("email list #{list}"), |list| list.named());
    work.remove(&trigger);
    let fired = trigger.whole("times_fired");
    let facts = [format!("on {} to {name}", quote(trigger.text("event"))), format!("fired {}", count(fired, "time"))];
    let warnings = match active {
        true => vec![format!("It is active: nobody is put on {name} by it any more.")],
        false => Vec::new(),
    };
    let details = [
        ("email_conversion_trigger_id", Json::whole(trigger.id)),
        ("email_conversion_trigger_name", Json::text(trigger.text("name"))),
        ("event", Json::text(trigger.text("event"))),
        ("email_list_id", Json::whole(list)),
        ("active", Json::Bool(active)),
        ("times_fired", Json::whole(fired)),
    ];
    Ok(deletion(work, &trigger, &facts, details, warnings))
}

/// The list as it is in the data now, without those who are on it.
fn now(work: &Work, list: &Record) -> Json {
    let now = work.those(&EMAIL_LISTS, |record| record.id == list.id);
    let members = ["id", "name", "from_name", "from_email", "updated_at"];
    Json::object([("email_list", now.first().map_or(Json::Null, |record| record.brief(&members)))])
}
