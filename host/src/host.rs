//! The use cases: list, call. The one path by which a tool runs.
