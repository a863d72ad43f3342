//! Balance of linear momentum.
//!
//! ```text
//! P     = sum of m v over the dynamic bodies
//! K     = sum of (m s g + F) over the dynamic bodies (s gravity scale, F constant force)
//! J_k   = sum of the impulses of step k on dynamic bodies by bodies that are not dynamic,
//!         through contacts and joints
//! r_n   = sum over steps k <= n of (P_k - P_(k-1) - h K - J_k)
//! drift = max |r_n| / max(1 N s, h |K|, max sum of m |v|)
//! ```
//!
//! r is zero in exact arithmetic, whatever the solver's residual: each impulse between two dynamic
//! bodies acts on both. What is left is rounding, or a solver whose velocities do not follow from
//! its impulses.

use moreau_math::Vec3;
use moreau_pipeline::{BodyId, JointId, JointKind, World};
use moreau_solver::momentum_directions;

pub(crate) struct MomentumBalance {
    /// By slot of the body.
    dynamic: Vec<bool>,
    /// K, N.
    force: Vec3,
    /// P after the last step, N s.
    last: Vec3,
    /// r, N s.
    residue: Vec3,
    /// Joints between a dynamic and another body.
    joints: Vec<JointId>,
    /// World direction from A's anchor to B's at the start of the step; zero for a ball joint.
    axes: Vec<Vec3>,
    worst: f64,
    /// Largest part of a residue along one of the ten directions.
    directional: f64,
    scale: f64,
}

/// P and the sum of m |v|, N s.
fn momentum(world: &World) -> (Vec3, f64) {
    let (mut total, mut scale) = (Vec3::ZERO, 0.0);
    for body in world.bodies() {
        // The mass of a body that is not dynamic is zero.
        let p = body.velocity().linear * body.mass_properties().mass;
        total += p;
        scale += p.length();
    }
    (total, scale)
}

impl MomentumBalance {
    /// `forces`: the constant force of each body that has one, N.
    pub(crate) fn new(world: &World, forces: &[(BodyId, Vec3)], weight: Vec3) -> Self {
        let mut dynamic = Vec::new();
        for body in world.bodies() {
            let index = body.id().index as usize;
            dynamic.resize(dynamic.len().max(index + 1), false);
            dynamic[index] = body.mass_properties().mass > 0.0;
        }
        let force = forces.iter().fold(weight, |sum, (_, f)| sum + *f);
        let both = |id: BodyId| dynamic[id.index as usize];
        let joints: Vec<JointId> = world
            .joints()
            .filter(|(_, joint)| both(joint.a) != both(joint.b))
            .map(|(id, _)| id)
            .collect();
        let (last, scale) = momentum(world);
        let axes = vec![Vec3::ZERO; joints.len()];
        Self {
            dynamic,
            force,
            last,
            residue: Vec3::ZERO,
            joints,
            axes,
            worst: 0.0,
            directional: 0.0,
            scale,
        }
    }

    /// Before a step: the directions of the rods.
    pub(crate) fn before_step(&mut self, world: &World) {
        for (id, axis) in self.joints.iter().zip(&mut self.axes) {
            let Ok(joint) = world.joint(*id) else {
                continue;
            };
            let (Ok(a), Ok(b)) = (world.body(joint.a), world.body(joint.b)) else {
                continue;
            };
            if let JointKind::Distance { .. } = joint.kind {
                let apart = b.pose().transform_point(joint.anchor_b)
                    - a.pose().transform_point(joint.anchor_a);
                *axis = apart.normalize_or_zero();
            }
        }
    }

    /// After a step of `dt`.
    pub(crate) fn after_step(&mut self, world: &World, dt: f64) {
        let mut accounted = self.force * dt;
        let dynamic = |id: BodyId| {
            self.dynamic
                .get(id.index as usize)
                .copied()
                .unwrap_or(false)
        };
        for contact in world.contacts() {
            match (dynamic(contact.a), dynamic(contact.b)) {
                (false, true) => accounted += contact.world_impulse(),
                (true, false) => accounted -= contact.world_impulse(),
                _ => {}
            }
        }
        for (id, axis) in self.joints.iter().zip(&self.axes) {
            let (Ok(joint), Ok([x, y, z])) = (world.joint(*id), world.joint_impulse(*id)) else {
                continue;
            };
            let impulse = match joint.kind {
                JointKind::Ball => Vec3::new(x, y, z),
                JointKind::Distance { .. } => *axis * x,
            };
            accounted += if dynamic(joint.b) { impulse } else { -impulse };
        }
        let (total, scale) = momentum(world);
        self.residue += total - self.last - accounted;
        self.last = total;
        self.worst = self.worst.max(self.residue.length());
        for direction in momentum_directions() {
            self.directional = self.directional.max(direction.dot(self.residue).abs());
        }
        self.scale = self.scale.max(scale).max(self.force.length() * dt);
    }

    /// The figure.
    pub(crate) fn drift(&self) -> f64 {
        self.worst / self.scale.max(1.0)
    }

    /// Largest part of r along one of the ten directions, N s.
    pub(crate) fn directional_drift(&self) -> f64 {
        self.directional
    }

    /// P, N s.
    pub(crate) fn total(world: &World) -> Vec3 {
        momentum(world).0
    }
}
