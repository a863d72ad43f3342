//! One offline page that plays a run in three dimensions.
//!
//! [`Recording`] collects poses, contacts and reports while a run goes on; [`html()`] packs them into
//! the page's numbers (`pack`) and puts these and the program (`assets/`) into one file. Poses and
//! contacts are rounded for the eye; the numbers that the page prints are those of the reports.

mod base64;
mod contacts;
mod html;
mod pack;
mod recording;
mod solids;

pub(crate) use html::{About, Gate, html};
pub(crate) use recording::Recording;
