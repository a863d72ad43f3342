//! Building of the kit's own problems.

use moreau_constraint::{
    BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, ProblemError, Row,
};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};

/// Standard gravity (m/s²) times the kit's step of 1/60 s.
pub(crate) const GRAVITY_STEP: f64 = 9.81 / 60.0;

const DT: f64 = 1.0 / 60.0;

/// A problem under construction, whose body 0 is the fixed ground.
#[derive(Clone, Debug)]
pub(crate) struct Draft(ContactProblem);

/// What the kit itself writes is in range; a test builds every case.
fn own<T>(result: Result<T, ProblemError>) -> T {
    result.expect("the kit's own problems are in range")
}

impl Draft {
    /// With a fixed body 0.
    pub(crate) fn on_ground() -> Self {
        Self::empty().body(BodyInput::fixed())
    }

    /// Without bodies.
    pub(crate) fn empty() -> Self {
        Self(own(ContactProblem::new(DT)))
    }

    pub(crate) fn body(mut self, body: BodyInput) -> Self {
        own(self.0.add_body(body));
        self
    }

    pub(crate) fn contact(mut self, input: ContactInput) -> Self {
        own(self.0.add_contact(input));
        self
    }

    pub(crate) fn point(mut self, point: ContactPoint) -> Self {
        own(self.0.add_contact_point(point));
        self
    }

    pub(crate) fn row(mut self, row: Row) -> Self {
        own(self.0.add_row(row));
        self
    }

    pub(crate) fn rows(self, rows: impl IntoIterator<Item = Row>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// The last contact again, `count` times.
    pub(crate) fn again(mut self, count: usize) -> Self {
        let last = *self
            .0
            .contacts()
            .last()
            .expect("there is a contact to repeat");
        for _ in 0..count {
            own(self.0.add_contact_point(last));
        }
        self
    }

    pub(crate) fn done(self) -> ContactProblem {
        self.0
    }
}

/// A body of `mass` (kg) and the same moment of inertia about all axes (kg m²).
pub(crate) fn round(mass: f64, inertia: f64, linear: Vec3, angular: Vec3) -> BodyInput {
    BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(1.0 / inertia)),
        velocity: Velocity::new(linear, angular),
    }
}

/// A body that does not turn.
pub(crate) fn particle(mass: f64, linear: Vec3) -> BodyInput {
    BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::ZERO,
        velocity: Velocity::new(linear, Vec3::ZERO),
    }
}

/// A closed contact of `a` and `b` with the normal from A to B.
pub(crate) fn touching(
    (a, b): (usize, usize),
    normal: Vec3,
    (lever_a, lever_b): (Vec3, Vec3),
    friction: f64,
) -> ContactInput {
    ContactInput {
        a,
        b,
        normal,
        lever_a,
        lever_b,
        separation: 0.0,
        friction,
        restitution: 0.0,
    }
}

/// A contact of ground and body 1 at both centres, normal z, tangents x and y.
pub(crate) fn central(friction: f64, bias: Vec3) -> ContactPoint {
    ContactPoint {
        a: 0,
        b: 1,
        frame: ContactFrame {
            normal: Vec3::Z,
            tangent1: Vec3::X,
            tangent2: Vec3::Y,
        },
        lever_a: Vec3::ZERO,
        lever_b: Vec3::ZERO,
        friction,
        bias,
    }
}

/// The four lower corners of a cube of 1 m, relative to its centre.
pub(crate) const CORNERS: [Vec3; 4] = [
    vec3(-0.5, -0.5, -0.5),
    vec3(0.5, -0.5, -0.5),
    vec3(-0.5, 0.5, -0.5),
    vec3(0.5, 0.5, -0.5),
];

/// A cube of 1 kg and 1 m on the ground, with a contact at each of `levers`.
pub(crate) fn cube_on(levers: &[Vec3], linear: Vec3, friction: f64) -> ContactProblem {
    let cube = round(1.0, 1.0 / 6.0, linear, Vec3::ZERO);
    let draft = Draft::on_ground().body(cube);
    let contacts = levers
        .iter()
        .map(|lever| touching((0, 1), Vec3::Z, (Vec3::ZERO, *lever), friction));
    contacts.fold(draft, Draft::contact).done()
}

/// Cubes of 1 m and of these masses (kg) on top of each other from the ground up, at rest but for
/// one step of gravity.
pub(crate) fn stack(masses: &[f64], friction: f64) -> ContactProblem {
    let mut draft = Draft::on_ground();
    for (below, mass) in masses.iter().enumerate() {
        let cube = round(*mass, mass / 6.0, -GRAVITY_STEP * Vec3::Z, Vec3::ZERO);
        draft = draft.body(cube);
        for corner in CORNERS {
            let lever_below = if below == 0 { 0.0 } else { 0.5 };
            let levers = (vec3(corner.x, corner.y, lever_below), corner);
            draft = draft.contact(touching((below, below + 1), Vec3::Z, levers, friction));
        }
    }
    draft.done()
}

/// A ball of 1 kg, radius 0.5 m and inertia 0.1 kg m² on the ground.
pub(crate) fn ball(linear: Vec3, angular: Vec3, friction: f64, restitution: f64) -> ContactProblem {
    let levers = (Vec3::ZERO, -0.5 * Vec3::Z);
    let contact = ContactInput {
        restitution,
        ..touching((0, 1), Vec3::Z, levers, friction)
    };
    let draft = Draft::on_ground().body(round(1.0, 0.1, linear, angular));
    draft.contact(contact).done()
}

/// A ball that slides.
pub(crate) fn sliding_ball() -> ContactProblem {
    ball(vec3(3.0, -2.0, -1.0), vec3(0.5, 1.0, -2.0), 0.4, 0.0)
}

/// v+ of a problem of the ground and one body.
pub(crate) fn one(linear: Vec3, angular: Vec3) -> Vec<Velocity> {
    vec![Velocity::ZERO, Velocity::new(linear, angular)]
}
