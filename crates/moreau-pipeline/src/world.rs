use crate::activity::Activity;
use crate::body::{self, BodyState};
use crate::detect::Detection;
use crate::joint::JointState;
use crate::queries::QueryTree;
use crate::recycle::Kept;
use crate::sensors::SensorEvent;
use crate::sleep::Sleepers;
use crate::solver_choice::WorldSolver;
use crate::step::Scratch;
use crate::{
    Body, BodyId, BodyKind, BodyView, Contact, IslandReport, Mass, Material, WorldError,
    WorldSettings,
};
use moreau_cache::ContactCache;
use moreau_collision::{Groups, Shape};
use moreau_math::{Pose, Vec3, Velocity};
use moreau_solver::ContactSolver;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock, RwLock};

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
    /// Step from which on no body remembers an attempt in vain.
    pub(crate) trials_until: u64,
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
    pub(crate) sleepers: Sleepers,
    /// Slots of bodies that do not move by themselves and may lie where something sleeps.
    pub(crate) edited: Vec<u32>,
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
    /// Follows from the state.
    pub(crate) activity: Activity,
    /// Contacts of awake and sleeping bodies, where they were asked for.
    pub(crate) all_contacts: OnceLock<Vec<Contact>>,
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
            trials_until: 0,
            bodies: Vec::new(),
            free_bodies: Vec::new(),
            joints: Vec::new(),
            free_joints: Vec::new(),
            cache: ContactCache::default(),
            contacts: Vec::new(),
            ignored: Vec::new(),
            sensor_events: Vec::new(),
            kept: Vec::new(),
            sleepers: Sleepers::default(),
            edited: Vec::new(),
        }))
    }

    pub(crate) fn from_state(state: WorldState) -> Self {
        let solver = WorldSolver::chosen(state.settings.solver);
        let mut world = Self {
            state,
            solver,
            pool: None,
            detection: Detection::default(),
            activity: Activity::default(),
            all_contacts: OnceLock::new(),
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
        self.scratch.forget_solvers();
        self.solver.set_settings(settings.solver);
        if settings != self.state.settings {
            self.wake_all();
        }
        if settings.prediction_distance != self.state.settings.prediction_distance {
            self.state.kept.clear();
            self.detection.forget_kept();
        }
        self.detection.forget_all_found();
        self.state.settings = settings;
        Ok(())
    }

    /// Solves all islands with `solver`. It is not part of snapshots.
    ///
    /// Of its answer only the impulses count, and of its report the sweeps, the factorisations and, where the answer
    /// is not certified, why it stopped. The world works out velocities and residual from the impulses, and certifies
    /// an island whose residual is within `settings.solver.newton.tolerance` (1e-8 m/s by default, and more above
    /// 20 m/s: [`moreau_solver::tolerance_at`]), whatever the solver says of itself. The law is Coulomb's: an answer of
    /// the associated model is certified only where nothing slides. A step for which the solver gives more or fewer
    /// impulses than there are contacts or rows fails with [`moreau_solver::SolveError::Length`].
    pub fn set_solver(&mut self, solver: Box<dyn ContactSolver>) {
        self.scratch.forget_solvers();
        self.solver = WorldSolver::own(solver, self.state.settings.solver);
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
        self.settle(id);
        Ok(id)
    }

    /// Removes a body, its joints and its contacts.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn remove(&mut self, id: BodyId) -> Result<(), WorldError> {
        self.disturb(id)?;
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
        self.detection.forget_joined();
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

    /// Contact points of the last step, in id order, with the impulses that it applied. Those of sleeping
    /// bodies are among them, as they were in their last step.
    pub fn contacts(&self) -> &[Contact] {
        if self.state.sleepers.is_empty() {
            return &self.state.contacts;
        }
        self.all_contacts.get_or_init(|| {
            let mut all = self.state.contacts.clone();
            for island in self.state.sleepers.iter() {
                all.extend_from_slice(&island.contacts);
            }
            all.sort_unstable_by_key(|c| (c.a, c.b, c.key()));
            all
        })
    }

    /// The contact points of [`contacts`](Self::contacts) of which a body took part in the last step:
    /// all of them, where none sleeps.
    pub fn awake_contacts(&self) -> &[Contact] {
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

    /// The contact impulses from which the next step starts; those of sleeping bodies are in
    /// [`contacts`](Self::contacts).
    pub fn contact_cache(&self) -> &ContactCache {
        &self.state.cache
    }

    /// Moves a body's frame. Its remembered contact impulses are dropped.
    ///
    /// # Errors
    /// Where there is no such body, or the pose is not finite or not a rotation.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), WorldError> {
        let pose = body::checked_pose(&pose, id)?;
        self.disturb(id)?;
        self.get_mut(id)?.set_pose(pose);
        self.forget_contacts(id);
        self.touch(id);
        self.settle(id);
        Ok(())
    }

    /// Sets the velocity of a body's centre of mass and its angular velocity, world frame.
    ///
    /// # Errors
    /// Where there is no such body, the velocity is not finite, or the body cannot move so.
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), WorldError> {
        let body = self.get(id)?;
        body.check_velocity(&velocity, id)?;
        if body.velocity != velocity {
            self.disturb(id)?;
        }
        self.get_mut(id)?.set_velocity(velocity, id)
    }

    /// Sets a body's surface.
    ///
    /// # Errors
    /// Where there is no such body, or a coefficient is out of range.
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), WorldError> {
        body::check_material(&material, id)?;
        self.disturb(id)?;
        self.get_mut(id)?.material = material;
        Ok(())
    }

    /// Sets which bodies a body collides with. Its remembered contact impulses are dropped.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), WorldError> {
        self.disturb(id)?;
        self.get_mut(id)?.groups = groups;
        self.forget_contacts(id);
        self.activity.forget();
        self.settle(id);
        Ok(())
    }

    /// Makes a body a bullet, or an ordinary one again: see [`Body::bullet`].
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn set_bullet(&mut self, id: BodyId, bullet: bool) -> Result<(), WorldError> {
        self.get_mut(id)?.bullet = bullet;
        self.activity.forget();
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
        self.wake(a)?;
        self.wake(b)?;
        self.detection.forget_joined();
        let pair = (a.min(b), a.max(b));
        let ignored = &mut self.state.ignored;
        match ignored.binary_search(&pair) {
            Ok(at) if !ignore => {
                ignored.remove(at);
            }
            // A body does not touch itself: that is no pair.
            Err(at) if ignore && a != b => ignored.insert(at, pair),
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
        self.disturb(id)?;
        self.get_mut(id)?.surface_velocity = velocity;
        self.activity.forget();
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
        self.wake(id)
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
        self.disturb(id)?;
        self.forget_contacts(id);
        self.touch(id);
        self.settle(id);
        Ok(())
    }

    /// Makes a body dynamic, kinematic or static. `mass` is needed where it becomes dynamic, and is
    /// not looked at otherwise. A body that becomes static stops.
    ///
    /// # Errors
    /// Where there is no such body, or the mass is not usable.
    pub fn set_kind(&mut self, id: BodyId, kind: BodyKind, mass: Mass) -> Result<(), WorldError> {
        self.disturb(id)?;
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
        self.settle(id);
        Ok(())
    }

    pub(crate) fn get(&self, id: BodyId) -> Result<&BodyState, WorldError> {
        self.state
            .bodies
            .get(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_ref())
            .ok_or(WorldError::NoSuchBody { id })
    }

    pub(crate) fn get_mut(&mut self, id: BodyId) -> Result<&mut BodyState, WorldError> {
        self.detection.forget_found(id.index);
        self.state
            .bodies
            .get_mut(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_mut())
            .ok_or(WorldError::NoSuchBody { id })
    }

    /// A body was added, changed or removed.
    fn touch(&mut self, id: BodyId) {
        self.detection.touch(id.index);
        self.activity.forget();
        self.forget_queries();
    }

    /// Drops the contacts and remembered impulses of a body that was moved or removed.
    fn forget_contacts(&mut self, id: BodyId) {
        self.state.contacts.retain(|c| c.a != id && c.b != id);
        self.state.kept.retain(|k| k.a != id && k.b != id);
        self.detection.forget_kept();
        self.state.cache.remove_body(id.to_bits());
        self.all_contacts.take();
    }
}
