//! Forces and impulses that users apply.

use crate::body;
use crate::world::World;
use crate::{BodyId, BodyKind, WorldError};
use moreau_math::Vec3;

impl World {
    /// Adds a force (N, world frame) through the centre of mass, for the next step only.
    ///
    /// # Errors
    /// Where there is no such body, or the force is not finite.
    pub fn add_force(&mut self, id: BodyId, force: Vec3) -> Result<(), WorldError> {
        body::finite("force", force, id)?;
        self.push(id, force, Vec3::ZERO)
    }

    /// Adds a torque (N m, world frame), for the next step only.
    ///
    /// # Errors
    /// Where there is no such body, or the torque is not finite.
    pub fn add_torque(&mut self, id: BodyId, torque: Vec3) -> Result<(), WorldError> {
        body::finite("torque", torque, id)?;
        self.push(id, Vec3::ZERO, torque)
    }

    /// Adds a force (N) at a point (m), both in the world frame, for the next step only.
    ///
    /// # Errors
    /// Where there is no such body, or force or point are not finite.
    pub fn add_force_at(&mut self, id: BodyId, force: Vec3, point: Vec3) -> Result<(), WorldError> {
        body::finite("force", force, id)?;
        body::finite("point", point, id)?;
        let torque = (point - self.get(id)?.center).cross(force);
        body::finite("torque", torque, id)?;
        self.push(id, force, torque)
    }

    fn push(&mut self, id: BodyId, force: Vec3, torque: Vec3) -> Result<(), WorldError> {
        let state = self.get(id)?;
        let sum_force = body::finite("force", state.force + force, id)?;
        let sum_torque = body::finite("torque", state.torque + torque, id)?;
        if (force, torque) != (Vec3::ZERO, Vec3::ZERO) && state.kind != BodyKind::Static {
            self.wake(id)?;
            let state = self.get_mut(id)?;
            (state.force, state.torque) = (sum_force, sum_torque);
        }
        Ok(())
    }

    /// Sets the force (N, through the centre of mass) and torque (N m) that act in every step,
    /// world frame.
    ///
    /// # Errors
    /// Where there is no such body, or force or torque are not finite.
    pub fn set_constant_force(
        &mut self,
        id: BodyId,
        force: Vec3,
        torque: Vec3,
    ) -> Result<(), WorldError> {
        body::finite("force", force, id)?;
        body::finite("torque", torque, id)?;
        let state = self.get(id)?;
        if (state.constant_force, state.constant_torque) != (force, torque) {
            self.wake(id)?;
        }
        let state = self.get_mut(id)?;
        (state.constant_force, state.constant_torque) = (force, torque);
        Ok(())
    }

    /// Applies an impulse (N s) at a point (m), both in the world frame, at once.
    ///
    /// # Errors
    /// Where there is no such body, or the impulse, the point or the velocity that follows is not
    /// finite.
    pub fn apply_impulse(
        &mut self,
        id: BodyId,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), WorldError> {
        body::finite("impulse", impulse, id)?;
        body::finite("point", point, id)?;
        if impulse != Vec3::ZERO {
            self.wake(id)?;
        }
        let state = self.get_mut(id)?;
        let turn = (point - state.center).cross(impulse);
        let mut v = state.velocity;
        v.linear += impulse * state.inverse_mass;
        v.angular += state.world_inverse_inertia().mul_vec(turn);
        state.set_velocity(v, id)
    }
}
