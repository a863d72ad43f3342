//! Contact impulses remembered from step to step: the warm start of the next solve.
//!
//! **Owns**: the impulses of the last step, keyed by pair and feature, and the rule that says when
//! one of them still fits the contact that it is offered to.
//!
//! **Must not know**: shapes, solvers, worlds. Ids and feature numbers mean nothing to it.
//!
//! ```
//! use moreau_cache::{CachedImpulse, ContactCache};
//! use moreau_math::{Vec3, vec3};
//!
//! let mut cache = ContactCache::default();
//! cache.begin();
//! let tangential = vec3(0.3, 0.0, 0.1); // world vector, N s, acting on the second body
//! cache.push((1, 2), 0, CachedImpulse { normal: Vec3::Y, normal_impulse: 2.0, tangential });
//! cache.finish();
//!
//! let warm = cache.look_up((1, 2), 0, Vec3::Y).unwrap(); // the next step's contact
//! assert_eq!((warm.normal_impulse, warm.tangential), (2.0, tangential));
//! assert!(cache.look_up((1, 2), 0, Vec3::X).is_none()); // the contact turned by 90 degrees
//! assert_eq!(cache.counters().hits, 1);
//! ```
//!
//! A cache is plain data in the order of its keys: serialized and read back it is the same bit for
//! bit, and it does not depend on the order in which contacts were pushed.

mod cache;
mod entry;
mod new_entries;

pub use cache::{CacheCounters, CacheReader, CacheSettings, ContactCache};
pub use entry::{CacheEntry, CachedImpulse, PairKey};
pub use new_entries::NewEntries;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
