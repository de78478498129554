//! SIGHUP from the program's first moment on: it ends no server that has only begun to start. What comes before the configuration
//! is read has nothing to reload; `serve` hears what comes from then on.

use signal_hook::consts::SIGHUP;
use signal_hook::{flag, low_level};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What becomes of a hangup before somebody listens.
pub(super) struct Early {
    /// It ends the process, as it would without this.
    ends: Arc<AtomicBool>,
    came: Arc<AtomicBool>,
}

/// Catches hangups where a server may be started: before there is anything else, the command line's own sense included. Nothing
/// where no server can be meant: there, whoever started the program decides, as with `nohup`.
pub(super) fn caught() -> Option<Early> {
    if !std::env::args_os().any(|word| word == "serve") {
        return None;
    }
    let early = Early { ends: Arc::default(), came: Arc::default() };
    // Neither fails for a signal that can be caught; and one that was not caught ends the process, as ever.
    let _ = flag::register_conditional_default(SIGHUP, Arc::clone(&early.ends));
    let _ = flag::register(SIGHUP, Arc::clone(&early.came));
    Some(early)
}

impl Early {
    /// It was no server after all.
    pub(super) fn let_through(&self) {
        self.ends.store(true, Ordering::SeqCst);
        if self.came.load(Ordering::SeqCst) {
            let _ = low_level::emulate_default_handler(SIGHUP);
        }
    }
}
