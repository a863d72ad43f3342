//! Ctrl-C. Where work can end early and keep what it has, the first one asks it to; a second one, or one
//! anywhere else, ends the program at once and leaves the terminal clean and no
//! half-written files.

use crate::{progress, target};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of an interrupted program, by custom.
pub(crate) const EXIT: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);
static GENTLE: AtomicBool = AtomicBool::new(false);

/// Starts to listen. Where that is not possible Ctrl-C ends the program as ever.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let gentle = GENTLE.load(Ordering::Relaxed);
        if !gentle || ASKED.swap(true, Ordering::Relaxed) {
            progress::clear();
            target::clear();
            std::process::exit(i32::from(EXIT));
        }
    });
}

/// Work that looks whether it is [`asked`] to end, as long as this is held.
#[derive(Debug)]
pub(crate) struct Gently(());

/// Such work starts.
pub(crate) fn gently() -> Gently {
    GENTLE.store(true, Ordering::Relaxed);
    Gently(())
}

impl Drop for Gently {
    fn drop(&mut self) {
        GENTLE.store(false, Ordering::Relaxed);
    }
}

/// Whether the work shall end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
