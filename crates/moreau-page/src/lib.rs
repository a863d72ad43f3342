//! One offline page that plays a run in three dimensions and tells its numbers.
//!
//! **Owns**: what a page keeps of a run ([`Recording`]), how it is packed into a file ([`html()`]),
//! and the program of the page (`assets/page.html`, bundled from the folder `web` of the repository).
//!
//! **Must not know**: files, command lines, how a run comes about. A step is a [`Frame`] of plain data;
//! [`Recording::step`] takes it from a world; [`Recording::push`] from wherever a run is kept.
//!
//! # Which numbers are exact
//!
//! A number that the page prints is the `f64` of the step that it names, all of its bits. The *picture*
//! is rounded for the eye: poses to 16 bits of each body's range, contact points to a 256th of half a body.
//! Its contacts are those of every shown step where they take few bytes, else of fewer where much changes,
//! and the page says of which step those are that it draws. What is printed is kept beside the picture:
//!
//! * the [`SERIES_COLUMNS`] of every step,
//! * the heaviest contacts of every shown step,
//! * how each island was solved: every step's while they are few, else of every second, fourth…,
//! * pose and velocity of every body, and all contacts, at *key steps*: every step of a small run,
//!   every n-th of a large one.
//!
//! A page has at most 25 MB, whatever happens in the run: where its numbers hardly deflate, steps are left
//! out. Only the figures, 168 bytes a step, never are, so that a run of some 100,000 steps has more.
//!
//! Between key steps the page shows the numbers of the nearest one and says which it is.
//!
//! ```
//! use moreau::{Body, Shape, Vec3, World, WorldSettings, vec3};
//! use moreau_page::{About, Recording, html};
//!
//! let mut world = World::new(WorldSettings::default())?;
//! world.add(Body::fixed(Shape::half_space(Vec3::Y)))?;
//! world.add(Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 0.6, 0.0)))?;
//! let mut recording = Recording::start(&world, &[], 20);
//! for _ in 0..20 {
//!     let report = world.step(1.0 / 60.0)?;
//!     recording.step(&world, &report);
//! }
//! let page = html(&recording, &About::named("cube", 1.0 / 60.0));
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod contacts;
mod exact;
mod frame;
mod html;
mod islands;
mod pack;
mod recording;
mod solids;

pub use frame::{
    BodyRecord, BodyState, ContactState, Contacts, Frame, IslandState, JointRecord, SERIES_COLUMNS,
    Sample, Stage, state_sample, up,
};
pub use html::{About, Gate, History, html, html_overlaid};
pub use recording::Recording;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
