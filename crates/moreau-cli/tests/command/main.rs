//! Runs the built command as people and programs do.

mod figures;
mod files;
mod folder;
mod outputs;
mod recordings;
mod solve;
#[cfg(unix)]
mod terminal;
mod usage;
