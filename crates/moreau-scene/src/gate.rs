//! Gates: closed-form answers that a run of the scene must give.

use crate::body::BodyRef;
use crate::build::{BuiltScene, unknown_body};
use crate::error::{Path, SceneError};
use crate::run::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What must come out of a run: a quantity at a step, and its bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a gate, such as {\"quantity\": \"max_penetration\", \"at_most\": 1e-4, \"reason\": \"…\"}"
)]
pub struct Gate {
    /// What is looked at.
    pub quantity: Quantity,
    /// Of which body, by name or index. Must be given for quantities of a body, and left out for
    /// those of the whole scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyRef>,
    /// After how many steps of the scene's own dt. Default: after its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_step: Option<u64>,
    /// The right answer; together with `tolerance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Largest distance from `value`, 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Least allowed value. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Largest allowed value. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Where the bounds come from: the law, and what the time step adds.
    pub reason: String,
}

/// What a gate looks at. World axes, SI units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Quantity {
    /// Of a body: x of its origin, m.
    #[serde(rename = "position.x")]
    PositionX,
    /// Of a body: y of its origin, m.
    #[serde(rename = "position.y")]
    PositionY,
    /// Of a body: z of its origin, m.
    #[serde(rename = "position.z")]
    PositionZ,
    /// Of a body: x of its origin minus that at the start, m.
    #[serde(rename = "displacement.x")]
    DisplacementX,
    /// Of a body: y of its origin minus that at the start, m.
    #[serde(rename = "displacement.y")]
    DisplacementY,
    /// Of a body: z of its origin minus that at the start, m.
    #[serde(rename = "displacement.z")]
    DisplacementZ,
    /// Of a body: x of its centre of mass's velocity, m/s.
    #[serde(rename = "linear_velocity.x")]
    LinearVelocityX,
    /// Of a body: y of its centre of mass's velocity, m/s.
    #[serde(rename = "linear_velocity.y")]
    LinearVelocityY,
    /// Of a body: z of its centre of mass's velocity, m/s.
    #[serde(rename = "linear_velocity.z")]
    LinearVelocityZ,
    /// Of a body: x of its angular velocity, rad/s.
    #[serde(rename = "angular_velocity.x")]
    AngularVelocityX,
    /// Of a body: y of its angular velocity, rad/s.
    #[serde(rename = "angular_velocity.y")]
    AngularVelocityY,
    /// Of a body: z of its angular velocity, rad/s.
    #[serde(rename = "angular_velocity.z")]
    AngularVelocityZ,
    /// Of a body: length of its centre of mass's velocity, m/s.
    #[serde(rename = "speed")]
    Speed,
    /// Of a body: length of its angular velocity, rad/s.
    #[serde(rename = "angular_speed")]
    AngularSpeed,
    /// Of a body: straight distance of its centre of mass from where it was at the start, m.
    #[serde(rename = "distance")]
    Distance,
    /// Of a body: length of the way of its centre of mass, m.
    #[serde(rename = "path_length")]
    PathLength,
    /// Of a body: distance of its centre of mass from where it was at the start, perpendicular to
    /// gravity, m.
    #[serde(rename = "drift")]
    Drift,
    /// Of a body: the angle that it has turned since the start, degrees, 0 to 180.
    #[serde(rename = "turned_degrees")]
    TurnedDegrees,
    /// Of a body: (highest place since it was first pushed by a contact - place of that touch)/(place
    /// at the start - place of that touch), of its centre of mass, against gravity. e² for a ball
    /// that is dropped. 0 before the first push.
    #[serde(rename = "rebound_ratio")]
    ReboundRatio,
    /// Of a body: x of the normal, towards it, of the last contact that pushed it; 0 before.
    #[serde(rename = "last_push.x")]
    LastPushX,
    /// Of a body: y of the normal, towards it, of the last contact that pushed it; 0 before.
    #[serde(rename = "last_push.y")]
    LastPushY,
    /// Of a body: z of the normal, towards it, of the last contact that pushed it; 0 before.
    #[serde(rename = "last_push.z")]
    LastPushZ,
    /// Kinetic energy of all dynamic bodies, J.
    #[serde(rename = "kinetic_energy")]
    KineticEnergy,
    /// Mechanical energy minus that at the start, J (see `energy_gain_j` of the figures).
    #[serde(rename = "energy_change")]
    EnergyChange,
    /// Largest rise of the mechanical energy over that at the start so far, J, at least 0.
    #[serde(rename = "energy_gain")]
    EnergyGain,
    /// Largest distance of the mechanical energy from that at the start so far, J.
    #[serde(rename = "energy_drift")]
    EnergyDrift,
    /// x of the linear momentum of all dynamic bodies, N s.
    #[serde(rename = "momentum.x")]
    MomentumX,
    /// y of the linear momentum of all dynamic bodies, N s.
    #[serde(rename = "momentum.y")]
    MomentumY,
    /// z of the linear momentum of all dynamic bodies, N s.
    #[serde(rename = "momentum.z")]
    MomentumZ,
    /// The figure `momentum_drift` so far.
    #[serde(rename = "momentum_drift")]
    MomentumDrift,
    /// Largest change of the angular momentum of all dynamic bodies about the world's origin so
    /// far, kg m²/s. Constant only where nothing turns them from outside.
    #[serde(rename = "angular_momentum_drift")]
    AngularMomentumDrift,
    /// Deepest overlap so far, m.
    #[serde(rename = "max_penetration")]
    MaxPenetration,
    /// Deepest overlap in the last step, m.
    #[serde(rename = "penetration")]
    Penetration,
    /// The figure `max_horizontal_drift_m` so far.
    #[serde(rename = "max_horizontal_drift")]
    MaxHorizontalDrift,
    /// Least x of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "lowest.x")]
    LowestX,
    /// Least y of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "lowest.y")]
    LowestY,
    /// Least z of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "lowest.z")]
    LowestZ,
    /// Greatest x of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "highest.x")]
    HighestX,
    /// Greatest y of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "highest.y")]
    HighestY,
    /// Greatest z of the centre of mass of a body with mass, at the start and after each step so far, m.
    #[serde(rename = "highest.z")]
    HighestZ,
    /// Largest speed of a dynamic body, m/s.
    #[serde(rename = "max_speed")]
    MaxSpeed,
    /// Largest residual of a step so far, m/s.
    #[serde(rename = "residual_max")]
    ResidualMax,
    /// Steps so far in which a solve did not converge.
    #[serde(rename = "uncertified_steps")]
    UncertifiedSteps,
    /// Contact points in the last step.
    #[serde(rename = "contact_points")]
    ContactPoints,
}

impl Quantity {
    /// Whether it is one of a body.
    pub fn needs_body(self) -> bool {
        use Quantity::*;
        match self {
            PositionX | PositionY | PositionZ | DisplacementX | DisplacementY | DisplacementZ
            | LinearVelocityX | LinearVelocityY | LinearVelocityZ | AngularVelocityX
            | AngularVelocityY | AngularVelocityZ | Speed | AngularSpeed | Distance
            | PathLength | Drift | TurnedDegrees | ReboundRatio | LastPushX | LastPushY
            | LastPushZ => true,
            KineticEnergy | EnergyChange | EnergyGain | EnergyDrift | MomentumX | MomentumY
            | MomentumZ | MomentumDrift | AngularMomentumDrift | MaxPenetration | Penetration
            | MaxHorizontalDrift | LowestX | LowestY | LowestZ | HighestX | HighestY | HighestZ
            | MaxSpeed | ResidualMax | UncertifiedSteps | ContactPoints => false,
        }
    }
}

impl fmt::Display for Quantity {
    /// The name in the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Gate {
    /// A gate on `value` within `tolerance` at the end.
    pub fn near(quantity: Quantity, value: f64, tolerance: f64, reason: &str) -> Self {
        Self {
            value: Some(value),
            tolerance: Some(tolerance),
            ..Self::blank(quantity, reason)
        }
    }

    /// A gate on at most `bound` at the end.
    pub fn at_most(quantity: Quantity, bound: f64, reason: &str) -> Self {
        Self {
            at_most: Some(bound),
            ..Self::blank(quantity, reason)
        }
    }

    /// A gate on at least `bound` at the end.
    pub fn at_least(quantity: Quantity, bound: f64, reason: &str) -> Self {
        Self {
            at_least: Some(bound),
            ..Self::blank(quantity, reason)
        }
    }

    fn blank(quantity: Quantity, reason: &str) -> Self {
        Self {
            quantity,
            body: None,
            at_step: None,
            value: None,
            tolerance: None,
            at_least: None,
            at_most: None,
            reason: reason.into(),
        }
    }

    /// Makes it one of a body.
    #[must_use]
    pub fn of(mut self, body: impl Into<BodyRef>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Makes it look after that many steps of the scene's own dt.
    #[must_use]
    pub fn at_step(mut self, step: u64) -> Self {
        self.at_step = Some(step);
        self
    }

    /// Least and largest allowed value.
    pub fn bounds(&self) -> (f64, f64) {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        if let (Some(value), Some(tolerance)) = (self.value, self.tolerance) {
            (low, high) = (value - tolerance, value + tolerance);
        }
        (
            low.max(self.at_least.unwrap_or(low)),
            high.min(self.at_most.unwrap_or(high)),
        )
    }

    pub(crate) fn check(&self, built: &BuiltScene, path: &Path<'_>) -> Result<(), SceneError> {
        match (&self.body, self.quantity.needs_body()) {
            (None, true) => {
                let allowed = format!("the body whose {} is meant", self.quantity);
                return Err(path.key("body").invalid("missing", &allowed));
            }
            (Some(body), false) => {
                let allowed = format!("left out: {} is one of the whole scene", self.quantity);
                return Err(path.key("body").invalid(body, &allowed));
            }
            (Some(body), true) if built.resolve(body).is_none() => {
                return Err(unknown_body(body, built, &path.key("body")));
            }
            _ => {}
        }
        let numbers = [
            ("value", self.value),
            ("tolerance", self.tolerance),
            ("at_least", self.at_least),
            ("at_most", self.at_most),
        ];
        for (field, number) in numbers {
            if let Some(x) = number
                && !x.is_finite()
            {
                return Err(path.key(field).invalid(x, "finite"));
            }
        }
        if let Some(tolerance) = self.tolerance
            && tolerance < 0.0
        {
            return Err(path.key("tolerance").invalid(tolerance, "0 or more"));
        }
        let paired = self.value.is_some() == self.tolerance.is_some();
        let bounded = self.value.is_some() || self.at_least.is_some() || self.at_most.is_some();
        if !paired || !bounded {
            let allowed = "`value` with `tolerance`, `at_least` or `at_most`";
            return Err(path.invalid("without bounds", allowed));
        }
        let (low, high) = self.bounds();
        if low > high {
            return Err(path.invalid(format!("{low} to {high}"), "a range that is not empty"));
        }
        if self.reason.is_empty() {
            return Err(path
                .key("reason")
                .invalid("empty", "where the bounds come from"));
        }
        Ok(())
    }
}

/// How a gate came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Within the bounds.
    Passed,
    /// Outside, or not a number.
    Failed,
    /// The run has not made that many steps.
    NotReached,
}

/// A gate and what the run gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateResult {
    /// Place of the gate in the scene's `expect`.
    pub gate: usize,
    /// What was looked at.
    pub quantity: Quantity,
    /// Of which body: its name, or its index in the file.
    pub body: Option<String>,
    /// After how many steps of the run.
    pub step: u64,
    /// What came out; `None` where the run has not made that many steps.
    pub found: Option<f64>,
    /// Least allowed value; `None` where any is.
    pub at_least: Option<f64>,
    /// Largest allowed value; `None` where any is.
    pub at_most: Option<f64>,
    /// How it came out.
    pub verdict: Verdict,
    /// Where the bounds come from.
    pub reason: String,
}

impl GateResult {
    /// That of the gate in that place of `expect`, looked at after that many steps of the run; nothing was
    /// `found` where the run has not made them.
    pub fn new(gate: &Gate, index: usize, step: u64, found: Option<f64>) -> Self {
        let (low, high) = gate.bounds();
        let verdict = match found {
            None => Verdict::NotReached,
            Some(x) if x >= low && x <= high => Verdict::Passed,
            Some(_) => Verdict::Failed,
        };
        Self {
            gate: index,
            quantity: gate.quantity,
            body: gate.body.as_ref().map(BodyRef::to_string),
            step,
            found,
            at_least: Some(low).filter(|x| x.is_finite()),
            at_most: Some(high).filter(|x| x.is_finite()),
            verdict,
            reason: gate.reason.clone(),
        }
    }

    /// Whether the run gave a value within the bounds.
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }
}

impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.quantity)?;
        if let Some(body) = &self.body {
            write!(f, " of {body}")?;
        }
        write!(f, " at step {}: ", self.step)?;
        match self.found {
            Some(x) => write!(f, "{x}, ")?,
            None => f.write_str("not reached, ")?,
        }
        match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => write!(f, "must be {low} to {high}")?,
            (Some(low), None) => write!(f, "must be at least {low}")?,
            (None, Some(high)) => write!(f, "must be at most {high}")?,
            (None, None) => {}
        }
        write!(f, " ({})", self.reason)
    }
}

/// How all gates of the run's scene came out, in the order of its `expect`.
///
/// Bounds hold for the scene's own dt. A run with another dt looks at the same times; it may fail
/// where the bounds are narrower than what its step adds.
pub fn evaluate(run: &Run) -> Vec<GateResult> {
    run.gates()
}
