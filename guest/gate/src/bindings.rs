//! Generated from `wit/gate`.
#![expect(unsafe_code, reason = "generated")]
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use crate::Component;

wit_bindgen::generate!({
    path: "../../wit/gate",
    world: "component",
    generate_all,
});

export!(Component);
