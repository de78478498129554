//! SMTP servers. A password goes in and never comes out: not in a plan, an outcome, an error or the data file.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::describe::{Shape, Tool, What, needs};
use crate::invalid;
use crate::json::Json;
use crate::kinds::{ENCRYPTIONS, SMTP_SERVERS};
use crate::secret;
use crate::text::quote;
use crate::work::{Change, Work};

/// What stands where the password would.
const HIDDEN: &str = "(given, not shown)";

pub const TOOLS: &[Tool] = &[Tool {
    name: "create_email_smtp_server",
    title: "Create an SMTP server",
    about: "Registers the server that mail is sent through, with its credentials. The password is shown nowhere, and only a \
            salted, slow digest of it is kept: the program that sends mail gets it from the operator and can check it by that.",
    level: Level::ApprovalRequired,
    takes: &[
        needs("name", What::Line(120), "Its name, which no other server has."),
        needs("host", What::Host, "The host: smtp.example.com"),
        needs("port", What::Whole(1, 65_535), "The port: 587 for starttls, 465 for tls."),
        needs("encryption", What::Choice(ENCRYPTIONS), "How the connection is encrypted."),
        needs("username", What::Line(200), "The user that signs in."),
        needs("password", What::Password, "Its password, 8 to 256 characters."),
    ],
    gives: &[(
        "smtp_server",
        Shape::Object(&[
            ("id", Shape::Whole),
            ("name", Shape::Text),
            ("host", Shape::Text),
            ("port", Shape::Whole),
            ("username", Shape::Text),
            ("password", Shape::Text),
        ]),
    )],
    run: create_email_smtp_server,
}];

fn create_email_smtp_server(work: &mut Work) -> Result<Change, ToolError> {
    let [name, host, encryption, username] =
        ["name", "host", "encryption", "username"].map(|argument| work.text(argument));
    let (name, host, encryption, username) = (name?, host?, encryption?, username?);
    let (port, password) = (work.id("port")?, work.text("password")?);
    if [&name, &host, &username].iter().any(|shown| shown.contains(&password)) {
        return Err(invalid("the password is part of another argument, where it would be shown: choose another one"));
    }
    work.free(&SMTP_SERVERS, &name)?;
    let shown = [
        ("name", Json::text(name.clone())),
        ("host", Json::text(host.clone())),
        ("port", Json::whole(port)),
        ("encryption", Json::text(encryption.clone())),
        ("username", Json::text(username.clone())),
        ("password", Json::text(HIDDEN)),
    ];
    let details = Json::object(shown.clone());
    // A preview is thrown away: it need not wait for the digest.
    let kept = work.operation.as_ref().map_or(Json::Null, |operation| secret::record(&password, operation));
    let server = work.add(&SMTP_SERVERS, shown)?;
    work.set(&server, [("password", kept)]);
    let warnings = match encryption.as_str() {
        "none" => {
            vec!["The connection is not encrypted: the password and every mail can be read on the way.".to_owned()]
        }
        _ => Vec::new(),
    };
    Ok(Change {
        summary: format!(
            "Will create SMTP server {} at {host}:{port} ({encryption}) for user {}; its password is given and not shown.",
            quote(&name),
            quote(&username)
        ),
        details,
        warnings,
        message: format!("Created {}", server.named()),
        outcome: Json::object([("smtp_server", server.json)]),
    })
}
