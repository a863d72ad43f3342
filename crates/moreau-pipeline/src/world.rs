use crate::body::{self, BodyState};
use crate::detect::Detection;
use crate::joint::JointState;
use crate::queries::QueryTree;
use crate::recycle::Kept;
use crate::sensors::SensorEvent;
use crate::solver_choice::WorldSolver;
use crate::step::Scratch;
use crate::{
    Body, BodyId, BodyKind, BodyView, Contact, IslandReport, Joint, JointId, JointKind, Mass,
    Material, WorldError, WorldSettings,
};
use moreau_cache::ContactCache;
use moreau_collision::{Groups, Shape};
use moreau_math::{Pose, Vec3, Velocity};
use moreau_solver::ContactSolver;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, RwLock};

/// A place for a body or joint; keeps its generation while it is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slot<T> {
    pub(crate) generation: u32,
    pub(crate) value: Option<T>,
}

/// All that a step reads and writes and a snapshot holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorldState {
    pub(crate) settings: WorldSettings,
    pub(crate) steps: u64,
    /// s, since the world was made.
    pub(crate) time: f64,
    /// Length of the last step, s; 0 before the first.
    pub(crate) last_dt: f64,
    pub(crate) bodies: Vec<Slot<BodyState>>,
    /// Empty slots; the last is filled first.
    pub(crate) free_bodies: Vec<u32>,
    pub(crate) joints: Vec<Slot<JointState>>,
    pub(crate) free_joints: Vec<u32>,
    pub(crate) cache: ContactCache,
    pub(crate) contacts: Vec<Contact>,
    /// Sorted, the smaller id first: pairs that do not collide.
    pub(crate) ignored: Vec<(BodyId, BodyId)>,
    /// Of the last step, sorted.
    pub(crate) sensor_events: Vec<SensorEvent>,
    /// Sorted by pair.
    pub(crate) kept: Vec<Kept>,
}

/// Bodies, joints and contacts that step in time.
///
/// Between steps bodies can be added, removed and changed. A step that fails leaves the world as it
/// was.
pub struct World {
    pub(crate) state: WorldState,
    pub(crate) solver: WorldSolver,
    pub(crate) pool: Option<Arc<rayon::ThreadPool>>,
    /// Follows from the state; rebuilt after a restore.
    pub(crate) detection: Detection,
    pub(crate) scratch: Scratch,
    /// Of the last step. Not part of the state.
    pub(crate) island_reports: Vec<IslandReport>,
    /// Whether steps measure themselves.
    pub(crate) profiling: bool,
    /// Follows from the state; brought up to date when a query comes.
    pub(crate) query_tree: RwLock<QueryTree>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("steps", &self.state.steps)
            .field("bodies", &self.body_count())
            .field("solver", &self.solver.name())
            .finish_non_exhaustive()
    }
}

impl World {
    /// An empty world that steps on the calling thread.
    ///
    /// # Errors
    /// A setting that is out of range.
    pub fn new(settings: WorldSettings) -> Result<Self, WorldError> {
        settings.validate()?;
        Ok(Self::from_state(WorldState {
            settings,
            steps: 0,
            time: 0.0,
            last_dt: 0.0,
            bodies: Vec::new(),
            free_bodies: Vec::new(),
            joints: Vec::new(),
            free_joints: Vec::new(),
            cache: ContactCache::default(),
            contacts: Vec::new(),
            ignored: Vec::new(),
            sensor_events: Vec::new(),
            kept: Vec::new(),
        }))
    }

    pub(crate) fn from_state(state: WorldState) -> Self {
        let solver = WorldSolver::chosen(state.settings.solver);
        let mut world = Self {
            state,
            solver,
            pool: None,
            detection: Detection::default(),
            scratch: Scratch::default(),
            island_reports: Vec::new(),
            profiling: false,
            query_tree: RwLock::default(),
        };
        world.detection.rebuild(&world.state);
        world
    }

    /// The settings.
    pub fn settings(&self) -> &WorldSettings {
        &self.state.settings
    }

    /// Replaces the settings. A solver that was set by [`Self::set_solver`] stays, the default
    /// solver takes its new knobs.
    ///
    /// # Errors
    /// A setting that is out of range.
    pub fn set_settings(&mut self, settings: WorldSettings) -> Result<(), WorldError> {
        settings.validate()?;
        if !self.solver.is_own() {
            self.scratch.forget_solvers();
            self.solver = WorldSolver::chosen(settings.solver);
        }
        if settings.prediction_distance != self.state.settings.prediction_distance {
            self.state.kept.clear();
        }
        self.state.settings = settings;
        Ok(())
    }

    /// Solves all islands with `solver`. It is not part of snapshots.
    pub fn set_solver(&mut self, solver: Box<dyn ContactSolver>) {
        self.scratch.forget_solvers();
        self.solver = WorldSolver::own(solver);
    }

    /// Name of the solver.
    pub fn solver_name(&self) -> &'static str {
        self.solver.name()
    }

    /// Steps on that many threads of an own pool; 1 steps on the calling thread. The results have
    /// the same bits for any number.
    ///
    /// # Errors
    /// Where the threads cannot be started, or none were asked for.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), WorldError> {
        if threads == 0 {
            let reason = "a world needs at least one".into();
            return Err(WorldError::Threads { threads, reason });
        }
        self.pool = None;
        if threads > 1 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let failed = |e: rayon::ThreadPoolBuildError| WorldError::Threads {
                threads,
                reason: e.to_string(),
            };
            self.pool = Some(Arc::new(pool.map_err(failed)?));
        }
        Ok(())
    }

    /// Steps on the threads of the caller's pool; `None` steps on the calling thread.
    pub fn set_thread_pool(&mut self, pool: Option<Arc<rayon::ThreadPool>>) {
        self.pool = pool;
    }

    /// How many steps the world has made.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// How many bodies there are.
    pub fn body_count(&self) -> usize {
        self.state.bodies.len() - self.state.free_bodies.len()
    }

    /// Adds a body.
    ///
    /// # Errors
    /// Where the description is not usable; names the field, its value and what is allowed.
    pub fn add(&mut self, body: Body) -> Result<BodyId, WorldError> {
        let state = &mut self.state;
        let index = match state.free_bodies.last() {
            Some(index) => *index as usize,
            None => state.bodies.len(),
        };
        let generation = state.bodies.get(index).map_or(0, |slot| slot.generation);
        let id = BodyId {
            index: index as u32,
            generation,
        };
        let value = Some(BodyState::new(body, id)?);
        if index == state.bodies.len() {
            state.bodies.push(Slot { generation, value });
        } else {
            state.free_bodies.pop();
            state.bodies[index].value = value;
        }
        self.touch(id);
        Ok(id)
    }

    /// Removes a body, its joints and its contacts.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn remove(&mut self, id: BodyId) -> Result<(), WorldError> {
        self.get(id)?;
        for index in 0..self.state.joints.len() {
            let slot = &self.state.joints[index];
            if let Some(joint) = &slot.value
                && (joint.joint.a == id || joint.joint.b == id)
            {
                let joint = joint.id;
                self.remove_joint(joint)?;
            }
        }
        let slot = &mut self.state.bodies[id.index as usize];
        slot.value = None;
        slot.generation += 1;
        self.state.free_bodies.push(id.index);
        self.forget_contacts(id);
        self.state.ignored.retain(|(a, b)| *a != id && *b != id);
        self.touch(id);
        self.detection.remove(id.index);
        Ok(())
    }

    /// A body.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn body(&self, id: BodyId) -> Result<BodyView<'_>, WorldError> {
        Ok(BodyView {
            id,
            state: self.get(id)?,
        })
    }

    /// All bodies in id order.
    pub fn bodies(&self) -> impl Iterator<Item = BodyView<'_>> {
        self.state
            .bodies
            .iter()
            .enumerate()
            .filter_map(|(index, slot)| {
                let id = BodyId {
                    index: index as u32,
                    generation: slot.generation,
                };
                slot.value.as_ref().map(|state| BodyView { id, state })
            })
    }

    /// Contact points of the last step, in id order, with the impulses that it applied.
    pub fn contacts(&self) -> &[Contact] {
        &self.state.contacts
    }

    /// The islands of the last step in the order of their smallest body, and how each was solved.
    /// Empty before the first step and after [`World::restore`]: no part of the state.
    pub fn island_reports(&self) -> &[IslandReport] {
        &self.island_reports
    }

    /// What sensors saw in the last step, sorted by sensor and body.
    ///
    /// A body that is removed while it overlaps a sensor leaves it in the next step.
    pub fn sensor_events(&self) -> &[SensorEvent] {
        &self.state.sensor_events
    }

    /// The contact impulses from which the next step starts.
    pub fn contact_cache(&self) -> &ContactCache {
        &self.state.cache
    }

    /// Moves a body's frame. Its remembered contact impulses are dropped.
    ///
    /// # Errors
    /// Where there is no such body, or the pose is not finite or not a rotation.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        let pose = body::checked_pose(&pose, id)?;
        self.get_mut(id)?.set_pose(pose);
        self.forget_contacts(id);
        self.touch(id);
        Ok(())
    }

    /// Sets the velocity of a body's centre of mass and its angular velocity, world frame.
    ///
    /// # Errors
    /// Where there is no such body, the velocity is not finite, or the body cannot move so.
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), WorldError> {
        self.get_mut(id)?.set_velocity(velocity, id)
    }

    /// Sets a body's surface.
    ///
    /// # Errors
    /// Where there is no such body, or a coefficient is out of range.
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), WorldError> {
        body::check_material(&material, id)?;
        self.get_mut(id)?.material = material;
        Ok(())
    }

    /// Sets which bodies a body collides with. Its remembered contact impulses are dropped.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), WorldError> {
        self.get_mut(id)?.groups = groups;
        self.forget_contacts(id);
        Ok(())
    }

    /// Keeps two bodies from colliding with each other, whatever their groups, or lets them again.
    /// Sensors are not concerned.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn ignore_pair(&mut self, a: BodyId, b: BodyId, ignore: bool) -> Result<(), WorldError> {
        self.get(a)?;
        self.get(b)?;
        let pair = (a.min(b), a.max(b));
        let ignored = &mut self.state.ignored;
        match ignored.binary_search(&pair) {
            Ok(at) if !ignore => {
                ignored.remove(at);
            }
            Err(at) if ignore => ignored.insert(at, pair),
            _ => {}
        }
        Ok(())
    }

    /// Sets the velocity of a body's surface relative to it, m/s, body axes.
    ///
    /// # Errors
    /// Where there is no such body, or the velocity is not finite.
    pub fn set_surface_velocity(&mut self, id: BodyId, velocity: Vec3) -> Result<(), WorldError> {
        body::finite("surface_velocity", velocity, id)?;
        self.get_mut(id)?.surface_velocity = velocity;
        Ok(())
    }

    /// Sets the mass of a dynamic body; its frame stays, its centre of mass may move.
    ///
    /// # Errors
    /// Where there is no such body, it is not dynamic, or the mass is not usable.
    pub fn set_mass(&mut self, id: BodyId, mass: Mass) -> Result<(), WorldError> {
        let state = self.get_mut(id)?;
        if !state.is_dynamic() {
            let kind = format!("{:?}", state.kind);
            return Err(body::bad(id, "kind", kind, "dynamic for a body with mass"));
        }
        let pose = state.pose();
        state.set_mass(mass, id)?;
        state.set_pose(pose);
        Ok(())
    }

    /// Replaces a body's shape; its frame stays. `mass` is needed for a dynamic body, and is not
    /// looked at for others.
    ///
    /// # Errors
    /// Where there is no such body, or shape or mass are not usable.
    pub fn set_shape(&mut self, id: BodyId, shape: Shape, mass: Mass) -> Result<(), WorldError> {
        shape
            .validate()
            .map_err(|source| WorldError::BadShape { id, source })?;
        let state = self.get_mut(id)?;
        let pose = state.pose();
        let old = std::mem::replace(&mut state.shape, shape);
        if state.is_dynamic() {
            if let Err(error) = state.set_mass(mass, id) {
                state.shape = old;
                return Err(error);
            }
            state.set_pose(pose);
        }
        self.forget_contacts(id);
        self.touch(id);
        Ok(())
    }

    /// Makes a body dynamic, kinematic or static. `mass` is needed where it becomes dynamic, and is
    /// not looked at otherwise. A body that becomes static stops.
    ///
    /// # Errors
    /// Where there is no such body, or the mass is not usable.
    pub fn set_kind(&mut self, id: BodyId, kind: BodyKind, mass: Mass) -> Result<(), WorldError> {
        let mut state = self.get(id)?.clone();
        let pose = state.pose();
        state.kind = kind;
        if kind == BodyKind::Dynamic {
            state.set_mass(mass, id)?;
        } else {
            state.clear_mass();
        }
        if kind == BodyKind::Static {
            state.velocity = Velocity::ZERO;
        }
        state.set_pose(pose);
        *self.get_mut(id)? = state;
        self.forget_contacts(id);
        self.touch(id);
        Ok(())
    }

    /// Adds a force (N, world frame) through the centre of mass, for the next step only.
    ///
    /// # Errors
    /// Where there is no such body, or the force is not finite.
    pub fn add_force(&mut self, id: BodyId, force: Vec3) -> Result<(), WorldError> {
        body::finite("force", force, id)?;
        let state = self.get_mut(id)?;
        state.force = body::finite("force", state.force + force, id)?;
        Ok(())
    }

    /// Adds a torque (N m, world frame), for the next step only.
    ///
    /// # Errors
    /// Where there is no such body, or the torque is not finite.
    pub fn add_torque(&mut self, id: BodyId, torque: Vec3) -> Result<(), WorldError> {
        body::finite("torque", torque, id)?;
        let state = self.get_mut(id)?;
        state.torque = body::finite("torque", state.torque + torque, id)?;
        Ok(())
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
        let state = self.get_mut(id)?;
        let force = body::finite("force", state.force + force, id)?;
        let torque = body::finite("torque", state.torque + torque, id)?;
        (state.force, state.torque) = (force, torque);
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
        let state = self.get_mut(id)?;
        let turn = (point - state.center).cross(impulse);
        let mut v = state.velocity;
        v.linear += impulse * state.inverse_mass;
        v.angular += state.world_inverse_inertia().mul_vec(turn);
        state.set_velocity(v, id)
    }

    /// Adds a joint.
    ///
    /// # Errors
    /// Where a body does not exist, both are the same or cannot move, an anchor is not finite or a
    /// length not positive.
    pub fn add_joint(&mut self, joint: Joint) -> Result<JointId, WorldError> {
        let index = match self.state.free_joints.last() {
            Some(index) => *index as usize,
            None => self.state.joints.len(),
        };
        let generation = self
            .state
            .joints
            .get(index)
            .map_or(0, |slot| slot.generation);
        let id = JointId {
            index: index as u32,
            generation,
        };
        let bad = |field, value: String, allowed| WorldError::BadJoint {
            id,
            field,
            value,
            allowed,
        };
        let moves = self.get(joint.a)?.is_dynamic() || self.get(joint.b)?.is_dynamic();
        if joint.a == joint.b || !moves {
            let allowed = "two bodies of which one at least is dynamic";
            return Err(bad(
                "bodies",
                format!("{} and {}", joint.a, joint.b),
                allowed,
            ));
        }
        for (field, anchor) in [("anchor_a", joint.anchor_a), ("anchor_b", joint.anchor_b)] {
            if !anchor.is_finite() {
                return Err(bad(field, anchor.to_string(), "finite"));
            }
        }
        if let JointKind::Distance { length } = joint.kind
            && !(length > 0.0 && length.is_finite())
        {
            return Err(bad("length", length.to_string(), "positive and finite"));
        }
        let value = Some(JointState {
            id,
            joint,
            impulses: [0.0; 3],
        });
        if index == self.state.joints.len() {
            self.state.joints.push(Slot { generation, value });
        } else {
            self.state.free_joints.pop();
            self.state.joints[index].value = value;
        }
        Ok(id)
    }

    /// Removes a joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), WorldError> {
        self.joint_state(id)?;
        let slot = &mut self.state.joints[id.index as usize];
        slot.value = None;
        slot.generation += 1;
        self.state.free_joints.push(id.index);
        Ok(())
    }

    /// A joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn joint(&self, id: JointId) -> Result<Joint, WorldError> {
        Ok(self.joint_state(id)?.joint)
    }

    /// The impulses (N s) that a joint applied to B in the last step: along the world axes for a
    /// ball joint, along the rod (first entry) for a distance joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn joint_impulse(&self, id: JointId) -> Result<[f64; 3], WorldError> {
        Ok(self.joint_state(id)?.impulses)
    }

    /// All joints in id order.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, Joint)> + '_ {
        self.state
            .joints
            .iter()
            .filter_map(|slot| slot.value.map(|j| (j.id, j.joint)))
    }

    pub(crate) fn get(&self, id: BodyId) -> Result<&BodyState, WorldError> {
        self.state
            .bodies
            .get(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_ref())
            .ok_or(WorldError::NoSuchBody { id })
    }

    fn get_mut(&mut self, id: BodyId) -> Result<&mut BodyState, WorldError> {
        self.state
            .bodies
            .get_mut(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_mut())
            .ok_or(WorldError::NoSuchBody { id })
    }

    fn joint_state(&self, id: JointId) -> Result<&JointState, WorldError> {
        self.state
            .joints
            .get(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_ref())
            .ok_or(WorldError::NoSuchJoint { id })
    }

    /// A body was added, changed or removed.
    fn touch(&mut self, id: BodyId) {
        self.detection.touch(id.index);
        self.forget_queries();
    }

    /// Drops the contacts and remembered impulses of a body that was moved or removed.
    fn forget_contacts(&mut self, id: BodyId) {
        self.state.contacts.retain(|c| c.a != id && c.b != id);
        self.state.kept.retain(|k| k.a != id && k.b != id);
        self.state.cache.remove_body(id.to_bits());
    }
}
