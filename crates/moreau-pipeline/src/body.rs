use crate::sleep::Rest;
use crate::trial::Trial;
use crate::{BodyId, Material, WorldError};
use moreau_collision::{Groups, Shape, ShapeError};
use moreau_math::{MassProperties, Pose, Quat, SymMat3, Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    /// Forces and contacts.
    Dynamic,
    /// Its given velocity; contacts do not change it.
    Kinematic,
    /// Nothing.
    Static,
}

/// The description of a body that is added to a world.
///
/// ```
/// # use moreau_collision::Shape;
/// # use moreau_math::{Vec3, vec3};
/// # use moreau_pipeline::Body;
/// let ball = Body::dynamic(Shape::sphere(0.1))
///     .at(vec3(0.0, 2.0, 0.0))
///     .moving(vec3(1.0, 0.0, 0.0), Vec3::ZERO)
///     .density(7800.0)
///     .restitution(0.8);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What moves it.
    pub kind: BodyKind,
    /// Geometry in the body's frame.
    pub shape: Shape,
    /// The body's frame in the world. The origin need not be the centre of mass.
    pub pose: Pose,
    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s), world frame. A static
    /// body's must be zero.
    pub velocity: Velocity,
    /// Where the mass comes from; only dynamic bodies use it.
    pub mass: Mass,
    /// Surface.
    pub material: Material,
    /// Velocity of the surface relative to the body, m/s, body axes: conveyor belts. Default zero.
    pub surface_velocity: Vec3,
    /// Factor of the world's gravity. Default 1.
    pub gravity_scale: f64,
    /// Keeps the body from turning, as if its inertia were infinite. Default false.
    pub lock_rotation: bool,
    /// Force through the centre of mass in every step, N, world frame. Default zero.
    pub force: Vec3,
    /// Torque in every step, N m, world frame. Default zero.
    pub torque: Vec3,
    /// Which bodies it collides with. Default all.
    pub groups: Groups,
    /// Reports what overlaps it, and pushes nothing and is pushed by nothing. Default false.
    pub sensor: bool,
    /// Takes the impacts in which it has a part one after the other, however many there are in a step
    /// (`docs/collision.md`). For dynamic bodies; others ignore it. Default false.
    pub bullet: bool,
}

/// Where a body's mass comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mass {
    /// The shape, filled with this density, kg/m³.
    Density(f64),
    /// The shape, filled evenly with this mass, kg.
    Total(f64),
    /// Given outright, in the body's frame.
    Properties(MassProperties),
}

impl Body {
    fn new(kind: BodyKind, shape: Shape) -> Self {
        Self {
            kind,
            shape,
            pose: Pose::IDENTITY,
            velocity: Velocity::ZERO,
            mass: Mass::Density(1000.0),
            material: Material::default(),
            surface_velocity: Vec3::ZERO,
            gravity_scale: 1.0,
            lock_rotation: false,
            force: Vec3::ZERO,
            torque: Vec3::ZERO,
            groups: Groups::ALL,
            sensor: false,
            bullet: false,
        }
    }

    /// A body that forces and contacts move; of density 1000 kg/m³ until told otherwise.
    pub fn dynamic(shape: Shape) -> Self {
        Self::new(BodyKind::Dynamic, shape)
    }

    /// A body that never moves.
    pub fn fixed(shape: Shape) -> Self {
        Self::new(BodyKind::Static, shape)
    }

    /// A body that moves with its given velocity whatever it touches.
    pub fn kinematic(shape: Shape) -> Self {
        Self::new(BodyKind::Kinematic, shape)
    }

    /// Places its origin, m.
    #[must_use]
    pub fn at(mut self, position: Vec3) -> Self {
        self.pose.translation = position;
        self
    }

    /// Turns it: body axes to world axes.
    #[must_use]
    pub fn rotated(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Gives it a velocity of its centre of mass (m/s) and an angular velocity (rad/s), world frame.
    #[must_use]
    pub fn moving(mut self, linear: Vec3, angular: Vec3) -> Self {
        self.velocity = Velocity::new(linear, angular);
        self
    }

    /// Density, kg/m³.
    #[must_use]
    pub fn density(mut self, density: f64) -> Self {
        self.mass = Mass::Density(density);
        self
    }

    /// Mass, kg, spread evenly over the shape.
    #[must_use]
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Mass::Total(mass);
        self
    }

    /// Mass, centre of mass and inertia outright.
    #[must_use]
    pub fn mass_properties(mut self, properties: MassProperties) -> Self {
        self.mass = Mass::Properties(properties);
        self
    }

    /// Coulomb's coefficient.
    #[must_use]
    pub fn friction(mut self, friction: f64) -> Self {
        self.material.friction = friction;
        self
    }

    /// Newton's coefficient, 0 to 1.
    #[must_use]
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.material.restitution = restitution;
        self
    }

    /// Friction, restitution and how they combine.
    #[must_use]
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Velocity of the surface relative to the body, m/s, body axes.
    #[must_use]
    pub fn surface_velocity(mut self, velocity: Vec3) -> Self {
        self.surface_velocity = velocity;
        self
    }

    /// Keeps it from turning.
    #[must_use]
    pub fn without_rotation(mut self) -> Self {
        self.lock_rotation = true;
        self
    }

    /// Which bodies it collides with.
    #[must_use]
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = groups;
        self
    }

    /// Makes it report what overlaps it, see [`crate::World::sensor_events`]; it then pushes nothing
    /// and is pushed by nothing.
    #[must_use]
    pub fn sensor(mut self) -> Self {
        self.sensor = true;
        self
    }

    /// Makes it a bullet: its impacts within a step, and those that they lead to, are taken one after
    /// the other, each where and when it happens.
    #[must_use]
    pub fn bullet(mut self) -> Self {
        self.bullet = true;
        self
    }

    /// Force (N) through the centre of mass and torque (N m) in every step, world frame.
    #[must_use]
    pub fn pushed(mut self, force: Vec3, torque: Vec3) -> Self {
        self.force = force;
        self.torque = torque;
        self
    }
}

/// A body inside the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BodyState {
    pub(crate) kind: BodyKind,
    pub(crate) shape: Shape,
    pub(crate) material: Material,
    /// Centre of mass in the world, m: the state that is integrated.
    pub(crate) center: Vec3,
    pub(crate) rotation: Quat,
    pub(crate) velocity: Velocity,
    /// In the body frame; zero mass for a body that is not dynamic.
    pub(crate) mass: MassProperties,
    pub(crate) inverse_mass: f64,
    /// Inverse inertia in body axes; zero where nothing turns it.
    pub(crate) inverse_inertia: SymMat3,
    pub(crate) surface_velocity: Vec3,
    pub(crate) gravity_scale: f64,
    pub(crate) lock_rotation: bool,
    pub(crate) constant_force: Vec3,
    pub(crate) constant_torque: Vec3,
    /// Of the next step only.
    pub(crate) force: Vec3,
    pub(crate) torque: Vec3,
    pub(crate) groups: Groups,
    pub(crate) sensor: bool,
    pub(crate) bullet: bool,
    pub(crate) rest: Rest,
    pub(crate) trial: Trial,
}

const POSITIVE: &str = "positive and finite";
const FINITE: &str = "finite";

impl BodyState {
    /// Checks a description and works out its masses. `id` is the one that it gets.
    pub(crate) fn new(body: Body, id: BodyId) -> Result<Self, WorldError> {
        body.shape
            .validate()
            .map_err(|source| WorldError::BadShape { id, source })?;
        let pose = checked_pose(&body.pose, id)?;
        let mut state = Self {
            kind: body.kind,
            shape: body.shape,
            material: body.material,
            center: pose.translation,
            rotation: pose.rotation,
            velocity: Velocity::ZERO,
            mass: MassProperties {
                mass: 0.0,
                center_of_mass: Vec3::ZERO,
                inertia: SymMat3::ZERO,
            },
            inverse_mass: 0.0,
            inverse_inertia: SymMat3::ZERO,
            surface_velocity: Vec3::ZERO,
            gravity_scale: 1.0,
            lock_rotation: body.lock_rotation,
            constant_force: Vec3::ZERO,
            constant_torque: Vec3::ZERO,
            force: Vec3::ZERO,
            torque: Vec3::ZERO,
            groups: body.groups,
            sensor: body.sensor,
            bullet: body.bullet,
            rest: Rest::AWAKE,
            trial: Trial::default(),
        };
        if body.kind == BodyKind::Dynamic {
            state.set_mass(body.mass, id)?;
        }
        state.set_pose(pose);
        state.set_velocity(body.velocity, id)?;
        check_material(&body.material, id)?;
        state.surface_velocity = finite("surface_velocity", body.surface_velocity, id)?;
        if !body.gravity_scale.is_finite() {
            return Err(bad(id, "gravity_scale", body.gravity_scale, FINITE));
        }
        state.gravity_scale = body.gravity_scale;
        state.constant_force = finite("force", body.force, id)?;
        state.constant_torque = finite("torque", body.torque, id)?;
        Ok(state)
    }

    /// Works out mass, inertia and their inverses from the shape.
    pub(crate) fn set_mass(&mut self, mass: Mass, id: BodyId) -> Result<(), WorldError> {
        let shape_error = |source| WorldError::BadShape { id, source };
        let properties = match mass {
            Mass::Density(density) => {
                if !(density > 0.0 && density.is_finite()) {
                    return Err(bad(id, "density", density, POSITIVE));
                }
                self.shape.mass_properties(density).map_err(shape_error)?
            }
            Mass::Total(total) => {
                if !(total > 0.0 && total.is_finite()) {
                    return Err(bad(id, "mass", total, POSITIVE));
                }
                let unit = self.shape.mass_properties(1.0).map_err(shape_error)?;
                MassProperties {
                    mass: total,
                    center_of_mass: unit.center_of_mass,
                    inertia: unit.inertia.scaled(total / unit.mass),
                }
            }
            Mass::Properties(_) if !self.shape.is_solid() => {
                let shape = self.shape.kind();
                return Err(shape_error(ShapeError::Unbounded { shape }));
            }
            Mass::Properties(properties) => properties,
        };
        let m = properties.mass;
        if !(m > 0.0 && m.is_finite() && (1.0 / m).is_finite() && 1.0 / m > 0.0) {
            return Err(bad(id, "mass", m, POSITIVE));
        }
        finite("center_of_mass", properties.center_of_mass, id)?;
        let i = properties.inertia;
        let inverse = i.inverse().filter(|inverse| inverse.is_finite());
        // Positive definite: all leading minors positive.
        let minors_positive = i.xx > 0.0 && i.xx * i.yy > i.xy * i.xy && i.determinant() > 0.0;
        let Some(inverse) = inverse.filter(|_| i.is_finite() && minors_positive) else {
            let allowed = "positive definite and finite, its inverse too";
            return Err(bad(id, "inertia", format!("{i:?}"), allowed));
        };
        self.mass = properties;
        self.inverse_mass = 1.0 / m;
        self.inverse_inertia = if self.lock_rotation {
            SymMat3::ZERO
        } else {
            inverse
        };
        Ok(())
    }

    pub(crate) fn set_velocity(&mut self, v: Velocity, id: BodyId) -> Result<(), WorldError> {
        self.check_velocity(&v, id)?;
        self.velocity = v;
        Ok(())
    }

    /// Whether the body can have this velocity.
    pub(crate) fn check_velocity(&self, v: &Velocity, id: BodyId) -> Result<(), WorldError> {
        finite("velocity.linear", v.linear, id)?;
        finite("velocity.angular", v.angular, id)?;
        if self.kind == BodyKind::Static && *v != Velocity::ZERO {
            let value = format!("{} and {}", v.linear, v.angular);
            return Err(bad(id, "velocity", value, "zero for a static body"));
        }
        if self.lock_rotation && v.angular != Vec3::ZERO {
            let allowed = "zero for a body that cannot turn";
            return Err(bad(id, "velocity.angular", v.angular, allowed));
        }
        Ok(())
    }

    /// The frame's origin and axes; the state holds the centre of mass.
    #[inline]
    pub(crate) fn pose(&self) -> Pose {
        let origin = if self.mass.center_of_mass == Vec3::ZERO {
            self.center
        } else {
            self.center - self.rotation * self.mass.center_of_mass
        };
        Pose::new(origin, self.rotation)
    }

    pub(crate) fn set_pose(&mut self, pose: Pose) {
        self.rotation = pose.rotation;
        self.center = if self.mass.center_of_mass == Vec3::ZERO {
            pose.translation
        } else {
            pose.transform_point(self.mass.center_of_mass)
        };
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.kind == BodyKind::Dynamic
    }

    /// Whether impulses move it: dynamic and awake.
    pub(crate) fn moves(&self) -> bool {
        self.is_dynamic() && !self.rest.is_asleep()
    }

    /// Inverse inertia in world axes.
    pub(crate) fn world_inverse_inertia(&self) -> SymMat3 {
        let i = &self.inverse_inertia;
        // A ball's or cube's tensor is the same in all axes, to the last bit.
        if i.xy == 0.0 && i.xz == 0.0 && i.yz == 0.0 && i.xx == i.yy && i.yy == i.zz {
            return *i;
        }
        i.rotated(self.rotation)
    }

    /// J.
    pub(crate) fn kinetic_energy(&self) -> f64 {
        let w = self.rotation.conjugate() * self.velocity.angular;
        0.5 * self.mass.mass * self.velocity.linear.length_squared()
            + 0.5 * self.mass.inertia.quadratic(w)
    }

    /// In uniform gravity, J; zero at the world's origin.
    pub(crate) fn potential_energy(&self, gravity: Vec3) -> f64 {
        -self.mass.mass * self.gravity_scale * gravity.dot(self.center)
    }
}

/// Read access to a body of a world.
#[derive(Clone, Copy, Debug)]
pub struct BodyView<'a> {
    pub(crate) id: BodyId,
    pub(crate) state: &'a BodyState,
}

impl<'a> BodyView<'a> {
    /// Its id.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// What moves it.
    pub fn kind(&self) -> BodyKind {
        self.state.kind
    }

    /// Its geometry.
    pub fn shape(&self) -> &'a Shape {
        &self.state.shape
    }

    /// Its surface.
    pub fn material(&self) -> Material {
        self.state.material
    }

    /// Its frame in the world.
    pub fn pose(&self) -> Pose {
        self.state.pose()
    }

    /// Origin of its frame, m.
    pub fn position(&self) -> Vec3 {
        self.state.pose().translation
    }

    /// Body axes to world axes.
    pub fn rotation(&self) -> Quat {
        self.state.rotation
    }

    /// Centre of mass in the world, m.
    pub fn center_of_mass(&self) -> Vec3 {
        self.state.center
    }

    /// Velocity of the centre of mass and angular velocity, world frame.
    pub fn velocity(&self) -> Velocity {
        self.state.velocity
    }

    /// Mass (kg), centre of mass and inertia in the body's frame; a mass of zero stands for a body
    /// that is not dynamic.
    pub fn mass_properties(&self) -> MassProperties {
        self.state.mass
    }

    /// Linear momentum, kg m/s.
    pub fn momentum(&self) -> Vec3 {
        self.state.velocity.linear * self.state.mass.mass
    }

    /// Angular momentum about its own centre of mass, kg m²/s, world axes.
    pub fn angular_momentum(&self) -> Vec3 {
        let (r, w) = (self.state.rotation, self.state.velocity.angular);
        r * self.state.mass.inertia.mul_vec(r.conjugate() * w)
    }

    /// J.
    pub fn kinetic_energy(&self) -> f64 {
        self.state.kinetic_energy()
    }

    /// Which bodies it collides with.
    pub fn groups(&self) -> Groups {
        self.state.groups
    }

    /// Whether it only reports what overlaps it.
    pub fn is_sensor(&self) -> bool {
        self.state.sensor
    }

    /// Whether its impacts are taken one after the other.
    pub fn is_bullet(&self) -> bool {
        self.state.bullet
    }

    /// Whether it sleeps, see [`crate::World::is_sleeping`].
    pub fn is_sleeping(&self) -> bool {
        self.state.rest.is_asleep()
    }

    /// Factor of the world's gravity.
    pub fn gravity_scale(&self) -> f64 {
        self.state.gravity_scale
    }

    /// Force (N) and torque (N m) that act in every step, world frame.
    pub fn constant_force(&self) -> (Vec3, Vec3) {
        (self.state.constant_force, self.state.constant_torque)
    }
}

pub(crate) fn bad(
    id: BodyId,
    field: &'static str,
    value: impl ToString,
    allowed: &'static str,
) -> WorldError {
    WorldError::BadBody {
        id,
        field,
        value: value.to_string(),
        allowed,
    }
}

pub(crate) fn finite(field: &'static str, v: Vec3, id: BodyId) -> Result<Vec3, WorldError> {
    if v.is_finite() {
        Ok(v)
    } else {
        Err(bad(id, field, v, FINITE))
    }
}

pub(crate) fn checked_pose(pose: &Pose, id: BodyId) -> Result<Pose, WorldError> {
    finite("position", pose.translation, id)?;
    let length = pose.rotation.length();
    // Also refuses NaN.
    if !((length - 1.0).abs() <= 1e-6) {
        return Err(bad(
            id,
            "rotation",
            pose.rotation,
            "a unit quaternion within 1e-6",
        ));
    }
    let mut rotation = pose.rotation;
    // Quaternions that are unit to rounding are kept to the bit.
    if (length - 1.0).abs() > 4.0 * f64::EPSILON {
        rotation = rotation.normalize();
    }
    Ok(Pose::new(pose.translation, rotation))
}

pub(crate) fn check_material(m: &Material, id: BodyId) -> Result<(), WorldError> {
    if !(m.friction >= 0.0 && m.friction.is_finite()) {
        return Err(bad(id, "friction", m.friction, "0 or more, and finite"));
    }
    if !(0.0..=1.0).contains(&m.restitution) {
        return Err(bad(id, "restitution", m.restitution, "0 to 1"));
    }
    Ok(())
}

impl BodyState {
    /// As heavy as a body that nothing moves.
    pub(crate) fn clear_mass(&mut self) {
        let center = self.mass.center_of_mass;
        let inertia = SymMat3::ZERO;
        self.mass = MassProperties {
            mass: 0.0,
            center_of_mass: center,
            inertia,
        };
        self.inverse_mass = 0.0;
        self.inverse_inertia = SymMat3::ZERO;
    }
}

impl BodyState {
    /// Whether a state from bytes is one that a step can rely on.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.shape.validate().map_err(|e| e.to_string())?;
        let vectors = [
            self.center,
            self.velocity.linear,
            self.velocity.angular,
            self.surface_velocity,
            self.constant_force,
            self.constant_torque,
            self.force,
            self.torque,
            self.mass.center_of_mass,
        ];
        let tensors = [self.mass.inertia, self.inverse_inertia];
        let finite = vectors.iter().all(|v| v.is_finite())
            && tensors.iter().all(|t| t.is_finite())
            && (self.mass.mass + self.inverse_mass + self.gravity_scale).is_finite();
        let finite = finite && self.rest.is_sound();
        if !finite || !((self.rotation.length() - 1.0).abs() <= 1e-6) {
            return Err("a number is not finite, or its rotation is not a unit quaternion".into());
        }
        if self.is_dynamic() != (self.inverse_mass > 0.0) || self.inverse_mass < 0.0 {
            return Err(format!(
                "inverse mass {} of a {:?} body",
                self.inverse_mass, self.kind
            ));
        }
        let id = BodyId {
            index: 0,
            generation: 0,
        };
        check_material(&self.material, id).map_err(|e| e.to_string())
    }
}
