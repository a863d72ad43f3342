//! Numbers kept with all their bits: of bodies at key steps, of the heaviest contacts, of all
//! contacts at key steps.

use crate::frame::{BodyState, ContactState, IslandState, Stage};

/// Whole numbers of a contact, in this order.
pub(crate) const CONTACT_WORDS: [&str; 6] = ["index", "a", "b", "part_a", "part_b", "feature"];

/// Numbers of a contact, in this order.
pub(crate) const CONTACT_COLUMNS: [&str; 25] = [
    "impulse_normal",
    "impulse_tangent1",
    "impulse_tangent2",
    "separation",
    "approach_velocity",
    "friction",
    "restitution",
    "normal_x",
    "normal_y",
    "normal_z",
    "tangent1_x",
    "tangent1_y",
    "tangent1_z",
    "tangent2_x",
    "tangent2_y",
    "tangent2_z",
    "lever_a_x",
    "lever_a_y",
    "lever_a_z",
    "lever_b_x",
    "lever_b_y",
    "lever_b_z",
    "point_x",
    "point_y",
    "point_z",
];

/// Whole numbers of an island, in this order: solver and stop are indices in [`ExactLog::names`], the worst
/// contact is its index plus one, or 0.
pub(crate) const ISLAND_WORDS: [&str; 10] = [
    "first",
    "bodies",
    "contact_points",
    "joints",
    "solver",
    "stop",
    "sweeps",
    "factorizations",
    "worst",
    "guarded",
];

/// Numbers of an island.
pub(crate) const ISLAND_COLUMNS: [&str; 1] = ["residual"];

/// Numbers of a body, in this order.
pub(crate) const BODY_COLUMNS: [&str; 13] = [
    "x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz",
];

/// Most heaviest contacts of a step, and of all steps.
const MOST_HEAVIEST: u64 = 8;
const MOST_HEAVIEST_TOTAL: u64 = 8_000;

/// Most bodies times key steps, 104 bytes each.
const MOST_BODIES: u64 = 60_000;

/// Most contacts of all key steps, 224 bytes each.
const MOST_CONTACTS: usize = 25_000;

/// Most islands of all key steps, 48 bytes each.
const MOST_ISLANDS: usize = 50_000;

/// Rows of whole numbers and numbers of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows<const W: usize, const N: usize> {
    pub(crate) step: u64,
    pub(crate) words: Vec<[u32; W]>,
    pub(crate) numbers: Vec<[f64; N]>,
}

/// Contacts of a step.
pub(crate) type ContactRows = Rows<{ CONTACT_WORDS.len() }, { CONTACT_COLUMNS.len() }>;

/// Islands of a step.
pub(crate) type IslandRows = Rows<{ ISLAND_WORDS.len() }, { ISLAND_COLUMNS.len() }>;

impl<const W: usize, const N: usize> Rows<W, N> {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

/// Keeps every second, fourth… step until there are at most so many rows.
fn thin<const W: usize, const N: usize>(log: &mut Vec<Rows<W, N>>, stride: &mut u64, most: usize) {
    while log.len() > 2 && log.iter().map(Rows::len).sum::<usize>() > most {
        *stride *= 2;
        log.retain(|rows| rows.step.is_multiple_of(*stride));
    }
}

impl ContactRows {
    fn of(step: u64, contacts: &[ContactState], order: impl Iterator<Item = usize>) -> Self {
        let mut rows = Self {
            step,
            words: Vec::new(),
            numbers: Vec::new(),
        };
        for index in order {
            let ContactState {
                a,
                b,
                point,
                contact: c,
            } = contacts[index];
            rows.words
                .push([index as u32, a, b, c.part_a, c.part_b, c.feature.0]);
            let scalars = [c.separation, c.approach_velocity, c.friction, c.restitution];
            let vectors = [
                c.normal, c.tangent1, c.tangent2, c.lever_a, c.lever_b, point,
            ];
            let mut numbers = [0.0; CONTACT_COLUMNS.len()];
            numbers[..3].copy_from_slice(&c.impulse.to_array());
            numbers[3..7].copy_from_slice(&scalars);
            for (to, v) in numbers[7..].chunks_exact_mut(3).zip(vectors) {
                to.copy_from_slice(&v.to_array());
            }
            rows.numbers.push(numbers);
        }
        rows
    }
}

/// What is kept exactly.
#[derive(Clone, Debug)]
pub(crate) struct ExactLog {
    /// Bodies are kept of every how many steps.
    pub(crate) body_stride: u64,
    pub(crate) body_steps: Vec<u64>,
    /// [`BODY_COLUMNS`] of each body that moves, body by body, key step by key step.
    pub(crate) bodies: Vec<[f64; BODY_COLUMNS.len()]>,
    pub(crate) heaviest: Vec<ContactRows>,
    heaviest_most: usize,
    pub(crate) contacts: Vec<ContactRows>,
    pub(crate) contact_stride: u64,
    most_contacts: usize,
    pub(crate) islands: Vec<IslandRows>,
    pub(crate) island_stride: u64,
    /// Words that islands refer to.
    pub(crate) names: Vec<&'static str>,
}

impl ExactLog {
    /// For so many moving bodies and steps.
    pub(crate) fn new(moving: u64, steps: u64) -> Self {
        // The state before the first is one more.
        let states = steps.saturating_add(1);
        Self {
            body_stride: states.saturating_mul(moving).div_ceil(MOST_BODIES).max(1),
            body_steps: Vec::new(),
            bodies: Vec::new(),
            heaviest: Vec::new(),
            heaviest_most: (MOST_HEAVIEST_TOTAL / states).clamp(1, MOST_HEAVIEST) as usize,
            contacts: Vec::new(),
            contact_stride: 1,
            most_contacts: MOST_CONTACTS,
            islands: Vec::new(),
            island_stride: 1,
            names: Vec::new(),
        }
    }

    /// Takes a step; `always` keeps its bodies in any case.
    pub(crate) fn bodies(&mut self, step: u64, always: bool, stage: &Stage, bodies: &[BodyState]) {
        let key = step.is_multiple_of(self.body_stride) || always;
        if !key || self.body_steps.last() == Some(&step) {
            return;
        }
        self.body_steps.push(step);
        let moving = stage.bodies.iter().zip(bodies);
        let moving = moving.filter(|(record, _)| record.moves);
        self.bodies.extend(moving.map(|(_, body)| {
            let (p, q) = (body.pose.translation, body.pose.rotation);
            let (v, w) = (body.linear, body.angular);
            [
                p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z,
            ]
        }));
    }

    /// The contacts of a step with the largest normal impulses, the largest first.
    pub(crate) fn heaviest(&mut self, step: u64, contacts: &[ContactState]) {
        let weight = |i: usize| contacts[i].contact.impulse.x;
        let mut order: Vec<usize> = (0..contacts.len()).collect();
        let heavier = |a: &usize, b: &usize| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b));
        let most = self.heaviest_most;
        if order.len() > most {
            order.select_nth_unstable_by(most - 1, heavier);
            order.truncate(most);
        }
        order.sort_by(heavier);
        self.heaviest
            .push(Rows::of(step, contacts, order.into_iter()));
    }

    /// All contacts of a step, every step's while they are few, else of every second, fourth…
    pub(crate) fn contacts(&mut self, step: u64, contacts: &[ContactState]) {
        if !step.is_multiple_of(self.contact_stride) {
            return;
        }
        self.contacts
            .push(Rows::of(step, contacts, 0..contacts.len()));
        let most = self.most_contacts;
        thin(&mut self.contacts, &mut self.contact_stride, most);
    }

    /// The islands of a step, every step's while they are few, else of every second, fourth…
    pub(crate) fn islands(&mut self, step: u64, islands: &[IslandState]) {
        if !step.is_multiple_of(self.island_stride) {
            return;
        }
        let words = islands.iter().map(|island| {
            let (solver, stop) = (self.name(island.solver), self.name(island.stop));
            let worst = island.worst_contact.map_or(0, |index| index + 1);
            [
                island.first,
                island.bodies,
                island.contact_points,
                island.joints,
                solver,
                stop,
                island.sweeps,
                island.factorizations,
                worst,
                u32::from(island.guarded),
            ]
        });
        let words = words.collect();
        self.islands.push(Rows {
            step,
            words,
            numbers: islands.iter().map(|island| [island.residual]).collect(),
        });
        thin(&mut self.islands, &mut self.island_stride, MOST_ISLANDS);
    }

    /// The index of a word.
    fn name(&mut self, name: &'static str) -> u32 {
        let found = self.names.iter().position(|known| *known == name);
        found.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::{Vec3, World, WorldSettings};

    /// Contacts with these normal impulses.
    fn contacts(impulses: &[f64]) -> Vec<ContactState> {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let ground = moreau::Body::fixed(moreau::Shape::half_space(Vec3::Y));
        world.add(ground).unwrap();
        let ball = moreau::Body::dynamic(moreau::Shape::sphere(0.5)).at(Vec3::Y * 0.5);
        world.add(ball).unwrap();
        world.step(0.01).unwrap();
        let first = world.contacts()[0];
        let state = |x: &f64| ContactState {
            a: 0,
            b: 1,
            point: Vec3::X,
            contact: moreau::Contact {
                impulse: Vec3::X * *x,
                ..first
            },
        };
        impulses.iter().map(state).collect()
    }

    #[test]
    fn the_heaviest_come_first() {
        let mut log = ExactLog::new(1, 10_000);
        assert_eq!(log.heaviest_most, 1);
        log.heaviest(3, &contacts(&[1.0, 7.0, 2.0]));
        assert_eq!(log.heaviest[0].words[0][0], 1);
        assert_eq!(log.heaviest[0].numbers[0][0], 7.0);
        let mut log = ExactLog::new(1, 10);
        log.heaviest(0, &contacts(&[1.0, 7.0, 2.0, 7.0]));
        let order: Vec<_> = log.heaviest[0].words.iter().map(|w| w[0]).collect();
        assert_eq!(order, [1, 3, 2, 0]);
        log.heaviest(1, &contacts(&[1.0; 20]));
        let order: Vec<_> = log.heaviest[1].words.iter().map(|w| w[0]).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn key_steps_thin_out_evenly() {
        let mut log = ExactLog {
            most_contacts: 5,
            ..ExactLog::new(1, 16)
        };
        for step in 1..=16 {
            log.contacts(step, &contacts(&[1.0]));
        }
        let steps: Vec<_> = log.contacts.iter().map(|rows| rows.step).collect();
        assert_eq!((log.contact_stride, steps), (4, vec![4, 8, 12, 16]));
        assert_eq!(ExactLog::new(2000, 600).body_stride, 21);
    }
}
