//! The hot records of a sweep.
//!
//! ```text
//! Pack   352 bytes of lanes and indices, one for four pairs of bodies
//! Point  416 bytes, one for four contacts, read once a sweep
//! impulses 96 bytes, velocities and inverse masses 64 bytes a body
//! ```
//!
//! Records lie in the order of a sweep: a run of packs with n contacts each, and their points,
//! n to a pack. Lanes without a pair point at a body that does not exist, and all of their
//! coefficients are zero, so that they do nothing.

use crate::colour::Colouring;
use crate::lanes::Quad;
use moreau_constraint::{BodyInput, ContactProblem};
use moreau_math::{Mat3, Vec3, Velocity};

/// Four pairs of bodies.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Pack {
    pub(crate) normal: [Quad; 3],
    pub(crate) tangent1: [Quad; 3],
    pub(crate) tangent2: [Quad; 3],
    pub(crate) friction: Quad,
    pub(crate) a: [u32; 4],
    pub(crate) b: [u32; 4],
}
const _: () = assert!(size_of::<Pack>() == 352);

/// One contact of each of four pairs. W is the contact's Delassus block, 1/kg.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Point {
    /// m, world axes.
    pub(crate) lever_a: [Quad; 3],
    pub(crate) lever_b: [Quad; 3],
    /// m/s, contact frame.
    pub(crate) bias: [Quad; 3],
    /// 1/W_nn.
    pub(crate) inverse_normal: Quad,
    /// W_t1n, W_t2n.
    pub(crate) coupling: [Quad; 2],
    /// 1/(largest eigenvalue of W_tt).
    pub(crate) step: Quad,
}
const _: () = assert!(size_of::<Point>() == 416);

/// Velocity (linear, angular, two spare) or inverse mass properties (1/m, xx yy zz; xy xz yz, spare).
pub(crate) type BodyRecord = [Quad; 2];

/// A run of packs of one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) packs: std::ops::Range<usize>,
    pub(crate) points: std::ops::Range<usize>,
    /// Contacts of each pair.
    pub(crate) count: usize,
}

/// Everything that a sweep reads or writes; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    pub(crate) runs: Vec<Run>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) points: Vec<Point>,
    /// trace(W)/3 of each contact.
    pub(crate) scales: Vec<Quad>,
    pub(crate) impulses: Vec<[Quad; 3]>,
    /// Contact in each lane, `NONE` where there is none.
    pub(crate) contacts: Vec<[u32; 4]>,
    pub(crate) velocities: Vec<BodyRecord>,
    pub(crate) masses: Vec<BodyRecord>,
    pub(crate) moves: Vec<bool>,
    pub(crate) colouring: Colouring,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Packed {
    /// Packs `problem`, with zero impulses and free velocities.
    pub(crate) fn load(&mut self, problem: &ContactProblem) {
        self.moves.clear();
        let bodies = problem.bodies();
        self.moves
            .extend(bodies.iter().map(|body| !body.is_immovable()));
        self.masses.clear();
        self.masses.extend(bodies.iter().map(mass_record));
        // The body of lanes without a pair.
        self.masses.push(BodyRecord::default());
        self.colouring.build(problem.contacts(), &self.moves);
        self.runs.clear();
        self.packs.clear();
        self.points.clear();
        self.scales.clear();
        self.contacts.clear();
        let nobody = bodies.len() as u32;
        for run in &self.colouring.runs {
            let (packs, points) = (self.packs.len(), self.points.len());
            for units in self.colouring.units[run.units.clone()].chunks(4) {
                let mut pack = Pack {
                    a: [nobody; 4],
                    b: [nobody; 4],
                    ..Pack::default()
                };
                let first = self.points.len();
                self.points.resize(first + run.count, Point::default());
                self.scales.resize(first + run.count, Quad([1.0; 4]));
                self.contacts.resize(first + run.count, [NONE; 4]);
                for (lane, unit) in units.iter().enumerate() {
                    let start = unit.first as usize;
                    let frame = &problem.contacts()[start].frame;
                    (pack.a[lane], pack.b[lane]) = (unit.a, unit.b);
                    put(&mut pack.normal, lane, frame.normal);
                    put(&mut pack.tangent1, lane, frame.tangent1);
                    put(&mut pack.tangent2, lane, frame.tangent2);
                    pack.friction.0[lane] = problem.contacts()[start].friction;
                    for k in 0..run.count {
                        let c = &problem.contacts()[start + k];
                        let point = &mut self.points[first + k];
                        put(&mut point.lever_a, lane, c.lever_a);
                        put(&mut point.lever_b, lane, c.lever_b);
                        put(&mut point.bias, lane, c.bias);
                        let w = problem.delassus_block(c);
                        set_block(point, lane, &w);
                        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
                        self.scales[first + k].0[lane] = trace * (1.0 / 3.0);
                        self.contacts[first + k][lane] = (start + k) as u32;
                    }
                }
                self.packs.push(pack);
            }
            self.runs.push(Run {
                packs: packs..self.packs.len(),
                points: points..self.points.len(),
                count: run.count,
            });
        }
        self.impulses.clear();
        self.impulses
            .resize(self.points.len(), [Quad::default(); 3]);
        self.reset_velocities(problem);
    }

    /// Free velocities.
    pub(crate) fn reset_velocities(&mut self, problem: &ContactProblem) {
        self.velocities.clear();
        self.velocities
            .extend(problem.bodies().iter().map(|b| record(&b.velocity)));
        self.velocities.push(BodyRecord::default());
    }

    pub(crate) fn set_impulses(&mut self, impulses: &[Vec3]) {
        for (contacts, lanes) in self.contacts.iter().zip(&mut self.impulses) {
            for (lane, contact) in contacts.iter().enumerate() {
                if *contact != NONE {
                    put(lanes, lane, impulses[*contact as usize]);
                }
            }
        }
    }

    pub(crate) fn get_impulses(&self, impulses: &mut [Vec3]) {
        for (contacts, lanes) in self.contacts.iter().zip(&self.impulses) {
            for (lane, contact) in contacts.iter().enumerate() {
                if *contact != NONE {
                    impulses[*contact as usize] =
                        Vec3::from_array(lanes.map(|component| component.0[lane]));
                }
            }
        }
    }

    pub(crate) fn get_velocities(&self, velocities: &mut Vec<Velocity>) {
        velocities.clear();
        let bodies = self.velocities.len() - 1;
        velocities.extend(self.velocities[..bodies].iter().map(velocity));
    }
}

pub(crate) fn record(v: &Velocity) -> BodyRecord {
    let (l, w) = (v.linear, v.angular);
    [Quad([l.x, l.y, l.z, w.x]), Quad([w.y, w.z, 0.0, 0.0])]
}

pub(crate) fn velocity([first, second]: &BodyRecord) -> Velocity {
    let ([x, y, z, wx], [wy, wz, ..]) = (first.0, second.0);
    Velocity::new(Vec3::new(x, y, z), Vec3::new(wx, wy, wz))
}

fn mass_record(body: &BodyInput) -> BodyRecord {
    let i = &body.inverse_inertia;
    [
        Quad([body.inverse_mass, i.xx, i.yy, i.zz]),
        Quad([i.xy, i.xz, i.yz, 0.0]),
    ]
}

fn put(to: &mut [Quad; 3], lane: usize, v: Vec3) {
    to[0].0[lane] = v.x;
    to[1].0[lane] = v.y;
    to[2].0[lane] = v.z;
}

/// 1/x, or 0 where that is no number: nothing moves there.
fn inverse(x: f64) -> f64 {
    let inverse = 1.0 / x;
    if inverse > 0.0 && inverse.is_finite() {
        inverse
    } else {
        0.0
    }
}

fn set_block(point: &mut Point, lane: usize, w: &Mat3) {
    point.inverse_normal.0[lane] = inverse(w.x_axis.x);
    point.coupling[0].0[lane] = w.x_axis.y;
    point.coupling[1].0[lane] = w.x_axis.z;
    let (t11, t12, t22) = (w.y_axis.y, w.y_axis.z, w.z_axis.z);
    let (mean, half) = (0.5 * (t11 + t22), 0.5 * (t11 - t22));
    let largest = mean + (half * half + t12 * t12).sqrt();
    point.step.0[lane] = inverse(largest);
}
