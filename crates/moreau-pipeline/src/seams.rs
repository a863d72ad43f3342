//! Contacts at the seams between fixed bodies, and between the children of a fixed compound.
//!
//! A body that slides over flush tiles touches the edge of the next tile before it is above it, with a
//! normal that opposes its motion. Its contact G with the fixed tile g is such a ghost where another
//! contact S of the same body with a fixed tile s, normal n_s towards the body (that of the face of s), shows that g
//! offers nothing to run into:
//!
//! ```text
//! phi_S <= phi_G                        S is at least as close, or meets as soon
//! n_s·(p - p_s) <= slop                 no point p of G on g is above the plane of S,
//! n_s·(q - p_s) >= -slop - depth - turn none q on the body below the depth of S,
//! |n_s·(p or q - p_s)| <= slop + depth + fall  and those that are nearest lie in it
//! max over x in g of n_s·(x - p_s) <= slop   g ends at that plane
//! n_g != n_s                            and does not just carry on with it
//! ```
//!
//! A contact that only the free path through the step makes is found where gravity has taken the body below
//! the plane that carries it: that is the fall, and the part of it by which the body's turning does so.
//!
//! Of a tile that is a mesh or heightfield, g is only what makes the contact: the triangles of a face,
//! or the edge or vertex of a triangle that faces along the normal. So a slope that starts at a seam is
//! met on its face, and not at its lower edge. (Within one surface the triangles know their neighbours,
//! and there are no ghosts to take out.)
//!
//! A ghost that leans on n_s by less than 45 degrees may be what carries the body next: a side that comes down
//! askew over the seam. Its points stay, with the normal and the height over the plane of S in place of their own.
//!
//! Left out are only contacts with static and kinematic bodies; the step report counts them.

use crate::BodyId;
use crate::activity::Marks;
use crate::contact::Contact;
use crate::sweep::Path;
use crate::world::WorldState;

use moreau_constraint::ContactFrame;
use moreau_math::{Vec3, Velocity};
use std::ops::Range;

/// Least height that counts as a step, m: rounding of the poses.
const LEAST_STEP: f64 = 1e-9;

/// 1 - cos of the angle between normals that count as one.
const SAME_NORMAL: f64 = 1e-12;

/// Least cosine between the normals of a contact and of the face that makes it: 1 degree and a half.
const SAME_FACE: f64 = 0.99966;

/// Least cosine between the normals of a ghost and of its support for the ghost's points to stay.
const LEANS: f64 = 0.7;

/// Largest difference between a separation and that of its points, m, for them to be where the step starts.
const AT_START: f64 = 1e-9;

/// The points of a manifold of a dynamic body with one that is not.
#[derive(Clone, Debug)]
struct Group {
    body: BodyId,
    fixed: BodyId,
    /// Of the fixed body.
    part: u32,
    /// What of a compound the part belongs to.
    child: u32,
    points: Range<usize>,
    /// From the fixed body to the other.
    normal: Vec3,
    /// Least separation, m.
    separation: f64,
}

/// Memory that steps reuse.
#[derive(Default)]
pub(crate) struct Seams {
    groups: Vec<Group>,
    ghost: Vec<bool>,
    /// Manifolds that take the plane of another.
    leaning: Vec<(Group, Group)>,
}

impl Seams {
    /// Takes ghosts out of `points`; returns how many manifolds and how many points went. `mixed` are the points
    /// of each pair of which one body alone is dynamic.
    pub(crate) fn remove_ghosts(
        &mut self,
        (state, marks): (&WorldState, &[Marks]),
        (free, dt): (&[Velocity], f64),
        (points, mixed): (&mut Vec<Contact>, &[Range<usize>]),
    ) -> (usize, usize) {
        self.find_groups((state, marks), (points, mixed));
        if self.groups.len() < 2 {
            return (0, 0);
        }
        self.ghost.clear();
        self.ghost.resize(points.len(), false);
        let mut manifolds = 0;
        for run in self.groups.chunk_by(|g, h| g.body == h.body) {
            for (i, group) in run.iter().enumerate() {
                let covering = |i: usize, group: &Group| {
                    let others = run.iter().enumerate().filter(move |(k, _)| *k != i);
                    let motion = motion(state, free, group) * dt;
                    let covers =
                        |(_, s): &(usize, &Group)| covers((state, points), s, group, motion);
                    others
                        .filter(covers)
                        .min_by(|(_, s), (_, t)| s.separation.total_cmp(&t.separation))
                };
                let Some((mut k, mut support)) = covering(i, group) else {
                    continue;
                };
                // A ghost's own plane carries nothing: that of what covers it does.
                for _ in 0..run.len() {
                    match covering(k, support) {
                        Some(next) => (k, support) = next,
                        None => break,
                    }
                }
                if leans((state, marks, points), support, group) {
                    self.leaning.push((support.clone(), group.clone()));
                } else {
                    self.ghost[group.points.clone()].fill(true);
                    manifolds += 1;
                }
            }
        }
        for (support, group) in self.leaning.drain(..) {
            take_plane(state, points, &support, &group);
        }
        if manifolds == 0 {
            return (0, 0);
        }
        let before = points.len();
        let mut ghosts = self.ghost.iter();
        points.retain(|_| !ghosts.next().copied().unwrap_or(false));
        (manifolds, before - points.len())
    }

    fn find_groups(
        &mut self,
        (state, marks): (&WorldState, &[Marks]),
        (points, mixed): (&[Contact], &[Range<usize>]),
    ) {
        self.groups.clear();
        let manifolds = mixed.iter().flat_map(|pair| {
            let mut start = pair.start;
            let runs = points[pair.clone()].chunk_by(Contact::same_manifold);
            runs.map(move |run| {
                start += run.len();
                (start - run.len()..start, run)
            })
        });
        for (range, run) in manifolds {
            let (a, b) = (run[0].a, run[0].b);
            let (body, fixed, part, normal) = if marks[b.index as usize].is_dynamic() {
                (b, a, run[0].part_a, run[0].normal)
            } else {
                (a, b, run[0].part_b, -run[0].normal)
            };
            let shape = state.bodies[fixed.index as usize].value.as_ref();
            self.groups.push(Group {
                body,
                fixed,
                part,
                child: shape.map_or(0, |b| b.shape.child_of_part(part)),
                points: range,
                normal,
                separation: run
                    .iter()
                    .map(|p| p.separation)
                    .fold(f64::INFINITY, f64::min),
            });
        }
        self.groups
            .sort_unstable_by_key(|g| (g.body, g.fixed, g.part, g.points.start));
    }
}

/// The velocity of the body on its free path, relative to the fixed one.
fn motion(state: &WorldState, free: &[Velocity], group: &Group) -> Velocity {
    let velocity = |id: BodyId| {
        let body = state.bodies[id.index as usize].value.as_ref();
        let free = &free[id.index as usize];
        body.map_or(Velocity::ZERO, |body| Path::new(body, free).velocity)
    };
    velocity(group.body) - velocity(group.fixed)
}

/// Whether `support` shows that `group` is a ghost; `motion` is that of the free path through the step.
fn covers(
    (state, points): (&WorldState, &[Contact]),
    support: &Group,
    group: &Group,
    motion: Velocity,
) -> bool {
    let same_tile = (support.fixed, support.child) == (group.fixed, group.child);
    let between = support.normal.dot(group.normal);
    if same_tile || between > 1.0 - SAME_NORMAL {
        return false;
    }
    let slop = state.settings.position_correction.slop.max(LEAST_STEP);
    let normal = plane(state, support);
    let is_flat = |g: &Group| normal.dot(g.normal) > 1.0 - SAME_NORMAL;
    // Where something round crosses an edge, that of the tile which it leaves is the nearer one.
    let (along, allowed) = match (is_flat(support), is_flat(group)) {
        (false, true) => return false,
        (true, false) if between > LEANS => (between, slop),
        _ => (1.0, 0.0),
    };
    let is_closer = support.separation * along <= group.separation + allowed;
    // The gap of an edge that is met on the way is one along another direction.
    let time = |g: &Group| meets_after(&points[g.points.clone()]);
    if !(is_closer || support.separation > 0.0 && time(support) <= time(group)) {
        return false;
    }
    let sunk = -normal.dot(motion.linear) - support.separation.max(0.0);
    // What has landed is deeper than the slop for a while.
    let deep = slop - support.separation.min(0.0);
    let on_support = on_fixed(state, &points[support.points.start], support);
    let height = |x: Vec3| normal.dot(x - on_support);
    let flush = |p: &Contact| {
        let (below, above) = (height(on_fixed(state, p, group)), height(on_body(p, group)));
        let is_flush = below.abs() <= slop || above.abs() <= slop;
        // Where a side of the body comes at the edge askew, the far end of the side is apart from it.
        let is_far = p.separation > group.separation + slop;
        let turn = (-normal.dot(motion.angular.cross(on_body(p, group)))).max(0.0);
        let is_near_plane = is_far || below >= -deep - (sunk + turn).max(0.0);
        is_flush || (is_near_plane && below <= slop && above >= -deep - turn)
    };
    if !points[group.points.clone()].iter().all(flush) {
        return false;
    }
    let Some(fixed) = state.bodies[group.fixed.index as usize].value.as_ref() else {
        return false;
    };
    let pose = fixed.pose();
    let facing = pose.inverse_transform_vector(group.normal);
    let upward = pose.inverse_transform_vector(normal);
    let top = fixed.shape.part_support(group.part, facing, upward);
    let origin = center(state, group.body);
    top.is_some_and(|top| {
        let offset = pose.transform_vector(top) + (pose.translation - origin);
        height(offset) <= slop
    })
}

/// When the first of these points meets, s; infinite where none does.
fn meets_after(points: &[Contact]) -> f64 {
    let times = points
        .iter()
        .filter(|p| p.approach_velocity < 0.0)
        .map(|p| p.separation.max(0.0) / -p.approach_velocity);
    times.fold(f64::INFINITY, f64::min)
}

/// The normal of the face of the fixed body that carries; of a body that is tilted a little the contact's normal
/// may be that of its own face, and along it the tiles would rise, or fall.
fn plane(state: &WorldState, support: &Group) -> Vec3 {
    face_normal(state, support.fixed, support.part, support.normal)
}

fn face_normal(state: &WorldState, fixed: BodyId, part: u32, outward: Vec3) -> Vec3 {
    let face = || {
        let fixed = state.bodies[fixed.index as usize].value.as_ref()?;
        let pose = fixed.pose();
        let upward = pose.inverse_transform_vector(outward);
        let normal = fixed.shape.part_face_normal(part, upward)?;
        Some(pose.transform_vector(normal))
    };
    let is_near = |normal: &Vec3| normal.dot(outward) >= SAME_FACE;
    face().filter(is_near).unwrap_or(outward)
}

/// A plane: its normal, and a point relative to the centre of mass of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) normal: Vec3,
    pub(crate) point: Vec3,
}

/// The plane in which a convex fixed body ends that a body comes to with the normal `towards` it, where a contact of
/// the body with another fixed one carries it there. `contacts` are those of the body.
pub(crate) fn carried_over<'a>(
    state: &WorldState,
    (body, fixed, towards): (u32, u32, Vec3),
    contacts: impl Iterator<Item = &'a Contact>,
) -> Option<Plane> {
    let slop = state.settings.position_correction.slop.max(LEAST_STEP);
    let other = state.bodies[fixed as usize].value.as_ref()?;
    let pose = other.pose();
    let facing = pose.inverse_transform_vector(towards);
    let origin = state.bodies[body as usize].value.as_ref()?.center;
    let mut planes = contacts.filter_map(|p| {
        let (support, part, outward, lever) = if p.b.index == body {
            (p.a, p.part_a, p.normal, p.lever_a)
        } else {
            (p.b, p.part_b, -p.normal, p.lever_b)
        };
        let carrying = state.bodies[support.index as usize].value.as_ref()?;
        if support.index == fixed || carrying.is_dynamic() || p.impulse.x <= 0.0 {
            return None;
        }
        let normal = face_normal(state, support, part, outward);
        let point = (carrying.center - origin) + lever;
        let upward = pose.inverse_transform_vector(normal);
        let top = other.shape.part_support(0, facing, upward)?;
        let top = pose.transform_vector(top) + (pose.translation - origin);
        let is_flush = normal.dot(top - point).abs() <= slop;
        let differs = normal.dot(towards) <= 1.0 - SAME_NORMAL;
        (is_flush && differs).then_some(Plane { normal, point })
    });
    planes.next()
}

/// Whether the ghost faces along the support's normal, with points that are those of the start of the step.
fn leans(
    (state, marks, points): (&WorldState, &[Marks], &[Contact]),
    support: &Group,
    group: &Group,
) -> bool {
    let at_start = |p: &Contact| {
        let gap = group
            .normal
            .dot(on_body(p, group) - on_fixed(state, p, group));
        (gap - p.separation).abs() <= AT_START
    };
    // A round one is carried by the ground below it alone.
    marks[group.body.index as usize].is_faceted()
        && support.normal.dot(group.normal) > LEANS
        && points[group.points.clone()].iter().all(at_start)
}

/// Gives the points of `group` the plane of `support`: its normal, and their heights over it.
fn take_plane(state: &WorldState, points: &mut [Contact], support: &Group, group: &Group) {
    let on_support = on_fixed(state, &points[support.points.start], support);
    let height = |x: Vec3| support.normal.dot(x - on_support);
    for p in &mut points[group.points.clone()] {
        // Where the tile lies a hair lower than the plane the plane does not carry.
        let below = height(on_fixed(state, p, group)).min(0.0);
        p.separation = height(on_body(p, group)) - below;
        let outward = if p.a == group.fixed { 1.0 } else { -1.0 };
        let frame = ContactFrame::new(support.normal * outward);
        (p.normal, p.tangent1, p.tangent2) = (frame.normal, frame.tangent1, frame.tangent2);
        let velocity = |id: BodyId, lever: Vec3| {
            let body = state.bodies[id.index as usize].value.as_ref();
            body.map_or(Vec3::ZERO, |b| b.velocity.at(lever))
        };
        let relative = velocity(p.b, p.lever_b) - velocity(p.a, p.lever_a);
        p.approach_velocity = p.normal.dot(relative);
    }
}

/// The contact point on the fixed body, relative to the other one's centre of mass, so that nothing is
/// lost far from the world's origin.
fn on_fixed(state: &WorldState, p: &Contact, group: &Group) -> Vec3 {
    let lever = if p.a == group.fixed {
        p.lever_a
    } else {
        p.lever_b
    };
    (center(state, group.fixed) - center(state, group.body)) + lever
}

/// The contact point on the body, relative to its centre of mass.
fn on_body(p: &Contact, group: &Group) -> Vec3 {
    if p.a == group.fixed {
        p.lever_b
    } else {
        p.lever_a
    }
}

fn center(state: &WorldState, id: BodyId) -> Vec3 {
    let body = state.bodies[id.index as usize].value.as_ref();
    body.map_or(Vec3::ZERO, |b| b.center)
}
