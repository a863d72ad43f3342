//! Broad and narrow phase over the bodies of a world, and the contact points that follow.

use crate::contact::Contact;
use crate::world::WorldState;
use crate::{BodyId, BodyKind};
use moreau_collision::{BroadPhase, CollideSettings, Manifold, collide};
use moreau_constraint::ContactFrame;
use moreau_math::{Pose, Vec3};
use rayon::prelude::*;

/// Boxes and manifolds. Follows from the world's state and carries none of its own: what it keeps
/// between steps only saves time.
#[derive(Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    /// Slots whose box must be set again although their bodies do not move by themselves.
    touched: Vec<u32>,
    joined: Vec<(u32, u32)>,
    pairs: Vec<(u32, u32)>,
    manifolds: Vec<Manifold>,
}

/// Pairs of a chunk of narrow-phase work; the same for any number of threads.
const CHUNK: usize = 64;

impl Detection {
    pub(crate) fn rebuild(&mut self, state: &WorldState) {
        *self = Self::default();
        for (index, slot) in state.bodies.iter().enumerate() {
            if slot.value.is_some() {
                self.touched.push(index as u32);
            }
        }
    }

    /// A body was added or changed between steps.
    pub(crate) fn touch(&mut self, index: u32) {
        self.touched.push(index);
    }

    /// A body was removed.
    pub(crate) fn remove(&mut self, index: u32) {
        self.broad_phase.remove(index);
        self.touched.retain(|t| *t != index);
    }

    /// Finds the pairs whose boxes, grown by the prediction distance, overlap; returns how many.
    pub(crate) fn find_pairs(&mut self, state: &WorldState) -> usize {
        let prediction = state.settings.prediction_distance;
        let mut set = |index: u32| {
            if let Some(body) = &state.bodies[index as usize].value {
                let tight = body.shape.aabb(&body.pose());
                // Two static boxes never meet, so growing the moving ones is enough.
                let aabb = if body.is_dynamic() {
                    tight.enlarged(prediction)
                } else {
                    tight
                };
                self.broad_phase.set(index, aabb, !body.is_dynamic());
            }
        };
        for index in self.touched.drain(..) {
            set(index);
        }
        for (index, slot) in state.bodies.iter().enumerate() {
            if slot
                .value
                .as_ref()
                .is_some_and(|b| b.kind != BodyKind::Static)
            {
                set(index as u32);
            }
        }
        self.broad_phase.pairs(&mut self.pairs);

        // Bodies that a joint holds together need no contact.
        self.joined.clear();
        for joint in state.joints.iter().filter_map(|slot| slot.value.as_ref()) {
            if !joint.joint.collide {
                let (a, b) = (joint.joint.a.index, joint.joint.b.index);
                self.joined.push((a.min(b), a.max(b)));
            }
        }
        if !self.joined.is_empty() {
            self.joined.sort_unstable();
            let joined = &self.joined;
            self.pairs
                .retain(|pair| joined.binary_search(pair).is_err());
        }
        self.pairs.len()
    }

    /// Fills the manifolds of all pairs.
    pub(crate) fn find_manifolds(&mut self, state: &WorldState, parallel: bool) {
        self.manifolds.resize(self.pairs.len(), Manifold::default());
        let settings = CollideSettings {
            prediction: state.settings.prediction_distance,
        };
        let fill = |(pairs, manifolds): (&[(u32, u32)], &mut [Manifold])| {
            for ((a, b), manifold) in pairs.iter().zip(manifolds) {
                let (a, b) = (body(state, *a), body(state, *b));
                let (pose_a, pose_b) = (a.pose(), b.pose());
                // Relative to A's origin, so that nothing is lost far from the world's.
                let near = Pose::new(Vec3::ZERO, pose_a.rotation);
                let offset = pose_b.translation - pose_a.translation;
                let far = Pose::new(offset, pose_b.rotation);
                collide(&a.shape, &near, &b.shape, &far, &settings, manifold);
            }
        };
        let chunks = self
            .pairs
            .chunks(CHUNK)
            .zip(self.manifolds.chunks_mut(CHUNK));
        if parallel && self.pairs.len() > CHUNK {
            self.pairs
                .par_chunks(CHUNK)
                .zip(self.manifolds.par_chunks_mut(CHUNK))
                .for_each(fill);
        } else {
            chunks.for_each(fill);
        }
    }

    /// Lists the contact points of all manifolds in the order (a, b, feature); returns how many
    /// manifolds had any.
    pub(crate) fn list_points(&self, state: &WorldState, points: &mut Vec<Contact>) -> usize {
        points.clear();
        let mut manifolds = 0;
        for ((index_a, index_b), manifold) in self.pairs.iter().zip(&self.manifolds) {
            if manifold.is_empty() {
                continue;
            }
            manifolds += 1;
            let (a, b) = (body(state, *index_a), body(state, *index_b));
            let (pose_a, pose_b) = (a.pose(), b.pose());
            let offset = pose_b.translation - pose_a.translation;
            let center_a = a.center - pose_a.translation;
            let center_b = b.center - pose_b.translation;
            let (friction, restitution) = a.material.combine(&b.material);
            let frame = ContactFrame::new(manifold.normal());
            let first = points.len();
            for point in manifold.points() {
                let lever_a = point.point_a - center_a;
                let lever_b = point.point_b - offset - center_b;
                let relative = b.velocity.at(lever_b) - a.velocity.at(lever_a);
                points.push(Contact {
                    a: id(state, *index_a),
                    b: id(state, *index_b),
                    feature: point.feature,
                    normal: frame.normal,
                    tangent1: frame.tangent1,
                    tangent2: frame.tangent2,
                    lever_a,
                    lever_b,
                    separation: point.separation,
                    friction,
                    restitution,
                    approach_velocity: frame.normal.dot(relative),
                    impulse: Vec3::ZERO,
                });
            }
            points[first..].sort_unstable_by_key(|p| p.feature);
        }
        manifolds
    }
}

fn body(state: &WorldState, index: u32) -> &crate::body::BodyState {
    let slot = &state.bodies[index as usize];
    slot.value
        .as_ref()
        .expect("the broad phase holds only bodies that are there")
}

fn id(state: &WorldState, index: u32) -> BodyId {
    BodyId {
        index,
        generation: state.bodies[index as usize].generation,
    }
}
