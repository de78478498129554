//! Why a request is denied, for whoever has to put it right.

/// The first thing that stands against it, in the order in which an operator would look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is for no place that is granted.
    NotGranted,
    /// The place is granted, and this method is not.
    Method,
    /// The plug-in's manifest, or what is declared for it, does not ask for it.
    NotDeclared,
    /// It is granted, and not for previews and safe calls.
    NotInPreviews,
    /// It is more than a look, in a preview or a safe call.
    Changes,
    /// Start code and lists of tools send nothing.
    TooEarly,
    /// The name leads into the machine, to the next ones on its wire or to a cloud's metadata.
    Inside,
    /// It has a body, which makes more than a look of it, where none may be sent.
    Body,
}

impl Why {
    /// The reason, and what helps.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotGranted => "not granted: no `http` entry of the plug-in is for this scheme, host and port",
            Self::Method => "the method is not granted: add it to `methods` of the `http` entry",
            Self::NotDeclared => "the plug-in does not ask for it in its manifest",
            Self::NotInPreviews => "previews and safe calls may not: the `http` entry has no `preview = true`",
            Self::Changes => "previews and safe calls send GET and HEAD only, without a body",
            Self::TooEarly => "start code and lists of tools send nothing",
            Self::Inside => "the name leads into this machine, to its neighbours or to a cloud's metadata",
            Self::Body => "a GET or HEAD with a body counts as a change, and none may be sent there",
        }
    }
}
