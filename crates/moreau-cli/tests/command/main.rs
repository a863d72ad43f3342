//! Runs the built command as people and programs do.

mod figures;
mod files;
mod folder;
mod solve;
mod usage;
