//! Whether a warm start is the answer already, worked out from the problem as it stands.
//!
//! Bodies at rest need the same impulses in every step, so this is all that a solver has to do for them.
//! With p the momentum that impulses give a body, v+ = v + M^-1 p, and the natural map of each contact
//! follows without Jacobians:
//!
//! ```text
//! trace(W) = sum over both bodies of 3/m + tr(I^-1) |r|² - r' I^-1 r
//! ```
//!
//! Not even that is needed where it does not matter. On l = 0 the map is |P_K(-s)| for any rho. Where l and
//! l - rho s both lie in the cone K the map is |s|; both do if l and l - rho' s do with a larger rho', for K
//! is convex, and rho' = 1/(1/m_a + 1/m_b) is larger. Of the normal direction alone (see
//! [`moreau_solver::natural_map`]) only what closes can be more than that: s_n is no more than |s + g|.

use moreau_constraint::{BodyInput, ContactPoint, ContactProblem, Impulses, project_cone};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::{NORMAL_SHARE, natural_map, row_natural_map};

/// Fills `velocities` with those that follow from `impulses`, and returns the natural map of the worst contact or
/// row (m/s) and its contact; `None` where it is more than `aim`, or not a number.
pub(crate) fn residual_within(
    aim: f64,
    problem: &ContactProblem,
    impulses: &Impulses,
    velocities: &mut Vec<Velocity>,
) -> Option<(f64, Option<usize>)> {
    follow(problem, impulses, velocities);
    let mut worst = (0.0, None);
    let pairs = problem.contacts().iter().zip(&impulses.contacts);
    for (index, (contact, l)) in pairs.enumerate() {
        let map = contact_map(problem.bodies(), contact, *l, velocities);
        if !(map <= aim) {
            return None;
        }
        if map > worst.0 || worst.1.is_none() {
            worst = (map, Some(index));
        }
    }
    for (row, l) in problem.rows().iter().zip(&impulses.rows) {
        let v = &*velocities;
        let w = row.velocity(&v[row.a], &v[row.b]) + row.bias + row.regularization * l;
        let map = row_natural_map(*l, w, row, problem.row_diagonal(row));
        if !(map <= aim) {
            return None;
        }
        if map > worst.0 {
            worst = (map, None);
        }
    }
    Some(worst)
}

/// v+ = v + M^-1 J' l: the momenta first, so that each body's mass is applied once.
fn follow(problem: &ContactProblem, impulses: &Impulses, v: &mut Vec<Velocity>) {
    v.clear();
    v.resize(problem.bodies().len(), Velocity::ZERO);
    for (c, l) in problem.contacts().iter().zip(&impulses.contacts) {
        if *l == Vec3::ZERO {
            continue;
        }
        let p = c.frame.to_world(*l);
        v[c.a].linear -= p;
        v[c.a].angular -= c.lever_a.cross(p);
        v[c.b].linear += p;
        v[c.b].angular += c.lever_b.cross(p);
    }
    for (r, l) in problem.rows().iter().zip(&impulses.rows) {
        v[r.a].linear += r.linear_a * *l;
        v[r.a].angular += r.angular_a * *l;
        v[r.b].linear += r.linear_b * *l;
        v[r.b].angular += r.angular_b * *l;
    }
    for (body, v) in problem.bodies().iter().zip(v) {
        *v = if body.is_immovable() {
            body.velocity
        } else {
            Velocity::new(
                body.velocity.linear + v.linear * body.inverse_mass,
                body.velocity.angular + body.inverse_inertia.mul_vec(v.angular),
            )
        };
    }
}

fn contact_map(bodies: &[BodyInput], c: &ContactPoint, l: Vec3, v: &[Velocity]) -> f64 {
    let mu = c.friction;
    let u = v[c.b].at(c.lever_b) - v[c.a].at(c.lever_a);
    let s = c.frame.to_local(u) + c.bias;
    let shifted = vec3(s.x + mu * (s.y * s.y + s.z * s.z).sqrt(), s.y, s.z);
    // A map that is no number stays.
    let with_normal = |map: f64| {
        let normal = -NORMAL_SHARE * s.x;
        if normal > map { normal } else { map }
    };
    if l == Vec3::ZERO {
        return with_normal(project_cone(-shifted, mu).length());
    }
    let (a, b) = (&bodies[c.a], &bodies[c.b]);
    let mass = a.inverse_mass + b.inverse_mass;
    if mass > 0.0 && is_inside(l, mu) && is_inside(l - shifted / mass, mu) {
        return with_normal(shifted.length());
    }
    let turning = |body: &BodyInput, lever: Vec3| {
        let inverse = &body.inverse_inertia;
        inverse.trace() * lever.length_squared() - inverse.quadratic(lever)
    };
    let trace = 3.0 * mass + turning(a, c.lever_a) + turning(b, c.lever_b);
    natural_map(l, s, mu, trace)
}

fn is_inside(l: Vec3, mu: f64) -> bool {
    l.x >= 0.0 && l.y * l.y + l.z * l.z <= mu * mu * (l.x * l.x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{BodyForm, Dual};
    use crate::support;

    #[test]
    fn it_is_the_residual_of_the_body_form() {
        let mut compared = [0; 2];
        for (name, file) in support::fixtures() {
            let problem = file.problem().unwrap();
            let mut form = BodyForm::default();
            form.load(problem);
            let mut dual = form.zero();
            for part in [0.0, 0.5, 1.0, 2.0] {
                // Impulses that push, some of them outside of their cones, and some none at all.
                for (i, (c, l)) in form.contacts.iter().zip(&mut dual.contacts).enumerate() {
                    let push = c.velocity(&form.free).length() * c.rho;
                    let tangential = part * c.mu * push * if i % 5 == 0 { 1.2 } else { 0.4 };
                    *l = if i % 3 == 0 {
                        Vec3::ZERO
                    } else {
                        vec3(part * push, 0.6 * tangential, -0.8 * tangential)
                    };
                }
                let impulses = Impulses {
                    contacts: dual.contacts.clone(),
                    rows: dual.rows.clone(),
                };
                compare(&name, &form, problem, &dual, &impulses);
                compared[0] += 1;
                compared[1] += impulses.contacts.len();
            }
        }
        assert!(compared[0] > 20 && compared[1] > 300, "{compared:?}");
    }

    fn compare(
        name: &str,
        form: &BodyForm,
        problem: &ContactProblem,
        dual: &Dual,
        impulses: &Impulses,
    ) {
        let (mut v, mut velocities) = (Vec::new(), Vec::new());
        form.velocities(dual, &mut v);
        let (want, _) = form.residual(dual, &v);
        let (got, _) = residual_within(f64::INFINITY, problem, impulses, &mut velocities).unwrap();
        assert!(
            (got - want).abs() <= 1e-11 * (want + form.speed()),
            "{name}: {got:e} {want:e}"
        );
        if want > 0.0 {
            assert_eq!(
                residual_within(0.999 * want, problem, impulses, &mut velocities),
                None
            );
        }
        let mut exported = Vec::new();
        form.export(problem, &v, &mut exported);
        for (got, want) in velocities.iter().zip(&exported) {
            let size = 1.0 + want.linear.length() + want.angular.length();
            assert!(
                (got.linear - want.linear).length() <= 1e-11 * size,
                "{name}"
            );
            assert!(
                (got.angular - want.angular).length() <= 1e-11 * size,
                "{name}"
            );
        }
    }
}
