//! Scenes, where they are put, and the audit of every step.
//!
//! Momentum of each dynamic body i over a step of length h:
//!
//! ```text
//! m (v+ - v) = h (m g + f) + sum of the reported impulses on i
//! ```
//!
//! Energy E = kinetic + potential of gravity and of constant forces. Impulses l whose contact
//! velocities are off by the reported residual r put at most |l| r into it, so that no step may lift
//! it above its smallest value so far plus the sum of |l| max(r, tolerance) since then. Bodies that
//! have sunk into each other (a contact seen late, at speed) are lifted back, which takes up to their
//! weight times what the correction takes out. A scene whose contacts turn adds the error of a
//! first-order scheme, [`Scene::energy_slack`].

use moreau::math::libm;
use moreau::{
    Body, BodyId, BodyKind, Joint, JointId, JointKind, Pose, Quat, StepReport, Vec3, Velocity,
    World, WorldSettings, vec3,
};

/// m/s².
pub(crate) const G: f64 = 9.81;
/// The steps at which closed-form scenes are run, s.
pub(crate) const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

/// SplitMix64: the stream of random scenes.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn vector(&mut self, size: f64) -> Vec3 {
        vec3(
            self.between(-size, size),
            self.between(-size, size),
            self.between(-size, size),
        )
    }

    /// Uniform over all rotations: a point of the unit ball in four dimensions, normalised.
    pub(crate) fn rotation(&mut self) -> Quat {
        loop {
            let v = self.vector(1.0);
            let q = Quat::from_xyzw(v.x, v.y, v.z, self.between(-1.0, 1.0));
            if (0.01..1.0).contains(&q.length_squared()) {
                return q.normalize();
            }
        }
    }
}

/// A turn about the z axis: positive lifts +x towards +y.
pub(crate) fn tilt(angle: f64) -> Quat {
    Quat::from_xyzw(0.0, 0.0, libm::sin(0.5 * angle), libm::cos(0.5 * angle)).normalize()
}

/// A turn about the y axis: positive takes +z towards +x.
pub(crate) fn heading(angle: f64) -> Quat {
    Quat::from_xyzw(0.0, libm::sin(0.5 * angle), 0.0, libm::cos(0.5 * angle)).normalize()
}

pub(crate) fn degrees(angle: f64) -> f64 {
    angle * std::f64::consts::PI / 180.0
}

struct JointRow {
    kind: JointKind,
    a: usize,
    b: usize,
    anchors: (Vec3, Vec3),
}

/// Bodies and joints in the scene's own frame, y up.
pub(crate) struct Scene {
    pub(crate) settings: WorldSettings,
    pub(crate) bodies: Vec<Body>,
    joints: Vec<JointRow>,
    /// How far the scheme may lift the energy above its smallest value so far, J.
    pub(crate) energy_slack: f64,
    /// Largest residual (m/s) that a step which is not certified may have. Default none.
    pub(crate) residual: f64,
    /// Whether a motor (kinematic body, moving surface) makes the energy meaningless.
    pub(crate) driven: bool,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            settings: WorldSettings::default(),
            bodies: Vec::new(),
            joints: Vec::new(),
            energy_slack: 0.0,
            residual: 0.0,
            driven: false,
        }
    }

    pub(crate) fn weightless() -> Self {
        let mut scene = Self::new();
        scene.settings.gravity = Vec3::ZERO;
        scene
    }

    pub(crate) fn add(&mut self, body: Body) -> usize {
        self.driven |= body.kind == BodyKind::Kinematic || body.surface_velocity != Vec3::ZERO;
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    /// Lengths of the settings times `size`, times and so speeds times its root: gravity stays.
    pub(crate) fn scale_settings(&mut self, size: f64) {
        let speed = size.sqrt();
        let s = &mut self.settings;
        s.prediction_distance *= size;
        s.bounce_threshold *= speed;
        s.standstill *= speed;
        s.position_correction.slop *= size;
        s.position_correction.max_speed *= speed;
        s.solver.simd.tolerance *= speed;
        s.solver.pgs.tolerance *= speed;
        s.solver.newton.tolerance *= speed;
        s.solver.newton.aim *= speed;
    }

    /// A half-space below y = 0.
    pub(crate) fn floor(&mut self, friction: f64, restitution: f64) -> usize {
        let floor = Body::fixed(moreau::Shape::half_space(Vec3::Y));
        self.add(floor.friction(friction).restitution(restitution))
    }

    pub(crate) fn join(
        &mut self,
        kind: JointKind,
        (a, anchor_a): (usize, Vec3),
        (b, anchor_b): (usize, Vec3),
    ) {
        self.joints.push(JointRow {
            kind,
            a,
            b,
            anchors: (anchor_a, anchor_b),
        });
    }

    /// A world with the scene put at `placement`.
    pub(crate) fn place(&self, placement: &Placement) -> Placed {
        let mut settings = self.settings;
        settings.gravity = placement.frame.rotation * settings.gravity;
        let mut world = World::new(settings).unwrap();
        let mut order: Vec<usize> = (0..self.bodies.len()).collect();
        if let Some(seed) = placement.shuffle {
            let mut random = Random(seed);
            for i in (1..order.len()).rev() {
                order.swap(i, (random.bits() % (i as u64 + 1)) as usize);
            }
        }
        let mut ids = vec![
            BodyId {
                index: 0,
                generation: 0
            };
            order.len()
        ];
        for index in order {
            let body = placement.put(&self.bodies[index]);
            ids[index] = world.add(body).unwrap();
        }
        let mut joints = Vec::new();
        for row in &self.joints {
            let ((a, b), (anchor_a, anchor_b)) = ((ids[row.a], ids[row.b]), row.anchors);
            let joint = Joint {
                kind: row.kind,
                ..Joint::ball(a, anchor_a, b, anchor_b)
            };
            joints.push(world.add_joint(joint).unwrap());
        }
        Placed {
            world,
            ids,
            joints,
            frame: placement.frame,
        }
    }
}

/// Where a scene is put and in which order its bodies are added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) frame: Pose,
    shuffle: Option<u64>,
}

impl Placement {
    /// The scene's own frame and order.
    pub(crate) const HOME: Self = Self {
        frame: Pose::IDENTITY,
        shuffle: None,
    };

    /// Turned at random, moved by up to `distance` (m) along each axis, bodies shuffled.
    pub(crate) fn random(seed: u64, distance: f64) -> Self {
        let mut random = Random(seed);
        let frame = Pose::new(random.vector(distance), random.rotation());
        Self {
            frame,
            shuffle: Some(random.bits()),
        }
    }

    /// Moved only.
    pub(crate) fn moved(translation: Vec3) -> Self {
        Self {
            frame: Pose::from_translation(translation),
            shuffle: None,
        }
    }

    fn put(&self, body: &Body) -> Body {
        let r = self.frame.rotation;
        let mut out = body.clone();
        out.pose = self.frame.mul_pose(&body.pose);
        out.pose.rotation = out.pose.rotation.normalize();
        out.velocity = Velocity::new(r * body.velocity.linear, r * body.velocity.angular);
        (out.force, out.torque) = (r * body.force, r * body.torque);
        out
    }
}

/// A scene in a world; reads in the scene's frame.
pub(crate) struct Placed {
    pub(crate) world: World,
    pub(crate) ids: Vec<BodyId>,
    pub(crate) joints: Vec<JointId>,
    pub(crate) frame: Pose,
}

impl Placed {
    pub(crate) fn position(&self, index: usize) -> Vec3 {
        let position = self.world.body(self.ids[index]).unwrap().position();
        self.frame.inverse_transform_point(position)
    }

    pub(crate) fn center_of_mass(&self, index: usize) -> Vec3 {
        let center = self.world.body(self.ids[index]).unwrap().center_of_mass();
        self.frame.inverse_transform_point(center)
    }

    pub(crate) fn rotation(&self, index: usize) -> Quat {
        let rotation = self.world.body(self.ids[index]).unwrap().rotation();
        self.frame.rotation.conjugate() * rotation
    }

    pub(crate) fn linear(&self, index: usize) -> Vec3 {
        self.frame.rotation.conjugate()
            * self.world.body(self.ids[index]).unwrap().velocity().linear
    }

    pub(crate) fn angular(&self, index: usize) -> Vec3 {
        self.frame.rotation.conjugate()
            * self.world.body(self.ids[index]).unwrap().velocity().angular
    }

    /// Sum of the contact impulses of the last step on body `b` from body `a`, N s.
    pub(crate) fn impulse(&self, a: usize, b: usize) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for c in self.world.contacts() {
            if (c.a, c.b) == (self.ids[a], self.ids[b]) {
                sum += c.world_impulse();
            } else if (c.b, c.a) == (self.ids[a], self.ids[b]) {
                sum -= c.world_impulse();
            }
        }
        self.frame.rotation.conjugate() * sum
    }

    /// Steps for `seconds`, auditing each step, and calls `each` after it.
    pub(crate) fn run(
        &mut self,
        scene: &Scene,
        dt: f64,
        seconds: f64,
        mut each: impl FnMut(&Self, &StepReport),
    ) {
        let steps = libm::round(seconds / dt) as u64;
        let mut audit = Audit::new(&self.world);
        for _ in 0..steps {
            let before: Vec<Vec3> = self.world.bodies().map(|b| b.momentum()).collect();
            let report = self.world.step(dt).unwrap();
            audit.check(&self.world, &before, scene, &report);
            each(self, &report);
        }
    }
}

/// Energy of a world: kinetic, potential of gravity and of constant forces, J.
pub(crate) fn energy(world: &World) -> f64 {
    let pushed = world
        .bodies()
        .map(|b| -b.constant_force().0.dot(b.center_of_mass()))
        .sum::<f64>();
    world.kinetic_energy() + world.potential_energy() + pushed
}

struct Audit {
    /// Smallest energy so far, and what inexact impulses may have added since, J.
    lowest: f64,
    start: f64,
    origin: f64,
}

impl Audit {
    fn new(world: &World) -> Self {
        let start = energy(world);
        Self {
            lowest: start,
            start,
            origin: 0.0,
        }
    }

    fn check(&mut self, world: &World, before: &[Vec3], scene: &Scene, report: &StepReport) {
        let (step, dt) = (report.step, report.dt);
        let solved = report.certified || report.residual <= scene.residual;
        assert!(
            solved,
            "step {step}: residual {} after {} sweeps",
            report.residual, report.sweeps
        );
        let mut kicks: Vec<(BodyId, Vec3)> = Vec::new();
        for c in world.contacts() {
            let impulse = c.world_impulse();
            kicks.push((c.a, -impulse));
            kicks.push((c.b, impulse));
        }
        for (id, joint) in world.joints() {
            let l = world.joint_impulse(id).unwrap();
            let impulse = match joint.kind {
                JointKind::Ball => vec3(l[0], l[1], l[2]),
                // The rod's direction at the start of the step is gone; its balance is checked by
                // the sum over both bodies elsewhere.
                JointKind::Distance { .. } => return self.check_finite(world, step),
            };
            kicks.push((joint.a, -impulse));
            kicks.push((joint.b, impulse));
        }
        kicks.sort_by_key(|(id, _)| *id);
        let mut largest: f64 = 0.0;
        for (body, before) in world.bodies().zip(before) {
            if body.kind() != BodyKind::Dynamic {
                continue;
            }
            let mass = body.mass_properties().mass;
            let from = kicks.partition_point(|(id, _)| *id < body.id());
            let to = kicks.partition_point(|(id, _)| *id <= body.id());
            let gravity = world.settings().gravity * body.gravity_scale();
            let mut balance = (gravity * mass + body.constant_force().0) * dt + *before;
            let mut size = before.length() + (balance - *before).length();
            for (_, kick) in &kicks[from..to] {
                balance += *kick;
                size += kick.length();
            }
            let error = (body.momentum() - balance).length();
            assert!(
                error <= 1e-11 * size + 1e-15 * mass,
                "step {step}: body {} has momentum {} where its impulses give {balance}",
                body.id(),
                body.momentum()
            );
            largest = largest.max(size);
        }
        self.check_finite(world, step);
        if scene.driven {
            return;
        }
        // Rounding of the sums of m g h grows with the distance from the origin.
        let energy = energy(world);
        let terms = world.bodies().map(|b| {
            let weight = world.settings().gravity * b.mass_properties().mass;
            let force = weight.length() + b.constant_force().0.length();
            force * b.center_of_mass().length() + b.kinetic_energy()
        });
        self.origin = terms.fold(self.origin, f64::max);
        let rounding = 1e-14 * self.origin * before.len() as f64;
        let impulses = kicks.iter().map(|(_, kick)| kick.length()).sum::<f64>();
        self.lowest += impulses
            * report
                .residual
                .max(world.settings().solver.newton.tolerance);
        let correction = world.settings().position_correction;
        let overlap = |c: &moreau::Contact| (-c.separation - correction.slop).max(0.0);
        let lift = correction.rate * world.contacts().iter().map(overlap).sum::<f64>();
        let mass = world
            .bodies()
            .map(|b| b.mass_properties().mass)
            .sum::<f64>();
        self.lowest += mass * world.settings().gravity.length() * lift;
        let rise = energy - self.lowest;
        assert!(
            rise <= scene.energy_slack + rounding,
            "step {step}: energy {energy} J is {rise} J above its smallest value; it began with {}",
            self.start
        );
        self.lowest = self.lowest.min(energy);
    }

    fn check_finite(&self, world: &World, step: u64) {
        for body in world.bodies() {
            let v = body.velocity();
            let finite = body.pose().is_finite() && v.linear.is_finite() && v.angular.is_finite();
            assert!(finite, "step {step}: body {} is not finite", body.id());
        }
    }
}

/// One number that a scene must give.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) scene: Scene,
    /// Simulated time, s.
    pub(crate) seconds: f64,
    pub(crate) measure: fn(&Placed) -> f64,
    pub(crate) expect: f64,
    /// Allowed |error| for a step of that length.
    pub(crate) tolerance: fn(f64) -> f64,
}

impl Case {
    /// Runs the case at all steps, at home and turned.
    pub(crate) fn check(&self) {
        everywhere(&STEPS, |dt, placement| {
            let mut placed = self.scene.place(placement);
            placed.run(&self.scene, dt, self.seconds, |_, _| {});
            let what = format!("{} at dt = {dt}, {placement:?}", self.name);
            near(
                &what,
                (self.measure)(&placed),
                self.expect,
                (self.tolerance)(dt),
            );
        });
    }
}

/// Calls `check` for every step at home and, for the longest one, at two random placements.
pub(crate) fn everywhere(steps: &[f64], mut check: impl FnMut(f64, &Placement)) {
    for dt in steps {
        check(*dt, &Placement::HOME);
    }
    for seed in 1..=2 {
        check(steps[0], &Placement::random(seed, 100.0));
    }
}

/// Asserts |measured - expect| <= tolerance.
#[track_caller]
pub(crate) fn near(what: &str, measured: f64, expect: f64, tolerance: f64) {
    // Written so that NaN fails.
    let close = (measured - expect).abs() <= tolerance;
    assert!(
        close,
        "{what}: {measured}, should be {expect} within {tolerance}"
    );
}
