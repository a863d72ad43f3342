//! Ctrl-C ends the run after the step in progress; a second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of an interrupted program, by custom.
pub(crate) const EXIT: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Starts to listen. Where that is not possible Ctrl-C ends the program as ever.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(EXIT));
        }
    });
}

/// Whether the run shall end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
