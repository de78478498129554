//! What is embedded in this program: the plug-ins that ship with it, and sample data.

/// A plug-in that ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(super) enum Shipped {
    /// Files and directories of a workspace
    Files,
    /// A marketing desk on one JSON file, with sample data
    Offers,
    /// Documents, written as PDF
    Pdf,
}

impl Shipped {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Offers => "offers",
            Self::Pdf => "pdf",
        }
    }

    /// Its component, as built with this program.
    pub(super) fn component(self) -> &'static [u8] {
        match self {
            Self::Files => include_bytes!(concat!(env!("OUT_DIR"), "/files.wasm")),
            Self::Offers => include_bytes!(concat!(env!("OUT_DIR"), "/offers.wasm")),
            Self::Pdf => include_bytes!(concat!(env!("OUT_DIR"), "/pdf.wasm")),
        }
    }
}

/// Sample data of the plug-in `offers`.
pub(super) const OFFERS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sample/offers/offers.json"));
