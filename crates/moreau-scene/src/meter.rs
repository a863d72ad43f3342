//! What a run measures on the way: extremes of energy, drift, penetration, residual.

use crate::figures::SolverFigures;
use crate::gate::Quantity;
use crate::momentum::MomentumBalance;
use moreau_math::{Quat, Vec3};
use moreau_pipeline::{BodyId, BodyView, Contact, IslandSolver, StepReport, World};

/// Extremes over the steps so far, and what they are measured from.
pub(crate) struct Meter {
    /// Unit, against gravity.
    pub(crate) up: Vec3,
    /// Constant forces, N.
    forces: Vec<(BodyId, Vec3)>,
    /// Centre of mass of each body at the start, in id order.
    start: Vec<(BodyId, Vec3)>,
    start_energy: f64,
    /// Mechanical energy after the last step, J.
    energy: f64,
    pub(crate) energy_gain: f64,
    pub(crate) energy_drift: f64,
    pub(crate) cone_excess: f64,
    pub(crate) drift: f64,
    /// Of the centres of mass of bodies with mass, m.
    lowest: Vec3,
    highest: Vec3,
    pub(crate) max_penetration: f64,
    pub(crate) max_contact_points: usize,
    pub(crate) peak_speed: f64,
    pub(crate) residual: f64,
    pub(crate) uncertified: u64,
    pub(crate) guarded: u64,
    pub(crate) sweeps: u32,
    /// One for each solver.
    pub(crate) solvers: Vec<SolverFigures>,
    pub(crate) balance: MomentumBalance,
    /// `None` where no gate asks for it.
    spin: Option<Spin>,
    tracked: Vec<Tracked>,
    pub(crate) last: Option<StepReport>,
}

/// Angular momentum of all dynamic bodies about the world's origin.
struct Spin {
    start: Vec3,
    drift: f64,
}

/// A body that a gate looks at.
struct Tracked {
    id: BodyId,
    start_position: Vec3,
    start_rotation: Quat,
    start_center: Vec3,
    center: Vec3,
    path: f64,
    /// Height at which it touched in the step of its first push.
    touch: f64,
    /// Highest place since the first push.
    highest: Option<f64>,
    /// Normal, towards the body, of the last contact that pushed it.
    push: Vec3,
}

impl Meter {
    /// `forces`: the constant force of each body that has one, N; `gates`: what will be asked for.
    pub(crate) fn new(
        world: &World,
        up: Vec3,
        forces: Vec<(BodyId, Vec3)>,
        weight: Vec3,
        gates: &[(Quantity, Option<BodyId>)],
    ) -> Self {
        let spins = gates.iter().any(|g| g.0 == Quantity::AngularMomentumDrift);
        let mut ids: Vec<BodyId> = gates.iter().filter_map(|g| g.1).collect();
        ids.sort_unstable();
        ids.dedup();
        let tracked = ids.into_iter().filter_map(|id| world.body(id).ok());
        let tracked = tracked.map(|body| Tracked::new(&body)).collect();
        let mut meter = Self {
            up,
            start: world
                .bodies()
                .map(|b| (b.id(), b.center_of_mass()))
                .collect(),
            start_energy: 0.0,
            energy: 0.0,
            energy_gain: 0.0,
            energy_drift: 0.0,
            cone_excess: 0.0,
            drift: 0.0,
            lowest: Vec3::INFINITY,
            highest: Vec3::NEG_INFINITY,
            max_penetration: 0.0,
            max_contact_points: 0,
            peak_speed: max_speed(world),
            residual: 0.0,
            uncertified: 0,
            guarded: 0,
            sweeps: 0,
            solvers: IslandSolver::ALL.map(SolverFigures::none).into(),
            balance: MomentumBalance::new(world, &forces, weight),
            spin: spins.then(|| Spin {
                start: angular_momentum(world),
                drift: 0.0,
            }),
            tracked,
            forces,
            last: None,
        };
        meter.reach(world);
        meter.start_energy = meter.mechanical_energy(world);
        meter.energy = meter.start_energy;
        meter
    }

    pub(crate) fn before_step(&mut self, world: &World) {
        self.balance.before_step(world);
    }

    pub(crate) fn after_step(&mut self, world: &World, report: &StepReport) {
        self.energy = self.mechanical_energy(world);
        let rise = self.energy - self.start_energy;
        self.energy_gain = self.energy_gain.max(rise);
        self.energy_drift = self.energy_drift.max(rise.abs());
        self.reach(world);
        for (body, (id, start)) in world.bodies().zip(&self.start) {
            if body.id() == *id && body.mass_properties().mass > 0.0 {
                let drift = across(body.center_of_mass() - *start, self.up);
                self.drift = self.drift.max(drift);
            }
        }
        self.max_penetration = self.max_penetration.max(report.max_penetration);
        self.max_contact_points = self.max_contact_points.max(report.contact_points);
        self.peak_speed = self.peak_speed.max(max_speed(world));
        self.residual = self.residual.max(report.residual);
        self.uncertified += u64::from(!report.certified);
        self.guarded += u64::from(report.guarded_islands > 0);
        self.sweeps = self.sweeps.max(report.sweeps);
        for (sum, (_, share)) in self.solvers.iter_mut().zip(report.solvers.iter()) {
            sum.add(share);
        }
        self.cone_excess = self.cone_excess.max(cone_excess(world.contacts()));
        self.balance.after_step(world, report.dt);
        if let Some(spin) = &mut self.spin {
            spin.drift = spin
                .drift
                .max((angular_momentum(world) - spin.start).length());
        }
        for body in &mut self.tracked {
            body.after_step(world, self.up);
        }
        self.last = Some(*report);
    }

    /// Takes in where the bodies are.
    fn reach(&mut self, world: &World) {
        for body in world.bodies() {
            if body.mass_properties().mass > 0.0 {
                self.lowest = self.lowest.min(body.center_of_mass());
                self.highest = self.highest.max(body.center_of_mass());
            }
        }
    }

    /// Kinetic energy and the potentials of gravity and of the constant forces, J.
    fn mechanical_energy(&self, world: &World) -> f64 {
        let mut energy = world.kinetic_energy() + world.potential_energy();
        for (id, force) in &self.forces {
            if let Ok(body) = world.body(*id) {
                energy -= force.dot(body.center_of_mass());
            }
        }
        energy
    }

    /// The value of a quantity. NaN for a body that is not there, which passes no gate.
    pub(crate) fn read(&self, world: &World, quantity: Quantity, body: Option<BodyId>) -> f64 {
        use Quantity::*;
        let last = self.last.unwrap_or_default();
        match quantity {
            KineticEnergy => world.kinetic_energy(),
            EnergyChange => self.energy - self.start_energy,
            EnergyGain => self.energy_gain,
            EnergyDrift => self.energy_drift,
            MomentumX => MomentumBalance::total(world).x,
            MomentumY => MomentumBalance::total(world).y,
            MomentumZ => MomentumBalance::total(world).z,
            MomentumDrift => self.balance.drift(),
            AngularMomentumDrift => self.spin.as_ref().map_or(f64::NAN, |spin| spin.drift),
            MaxPenetration => self.max_penetration,
            Penetration => last.max_penetration,
            MaxHorizontalDrift => self.drift,
            LowestX => self.lowest.x,
            LowestY => self.lowest.y,
            LowestZ => self.lowest.z,
            HighestX => self.highest.x,
            HighestY => self.highest.y,
            HighestZ => self.highest.z,
            MaxSpeed => max_speed(world),
            ResidualMax => self.residual,
            UncertifiedSteps => self.uncertified as f64,
            ContactPoints => last.contact_points as f64,
            _ => {
                let tracked = self.tracked.iter().find(|t| Some(t.id) == body);
                match tracked.and_then(|t| world.body(t.id).ok().map(|view| (t, view))) {
                    Some((tracked, view)) => tracked.read(&view, quantity, self.up),
                    None => f64::NAN,
                }
            }
        }
    }
}

impl Tracked {
    fn new(body: &BodyView<'_>) -> Self {
        let center = body.center_of_mass();
        Self {
            id: body.id(),
            start_position: body.position(),
            start_rotation: body.rotation(),
            start_center: center,
            center,
            path: 0.0,
            touch: f64::NAN,
            highest: None,
            push: Vec3::ZERO,
        }
    }

    fn after_step(&mut self, world: &World, up: Vec3) {
        let Ok(body) = world.body(self.id) else {
            return;
        };
        let before = std::mem::replace(&mut self.center, body.center_of_mass());
        self.path += (self.center - before).length();
        for contact in world.contacts() {
            if contact.impulse.x <= 0.0 || (contact.a != self.id && contact.b != self.id) {
                continue;
            }
            self.push = if contact.a == self.id {
                -contact.normal
            } else {
                contact.normal
            };
            if self.touch.is_nan() {
                // The separation is that at the start of the step.
                self.touch = up.dot(before - self.push * contact.separation);
            }
        }
        if self.push != Vec3::ZERO {
            let height = up.dot(self.center);
            self.highest = Some(self.highest.map_or(height, |h| h.max(height)));
        }
    }

    fn read(&self, body: &BodyView<'_>, quantity: Quantity, up: Vec3) -> f64 {
        use Quantity::*;
        let position = body.position();
        let displacement = position - self.start_position;
        let moved = body.center_of_mass() - self.start_center;
        let velocity = body.velocity();
        match quantity {
            PositionX => position.x,
            PositionY => position.y,
            PositionZ => position.z,
            DisplacementX => displacement.x,
            DisplacementY => displacement.y,
            DisplacementZ => displacement.z,
            LinearVelocityX => velocity.linear.x,
            LinearVelocityY => velocity.linear.y,
            LinearVelocityZ => velocity.linear.z,
            AngularVelocityX => velocity.angular.x,
            AngularVelocityY => velocity.angular.y,
            AngularVelocityZ => velocity.angular.z,
            Speed => velocity.linear.length(),
            AngularSpeed => velocity.angular.length(),
            Distance => moved.length(),
            PathLength => self.path,
            Drift => across(moved, up),
            TurnedDegrees => {
                // |sin| and |cos| of half the angle.
                let turn = body.rotation() * self.start_rotation.conjugate();
                let sine = Vec3::new(turn.x, turn.y, turn.z).length();
                2.0 * moreau_math::libm::atan2(sine, turn.w.abs()).to_degrees()
            }
            ReboundRatio => match self.highest {
                None => 0.0,
                Some(highest) => (highest - self.touch) / (up.dot(self.start_center) - self.touch),
            },
            LastPushX => self.push.x,
            LastPushY => self.push.y,
            LastPushZ => self.push.z,
            // Quantities of the whole scene are read above.
            _ => f64::NAN,
        }
    }
}

/// Length of the part of `v` perpendicular to the unit vector `up`.
fn across(v: Vec3, up: Vec3) -> f64 {
    (v - up * v.dot(up)).length()
}

/// Largest |l_t| - mu l_n of a contact over the largest l_n; 0 where all lie in their cones.
fn cone_excess(contacts: &[Contact]) -> f64 {
    let (mut excess, mut normal) = (0.0_f64, 0.0_f64);
    for c in contacts {
        let i = c.impulse;
        let tangential = (i.y * i.y + i.z * i.z).sqrt();
        excess = excess.max(tangential - c.friction * i.x);
        normal = normal.max(i.x);
    }
    if excess > 0.0 { excess / normal } else { 0.0 }
}

/// Largest speed of a dynamic body, m/s.
pub(crate) fn max_speed(world: &World) -> f64 {
    let dynamic = world
        .bodies()
        .filter(|body| body.mass_properties().mass > 0.0);
    dynamic
        .map(|body| body.velocity().linear.length())
        .fold(0.0, f64::max)
}

fn angular_momentum(world: &World) -> Vec3 {
    let mut total = Vec3::ZERO;
    for body in world.bodies() {
        let (mass, v) = (body.mass_properties(), body.velocity());
        if mass.mass > 0.0 {
            total += body.center_of_mass().cross(v.linear * mass.mass);
            total += mass.angular_momentum(body.rotation(), v.angular);
        }
    }
    total
}
