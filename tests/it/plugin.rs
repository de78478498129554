//! Plug-ins through the library: what is loaded, what a call may do, and what becomes of those that misbehave.

pub mod bench;
mod calls;
mod fixed;
mod grants;
mod harm;
#[cfg(target_os = "linux")]
mod late;
mod load;
mod lock;
mod manifest;
mod shared;
