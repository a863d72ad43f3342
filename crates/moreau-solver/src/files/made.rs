//! Reference problems with certified answers: bodies, contacts and what their solution is.
//!
//! Body i of the file is body i + 1 of the problem; body 0 is the static world, which the file
//! calls -1. The bias of a contact is gap/dt where the gap is positive, else restitution times the
//! approach speed of the free velocities (negative), else 0.

use super::FileError;
use super::json::read;
use moreau_constraint::{BodyInput, ContactFrame, ContactPoint, ContactProblem, ProblemError};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity};
use serde::Deserialize;

/// A reference problem.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceProblem {
    /// Its name.
    pub name: String,
    /// The problem.
    pub problem: ContactProblem,
    /// Its answer.
    pub reference: Reference,
}

/// What a reference problem says about its solution.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Reference {
    /// Linear and angular velocity of each movable body (m/s, rad/s).
    pub v_plus: Vec<[f64; 6]>,
    /// Natural map (m/s) of the answer.
    pub natural_map_residual: f64,
    /// A typical velocity, m/s: the answer counts as exact to 1e-10 of it. Positive, and at most a thousand
    /// times the largest speed at a contact (its bias included), or 1000 m/s where that is more: a file cannot loosen its
    /// own certificate at will.
    pub residual_scale: f64,
    /// Whether no other velocities were found that solve the problem as well. Where they were,
    /// compare residuals, not velocities.
    pub unique_in_probes: bool,
    /// Kinetic energy of the free velocities, J.
    pub energy_before: f64,
    /// Kinetic energy of the answer, J.
    pub energy_after: f64,
    /// The answer of the associated model, where it is known.
    #[serde(default)]
    pub convex: Option<ConvexReference>,
}

/// What a reference problem says about the solution of its associated model, which is unique.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ConvexReference {
    /// Linear and angular velocity of each movable body (m/s, rad/s).
    pub v: Vec<[f64; 6]>,
    /// Natural map (m/s) of the answer.
    pub residual: f64,
}

impl Reference {
    /// The natural map (m/s) to which the answer is certified.
    pub fn tolerance(&self) -> f64 {
        1e-10 * self.residual_scale
    }
}

#[derive(Deserialize)]
struct File {
    name: String,
    dt: f64,
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
    reference: Reference,
}

#[derive(Deserialize)]
struct Body {
    inv_mass: f64,
    inv_inertia_world: [f64; 9],
    v: [f64; 3],
    w: [f64; 3],
}

#[derive(Deserialize)]
struct Contact {
    a: i64,
    b: i64,
    normal: [f64; 3],
    r_a: [f64; 3],
    r_b: [f64; 3],
    mu: f64,
    restitution: f64,
    gap: f64,
}

/// Reads a reference problem.
pub(super) fn parse(text: &str) -> Result<ReferenceProblem, FileError> {
    let file: File = read(text)?;
    let mut problem = ContactProblem::new(file.dt)?;
    problem.add_body(BodyInput::fixed())?;
    for body in &file.bodies {
        problem.add_body(BodyInput {
            inverse_mass: body.inv_mass,
            // Symmetric, so rows and columns may change places.
            inverse_inertia: SymMat3::from_mat3(Mat3::from_cols_array(&body.inv_inertia_world)),
            velocity: Velocity::new(Vec3::from(body.v), Vec3::from(body.w)),
        })?;
    }
    for contact in &file.contacts {
        add_contact(&mut problem, contact)?;
    }
    let (scale, most) = (file.reference.residual_scale, largest_scale(&problem));
    if !(scale > 0.0 && scale <= most) {
        return Err(FileError::Scale { scale, most });
    }
    Ok(ReferenceProblem {
        name: file.name,
        problem,
        reference: file.reference,
    })
}

/// A thousand times the largest speed that the problem asks for at a contact, m/s; of slow ones, of 1 m/s.
fn largest_scale(problem: &ContactProblem) -> f64 {
    let speeds = problem.contacts().iter();
    let speeds = speeds.map(|c| problem.free_velocity(c).length() + c.bias.length());
    1e3 * speeds.fold(1.0, f64::max)
}

fn add_contact(problem: &mut ContactProblem, c: &Contact) -> Result<(), ProblemError> {
    let (index, bodies) = (problem.contacts().len(), problem.bodies().len());
    let body = |number: i64, field: &'static str| {
        let body = usize::try_from(number.saturating_add(1)).unwrap_or(usize::MAX);
        if body < bodies {
            return Ok(body);
        }
        Err(ProblemError::NoSuchBody {
            what: "contact",
            index,
            field,
            body,
            bodies,
        })
    };
    let mut point = ContactPoint {
        a: body(c.a, "a")?,
        b: body(c.b, "b")?,
        frame: ContactFrame::new(Vec3::from(c.normal)),
        lever_a: Vec3::from(c.r_a),
        lever_b: Vec3::from(c.r_b),
        friction: c.mu,
        bias: Vec3::ZERO,
    };
    let approach = problem.free_velocity(&point).x;
    point.bias.x = if c.gap > 0.0 {
        c.gap / problem.dt()
    } else if approach < 0.0 {
        c.restitution * approach
    } else {
        0.0
    };
    problem.add_contact_point(point)?;
    Ok(())
}
