//! The contacts of a frame, and their bytes.
//!
//! Contacts are kept in chunks of whole pairs that can each be read alone. In a chunk each number is
//! predicted from the contact before; what a manifold's points share (normal, friction, restitution)
//! so takes half a byte, and the lever arm on B follows from the one on A:
//!
//! ```text
//! r_b = r_a + phi n - (x_b - x_a),      x_b - x_a the same for all points of a pair
//! ```
//!
//! The tangents are left out where they are those of [`tangent_basis`].

use crate::bits::{Packer, Torn, Unpacker};
use moreau_collision::FeatureId;
use moreau_math::{Vec3, tangent_basis};
use moreau_pipeline::Contact;

/// A chunk ends with the pair in which it reaches this many points.
const CHUNK: usize = 512;

/// A contact point of a frame: its geometry at the start of the step, the impulses that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// The step after which it was recorded.
    pub frame: u64,
    /// Its index among the contacts of the frame, which are in id order.
    pub ordinal: usize,
    /// The contact.
    pub contact: Contact,
}

impl ContactRecord {
    /// How deep the bodies overlap, m; 0 where they do not.
    pub fn penetration(&self) -> f64 {
        penetration(&self.contact)
    }

    /// How fast they came together before the step, m/s; 0 where they did not.
    pub fn approach_speed(&self) -> f64 {
        approach_speed(&self.contact)
    }

    /// Length of the friction impulse, N s.
    pub fn tangential_impulse(&self) -> f64 {
        let i = self.contact.impulse;
        (i.y * i.y + i.z * i.z).sqrt()
    }
}

pub(crate) fn penetration(contact: &Contact) -> f64 {
    (-contact.separation).max(0.0)
}

pub(crate) fn approach_speed(contact: &Contact) -> f64 {
    (-contact.approach_velocity).max(0.0)
}

/// The slots of both bodies in one number that sorts like the contacts. Slots are counted from 0, so
/// that it is never negative.
pub(crate) fn pair_key(contact: &Contact) -> i64 {
    i64::from(contact.a.index) << 32 | i64::from(contact.b.index)
}

/// A run of contacts that are packed together.
pub(crate) struct Chunk<'a> {
    /// Index of the first among the frame's.
    pub(crate) first: usize,
    pub(crate) contacts: &'a [Contact],
}

impl Chunk<'_> {
    /// The largest of a quantity that is never negative.
    pub(crate) fn max(&self, quantity: impl Fn(&Contact) -> f64) -> f64 {
        self.contacts.iter().map(quantity).fold(0.0, f64::max)
    }

    /// First and last pair.
    pub(crate) fn pairs(&self) -> (i64, i64) {
        let key = |c: Option<&Contact>| c.map_or(0, pair_key);
        (key(self.contacts.first()), key(self.contacts.last()))
    }
}

/// Cuts the contacts of a frame into chunks.
pub(crate) fn chunks(contacts: &[Contact]) -> impl Iterator<Item = Chunk<'_>> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let rest = contacts.get(first..).filter(|rest| !rest.is_empty())?;
        let mut length = CHUNK.min(rest.len());
        let last = pair_key(&rest[length - 1]);
        while length < rest.len() && pair_key(&rest[length]) == last {
            length += 1;
        }
        let chunk = Chunk {
            first,
            contacts: &rest[..length],
        };
        first += length;
        Some(chunk)
    })
}

const SAME_PAIR: u64 = 1;
const PLAIN: u64 = 2;
const DERIVED: u64 = 4;

fn same_pair(c: &Contact, d: &Contact) -> bool {
    (c.a, c.b) == (d.a, d.b)
}

/// Whether it is between first generations of bodies and has no parts.
fn plain(c: &Contact) -> bool {
    (c.a.generation, c.b.generation, c.part_a, c.part_b) == (0, 0, 0, 0)
}

fn bits(v: Vec3) -> [u64; 3] {
    v.to_array().map(f64::to_bits)
}

fn derived(c: &Contact) -> bool {
    let (t1, t2) = tangent_basis(c.normal);
    bits(t1) == bits(c.tangent1) && bits(t2) == bits(c.tangent2)
}

/// What the lever arm on B should be, by the point before.
fn lever_b(c: &Contact, before: &Contact) -> Vec3 {
    let offset = if same_pair(c, before) {
        before.lever_a + before.normal * before.separation - before.lever_b
    } else {
        Vec3::ZERO
    };
    c.lever_a + c.normal * c.separation - offset
}

/// Packs a chunk.
pub(crate) fn pack(contacts: &[Contact], packer: &mut Packer) {
    packer.integer(contacts.len() as u64);
    let mut before = Contact::NONE;
    for c in contacts {
        let mut flags = 0;
        for (flag, set) in [
            (SAME_PAIR, same_pair(c, &before)),
            (PLAIN, plain(c)),
            (DERIVED, derived(c)),
        ] {
            flags |= if set { flag } else { 0 };
        }
        packer.integer(flags);
        if flags & SAME_PAIR == 0 {
            packer.near(c.a.index.into(), before.a.index.into());
            packer.near(c.b.index.into(), before.b.index.into());
        }
        if flags & PLAIN == 0 {
            packer.near(c.a.generation.into(), before.a.generation.into());
            packer.near(c.b.generation.into(), before.b.generation.into());
            packer.near(c.part_a.into(), before.part_a.into());
            packer.near(c.part_b.into(), before.part_b.into());
        }
        packer.near(c.feature.0.into(), before.feature.0.into());
        packer.reals(c.normal.to_array(), before.normal.to_array());
        if flags & DERIVED == 0 {
            packer.reals(c.tangent1.to_array(), before.tangent1.to_array());
            packer.reals(c.tangent2.to_array(), before.tangent2.to_array());
        }
        packer.real(c.separation, before.separation);
        packer.reals(c.lever_a.to_array(), before.lever_a.to_array());
        packer.reals(c.lever_b.to_array(), lever_b(c, &before).to_array());
        packer.real(c.friction, before.friction);
        packer.real(c.restitution, before.restitution);
        packer.real(c.approach_velocity, before.approach_velocity);
        // An open contact has none at all.
        packer.reals(c.impulse.to_array(), [0.0; 3]);
        before = *c;
    }
}

/// Reads a chunk.
pub(crate) fn unpack(block: &[u8]) -> Result<Vec<Contact>, Torn> {
    let mut reader = Unpacker::new(block)?;
    let count = usize::try_from(reader.integer()?).map_err(|_| Torn)?;
    // A contact takes three bytes at least.
    if count > block.len() {
        return Err(Torn);
    }
    let mut contacts = Vec::with_capacity(count);
    let mut before = Contact::NONE;
    for _ in 0..count {
        let c = next(&mut reader, &before)?;
        contacts.push(c);
        before = c;
    }
    reader.finish()?;
    Ok(contacts)
}

fn next(reader: &mut Unpacker<'_>, before: &Contact) -> Result<Contact, Torn> {
    let mut c = *before;
    let flags = reader.integer()?;
    if flags & SAME_PAIR == 0 {
        c.a.index = reader.near_u32(before.a.index)?;
        c.b.index = reader.near_u32(before.b.index)?;
    }
    if flags & PLAIN == 0 {
        c.a.generation = reader.near_u32(before.a.generation)?;
        c.b.generation = reader.near_u32(before.b.generation)?;
        c.part_a = reader.near_u32(before.part_a)?;
        c.part_b = reader.near_u32(before.part_b)?;
    } else {
        (c.a.generation, c.b.generation) = (0, 0);
        (c.part_a, c.part_b) = (0, 0);
    }
    c.feature = FeatureId(reader.near_u32(before.feature.0)?);
    c.normal = Vec3::from_array(reader.reals(before.normal.to_array())?);
    if flags & DERIVED == 0 {
        c.tangent1 = Vec3::from_array(reader.reals(before.tangent1.to_array())?);
        c.tangent2 = Vec3::from_array(reader.reals(before.tangent2.to_array())?);
    } else {
        (c.tangent1, c.tangent2) = tangent_basis(c.normal);
    }
    c.separation = reader.real(before.separation)?;
    c.lever_a = Vec3::from_array(reader.reals(before.lever_a.to_array())?);
    c.lever_b = Vec3::from_array(reader.reals(lever_b(&c, before).to_array())?);
    c.friction = reader.real(before.friction)?;
    c.restitution = reader.real(before.restitution)?;
    c.approach_velocity = reader.real(before.approach_velocity)?;
    c.impulse = Vec3::from_array(reader.reals([0.0; 3])?);
    Ok(c)
}
