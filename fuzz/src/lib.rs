//! What must hold for any input: the checks that the fuzz targets feed with bytes.
//!
//! Each module reads its input from bytes and panics where a library breaks its word. The targets in
//! `fuzz_targets/` hand them to libFuzzer, `tests/seeds.rs` runs them over the seeds.

#![forbid(unsafe_code)]

mod bytes;
pub mod hulls;
pub mod pairs;
pub mod scenes;
mod shapes;
