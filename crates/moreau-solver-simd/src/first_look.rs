//! A first look at a problem and its warm start, before anything is laid out: once through the contacts, which are
//! large, for all that is asked of each.
//!
//! # Contacts that wait
//!
//! Of the contacts of a pile about half are gaps that nothing closes. A contact c waits where its warm
//! start is zero and, at the velocities of the warm start,
//!
//! ```text
//! s_n(c) > margin = 4 (mean of e),    e = |s_n| where the warm start presses, max(0, -s_n) elsewhere
//! ```
//!
//! with s_n = u_n + b_n in m/s, and the mean over all contacts: e is how far velocities will have to
//! change. A sweep leaves waiting contacts out. After 1, 2, 4, 8, ... sweeps, and with each look at the
//! residual, they are looked at too, and one whose s_n has become negative is visited from then on. What is returned
//! holds for all contacts, waiting or not.
//!
//! # What the residual is at least
//!
//! The natural map of a contact is no less than [`NORMAL_SHARE`] of -s_n. Where that tells that the warm start is no
//! answer, nobody need work out its residual.

use crate::colour::{Kind, UnitShape};
use moreau_constraint::{ContactPoint, ContactProblem, Impulses, project_disc};
use moreau_math::{Vec3, Velocity};
use moreau_solver::NORMAL_SHARE;
use rayon::prelude::*;

/// Margin in units of the errors' mean.
const MARGIN: f64 = 4.0;

/// In smaller problems, and those of which less than an eighth could wait, none does: it is not worth the looks.
const FEWEST: usize = 64;

/// Contacts that a thread looks at by itself.
const SHARE: usize = 512;

/// Velocities (m/s) and coefficients of friction up to which the warm start is surely of some use:
/// (1 + mu) |u + b| is more than any natural map, and these are far less than what makes it useless.
const USUAL_SPEED: f64 = 1e6;
const USUAL_FRICTION: f64 = 100.0;

/// By how much a square may be too large because it was rounded, in parts of it.
const ROUNDED: f64 = 8.0 * f64::EPSILON;

/// What the layout asks of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Glance {
    /// Its bodies.
    pub(crate) pair: [u32; 2],
    /// How its bodies may be visited, if it is the only contact of its unit.
    pub(crate) shape: UnitShape,
    friction: bool,
    /// Whether its velocity, bias or friction is beyond all that is usual.
    extreme: bool,
}

impl Glance {
    fn of(c: &ContactPoint, bodies: &[Kind], u: Vec3) -> Self {
        let usual = |v: Vec3| v.length_squared() <= USUAL_SPEED * USUAL_SPEED;
        Self {
            pair: [c.a, c.b].map(|body| body as u32),
            shape: UnitShape::of(c, bodies),
            friction: c.friction != 0.0,
            extreme: !(usual(u) && usual(c.bias) && c.friction <= USUAL_FRICTION),
        }
    }
}

/// Contacts of a share of [`FirstLook::see`].
const SEEN: usize = 4096;

/// Bodies of a contact that pushes none.
const NOBODY: [u32; 2] = [u32::MAX; 2];

/// What is known of contacts together.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Of what closes or opens against the warm start's impulses, m/s.
    sum: f64,
    /// Normal velocity (m/s) of the contact that closes fastest; 0 where none does.
    lowest: f64,
    extreme: bool,
    friction: bool,
}

impl Seen {
    fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            lowest: self.lowest.min(other.lowest),
            extreme: self.extreme | other.extreme,
            friction: self.friction | other.friction,
        }
    }
}

/// What is known of a problem and its warm start; keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct FirstLook {
    /// Of each contact.
    pub(crate) glances: Vec<Glance>,
    /// Whether it waits.
    pub(crate) waits: Vec<bool>,
    /// Whether any contact has friction.
    pub(crate) friction: bool,
    /// Whether the warm start has any impulses.
    pub(crate) warm: bool,
    /// No less than this is the residual of the warm start, m/s; 0 where nothing is known of it, or it might be of no use.
    pub(crate) least_residual: f64,
    velocities: Vec<Velocity>,
    /// The bodies that each contact of a warm start pushes, where threads share them.
    pushed: Vec<[u32; 2]>,
    is_moved: bool,
    seen: Vec<Seen>,
    normal: Vec<f64>,
}

impl FirstLook {
    /// Of a problem without contacts and rows.
    pub(crate) fn clear(&mut self) {
        self.glances.clear();
        self.waits.clear();
        (self.friction, self.warm, self.is_moved) = (false, false, false);
        self.least_residual = 0.0;
    }

    /// What velocities the warm start makes, where that was worked out.
    pub(crate) fn velocities(&self) -> Option<&[Velocity]> {
        self.is_moved.then_some(&self.velocities)
    }

    /// Puts the warm start into its cones and bounds, and looks at all contacts. None waits where `may_wait` is false.
    /// `parallel`: on the threads of the pool.
    pub(crate) fn look(
        &mut self,
        problem: &ContactProblem,
        bodies: &[Kind],
        impulses: &mut Impulses,
        (may_wait, parallel): (bool, bool),
    ) {
        self.clear();
        let contacts = problem.contacts();
        self.waits.resize(contacts.len(), false);
        if !may_wait || contacts.len() < FEWEST {
            self.warm = make_feasible(problem, impulses, |_, _| {});
            let glances = contacts.iter().map(|c| Glance::of(c, bodies, Vec3::ZERO));
            self.glances.extend(glances);
            self.friction = self.glances.iter().any(|glance| glance.friction);
            return;
        }
        self.warm = self.move_bodies(problem, impulses, parallel);
        let v = &self.velocities;
        let both = |c: &ContactPoint| {
            let u = v[c.b].at(c.lever_b) - v[c.a].at(c.lever_a);
            let speed = c.frame.normal.dot(u) + c.bias.x;
            (speed, Glance::of(c, bodies, u))
        };
        if parallel {
            let both = contacts.par_iter().with_min_len(SHARE).map(both);
            both.unzip_into_vecs(&mut self.normal, &mut self.glances);
        } else {
            self.normal.clear();
            for (speed, glance) in contacts.iter().map(both) {
                self.normal.push(speed);
                self.glances.push(glance);
            }
        }
        let Seen {
            sum,
            lowest,
            extreme,
            friction,
        } = self.see(&impulses.contacts, parallel);
        self.friction = friction;
        if !extreme && problem.rows().is_empty() {
            self.least_residual = NORMAL_SHARE * -lowest;
        }
        self.choose(&impulses.contacts, MARGIN * sum / contacts.len() as f64);
    }

    /// What there is to be known of all contacts together. By shares, so that it has the same bits for any number of threads.
    fn see(&mut self, impulses: &[Vec3], parallel: bool) -> Seen {
        let of = |((speeds, impulses), glances): ((&[f64], &[Vec3]), &[Glance])| {
            let mut seen = Seen::default();
            for ((s, l), glance) in speeds.iter().zip(impulses).zip(glances) {
                let error = if l.x > 0.0 { *s } else { s.min(0.0) };
                seen.sum += error.abs();
                seen.lowest = seen.lowest.min(*s);
                seen.extreme |= glance.extreme;
                seen.friction |= glance.friction;
            }
            seen
        };
        let speeds = self.normal.chunks(SEEN).zip(impulses.chunks(SEEN));
        let shares = speeds.zip(self.glances.chunks(SEEN));
        if parallel {
            let speeds = self.normal.par_chunks(SEEN).zip(impulses.par_chunks(SEEN));
            let shares = speeds.zip(self.glances.par_chunks(SEEN));
            shares.map(of).collect_into_vec(&mut self.seen);
            self.seen.iter().copied().fold(Seen::default(), Seen::and)
        } else {
            shares.map(of).fold(Seen::default(), Seen::and)
        }
    }

    /// Makes the warm start feasible, and velocities from it; says whether there are any impulses.
    fn move_bodies(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        parallel: bool,
    ) -> bool {
        let v = &mut self.velocities;
        v.clear();
        v.extend(problem.bodies().iter().map(|body| body.velocity));
        let any = if parallel {
            let any = self.move_by_runs(problem, &mut impulses.contacts);
            make_rows_feasible(problem, impulses) || any
        } else {
            make_feasible(problem, impulses, |c, l| problem.apply_contact(c, l, v))
        };
        for (r, l) in problem.rows().iter().zip(&impulses.rows) {
            problem.apply_row(r, *l, &mut self.velocities);
        }
        self.is_moved = true;
        any
    }

    /// Each thread moves the bodies of a run of them, by all contacts that push one of these, in their order: the bits are
    /// those of one thread.
    fn move_by_runs(&mut self, problem: &ContactProblem, impulses: &mut [Vec3]) -> bool {
        let contacts = problem.contacts();
        self.pushed.resize(contacts.len(), NOBODY);
        let of_each = (contacts.par_iter())
            .zip(&mut *impulses)
            .zip(&mut self.pushed);
        let of_each = of_each.with_min_len(SHARE);
        let pushes = of_each.map(|((c, l), pushed)| {
            *pushed = NOBODY;
            if *l == Vec3::ZERO {
                return false;
            }
            *l = feasible(c, *l);
            *pushed = [c.a, c.b].map(|body| body as u32);
            true
        });
        if !pushes.reduce(|| false, |x, y| x | y) {
            return false;
        }
        let (pushed, impulses) = (&self.pushed[..], &*impulses);
        let run = self.velocities.len().div_ceil(rayon::current_num_threads());
        let runs = self.velocities.par_chunks_mut(run.max(1)).enumerate();
        runs.for_each(|(k, velocities)| {
            let first = k * run;
            for (i, ends) in pushed.iter().enumerate() {
                let [a, b] = ends.map(|end| (end as usize).wrapping_sub(first));
                if let Some(v) = velocities.get_mut(a) {
                    problem.push_a(&contacts[i], impulses[i], v);
                }
                if let Some(v) = velocities.get_mut(b) {
                    problem.push_b(&contacts[i], impulses[i], v);
                }
            }
        });
        true
    }

    fn choose(&mut self, impulses: &[Vec3], margin: f64) {
        let mut count = 0;
        let of_each = self.normal.iter().zip(impulses);
        for (waits, (s, l)) in self.waits.iter_mut().zip(of_each) {
            *waits = l.x == 0.0 && l.y == 0.0 && l.z == 0.0 && *s > margin;
            count += usize::from(*waits);
        }
        if count * 8 < impulses.len() {
            self.waits.fill(false);
        }
    }
}

/// Puts a warm start into its cones and bounds, and tells of each contact that has an impulse; says whether there are any. What
/// was in its cone before it was turned into other axes is left as it is.
pub(crate) fn make_feasible(
    problem: &ContactProblem,
    impulses: &mut Impulses,
    mut has: impl FnMut(&ContactPoint, Vec3),
) -> bool {
    let mut any = false;
    for (c, l) in problem.contacts().iter().zip(&mut impulses.contacts) {
        // In its cone, and the contact need not be fetched.
        if *l == Vec3::ZERO {
            continue;
        }
        any = true;
        *l = feasible(c, *l);
        has(c, *l);
    }
    make_rows_feasible(problem, impulses) || any
}

/// Says whether there are any impulses of rows.
fn make_rows_feasible(problem: &ContactProblem, impulses: &mut Impulses) -> bool {
    let mut any = false;
    for (r, l) in problem.rows().iter().zip(&mut impulses.rows) {
        *l = l.clamp(r.lower, r.upper);
        any |= *l != 0.0;
    }
    any
}

/// The impulse of a contact in its cone.
fn feasible(c: &ContactPoint, l: Vec3) -> Vec3 {
    let normal = l.x.max(0.0);
    let radius = c.friction * normal;
    let limit = radius * radius * (1.0 + ROUNDED);
    let squared = l.y * l.y + l.z * l.z;
    let (t1, t2) = if squared <= limit && squared >= f64::MIN_POSITIVE && limit.is_finite() {
        (l.y, l.z)
    } else {
        project_disc(l.y, l.z, radius)
    };
    Vec3::new(normal, t1, t2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_constraint::{BodyInput, ContactInput};
    use moreau_math::{SymMat3, vec3};
    use moreau_solver::certify;

    /// Numbers in -0.5..0.5 that follow from `k`.
    fn part(k: usize) -> f64 {
        (k * 7919 % 1013) as f64 / 1013.0 - 0.5
    }

    /// Boxes in a row, each on the ground and against the next one, with a warm start that is mostly wrong.
    fn row(seed: usize, friction: f64) -> (ContactProblem, Impulses) {
        let mut problem = ContactProblem::new(0.01).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        for k in 1..=60 {
            let k = seed + 7 * k;
            let body = BodyInput {
                inverse_mass: 1.0 + part(k),
                inverse_inertia: SymMat3::from_diagonal(vec3(4.0, 5.0, 6.0 + part(k))),
                velocity: Velocity::new(vec3(part(k), part(k + 1), part(k + 2)), Vec3::ZERO),
            };
            problem.add_body(body).unwrap();
        }
        for k in 1..=60 {
            for (a, b) in [(0, k), (k, k % 60 + 1)] {
                let contact = ContactInput {
                    a,
                    b,
                    normal: vec3(part(seed + k), 1.0, part(seed + k + b)).normalize(),
                    lever_a: 0.5 * Vec3::X,
                    lever_b: vec3(-0.5, part(seed + b), 0.0),
                    separation: 0.01 * part(seed + 3 * k + b).max(0.0),
                    friction,
                    restitution: 0.0,
                };
                problem.add_contact(contact).unwrap();
            }
        }
        let mut impulses = problem.cold_start();
        for (k, l) in impulses.contacts.iter_mut().enumerate() {
            if k % 3 != 0 {
                *l = vec3(part(seed + k), part(seed + 2 * k), part(seed + 5 * k));
            }
        }
        (problem, impulses)
    }

    fn look(problem: &ContactProblem, impulses: &mut Impulses) -> FirstLook {
        let kinds: Vec<Kind> = problem.bodies().iter().enumerate().map(Kind::of).collect();
        let mut first_look = FirstLook::default();
        first_look.look(problem, &kinds, impulses, (true, false));
        first_look
    }

    #[test]
    fn the_residual_is_no_less_than_what_is_seen() {
        for seed in 0..200 {
            let (problem, mut impulses) = row(31 * seed, (seed % 4) as f64 * 0.4);
            if seed % 7 == 0 {
                impulses = problem.cold_start();
            }
            let first_look = look(&problem, &mut impulses);
            assert_eq!(first_look.warm, seed % 7 != 0);
            assert_eq!(first_look.friction, seed % 4 != 0);
            let residual = certify(&problem, &impulses).unwrap().natural_map;
            let least = first_look.least_residual;
            assert!(
                least > 0.0 && least <= (1.0 + 1e-9) * residual,
                "{least} {residual}"
            );
            let velocities = problem.velocities(&impulses);
            assert_eq!(first_look.velocities().unwrap(), velocities);
        }
    }

    #[test]
    fn threads_see_the_same() {
        for (seed, open) in [(7, 0.0), (8, 1.0)] {
            let (mut problem, warm) = row(seed, 0.4);
            let kinds: Vec<Kind> = problem.bodies().iter().enumerate().map(Kind::of).collect();
            for i in (0..problem.contacts().len()).step_by(3) {
                let bias = problem.contacts()[i].bias + vec3(1e3 * open, 0.0, 0.0);
                problem.set_bias(i, bias).unwrap();
            }
            let seen = |parallel: bool| {
                let (mut first_look, mut impulses) = (FirstLook::default(), warm.clone());
                first_look.look(&problem, &kinds, &mut impulses, (true, parallel));
                let (warm, friction) = (first_look.warm, first_look.friction);
                let numbers = (first_look.velocities, first_look.least_residual, impulses);
                (
                    numbers,
                    first_look.glances,
                    first_look.waits,
                    warm,
                    friction,
                )
            };
            let one = seen(false);
            assert!(one.3 && one.4 && one.2.contains(&(open > 0.0)));
            for threads in [1, 2, 3, 8, 61, 100] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let many = pool.build().unwrap().install(|| seen(true));
                assert_eq!(many, one, "{threads}");
            }
        }
    }

    /// The residual might be any number.
    #[test]
    fn nothing_is_said_of_what_is_beyond_all_measure() {
        let (problem, warm) = row(5, 0.5);
        assert!(look(&problem, &mut warm.clone()).least_residual > 0.0);
        let mut impulses = warm;
        impulses.contacts[1] = vec3(1e7, 0.0, 0.0);
        assert_eq!(look(&problem, &mut impulses).least_residual, 0.0);
        let (slippery, mut impulses) = row(5, 200.0);
        assert_eq!(look(&slippery, &mut impulses).least_residual, 0.0);
    }

    #[test]
    fn what_was_in_its_cone_but_for_rounding_is_left() {
        let (problem, _) = row(9, 0.3);
        let mut impulses = problem.cold_start();
        let length = 0.3 * 2.0;
        let turned = |angle: f64| {
            let (sin, cos) = (moreau_math::libm::sin(angle), moreau_math::libm::cos(angle));
            (length * sin, length * cos)
        };
        for (k, l) in impulses.contacts.iter_mut().enumerate() {
            let (t1, t2) = turned(k as f64);
            *l = vec3(2.0, t1, t2);
        }
        let before = impulses.clone();
        assert!(make_feasible(&problem, &mut impulses, |_, _| {}));
        assert_eq!(impulses, before);
        for (more, l) in [1e-14, 1e-3, 1.0].iter().zip(&mut impulses.contacts) {
            (l.y, l.z) = (l.y * (1.0 + more), l.z * (1.0 + more));
        }
        impulses.contacts[3] = vec3(-1.0, 0.1, 0.0);
        impulses.contacts[4] = vec3(1e200, 1e250, 0.0);
        impulses.contacts[5] = vec3(0.0, 1e-300, 0.0);
        make_feasible(&problem, &mut impulses, |_, _| {});
        for (k, l) in impulses.contacts.iter().enumerate().take(6) {
            let tangential = moreau_math::libm::hypot(l.y, l.z);
            assert!(tangential <= 0.3 * l.x * (1.0 + 1e-15), "{k} {l}");
            assert!(k >= 3 || tangential > 0.3 * l.x * (1.0 - 1e-15), "{k} {l}");
        }
    }
}
