//! Plug-ins: load, describe, call.
