//! From a separating axis of two polytopes to their manifold.

use super::context::Context;
use super::feature::Feature;
use super::patch::{Corners, Projection, intersect};
use super::reduce::emit;
use moreau_math::Vec3;

/// A unit direction from A to B, and by how much it separates them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) normal: Vec3,
    /// Least n·b - greatest n·a, m.
    pub(super) separation: f64,
}

/// Fills the manifold along `axis`, the one of greatest separation.
///
/// `features` gives what of A faces along a direction, and what of B faces against it.
pub(super) fn collide(
    context: &mut Context<'_>,
    axis: Axis,
    features: impl Fn(Vec3) -> (Feature, Feature),
) {
    let (a, b) = features(axis.normal);
    let projection = Projection::new(axis.normal);
    let mut corners: Corners = intersect(&a, &b, &projection, context.touch);
    emit(context, &projection, &mut corners, Some((&a, &b)));
}
