//! The energy that an island's impulses put into it, and how much of a solve keeps what it may have.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Velocity, vec3};
use std::ops::Range;

/// Energy (J) that the impulses put into an island, 1/2 sum l·(u_free + u+) with the velocities of the surfaces, and
/// the size of its terms.
pub(crate) fn energy_input(
    problem: &ContactProblem,
    impulses: &Impulses,
    v: &[Velocity],
) -> (f64, f64) {
    let (mut energy, mut scale) = (0.0, 0.0);
    for (c, l) in problem.contacts().iter().zip(&impulses.contacts) {
        let surface = vec3(0.0, c.bias.y, c.bias.z);
        let before = problem.free_velocity(c) + surface;
        let after = problem.contact_velocity(c, v) + surface;
        energy += 0.5 * l.dot(before + after);
        scale += 0.5 * l.length() * (before.length() + after.length());
    }
    for (r, l) in problem.rows().iter().zip(&impulses.rows) {
        let bodies = problem.bodies();
        let before = r.velocity(&bodies[r.a].velocity, &bodies[r.b].velocity);
        let after = r.velocity(&v[r.a], &v[r.b]);
        energy += 0.5 * l * (before + after);
        scale += 0.5 * (l * (before.abs() + after.abs())).abs();
    }
    (energy, scale)
}

/// Part of the size of its terms up to which an energy is only rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Whether impulses put energy into an island that they do not take out again. Looks at the contacts only where
/// the bodies have more energy than without impulses. `parallel`: on the threads of the pool.
pub(crate) fn adds_energy(
    problem: &ContactProblem,
    impulses: &Impulses,
    v: &[Velocity],
    parallel: bool,
) -> bool {
    let bodies = problem.bodies();
    let [before, after] = sum(parallel, 0..bodies.len(), &|i| {
        let body = &bodies[i];
        [&body.velocity, &v[i]].map(|v| body.kinetic_energy(v))
    });
    // What is no number adds energy.
    if after <= before {
        return false;
    }
    let (energy, scale) = energy_input(problem, impulses, v);
    !(energy <= ROUNDING * scale)
}

/// Items that are summed up one after the other.
const SUMMED: usize = 1024;

/// The sums of what `of` says of each index; the same bits whether `parallel` or not.
fn sum(parallel: bool, range: Range<usize>, of: &(impl Fn(usize) -> [f64; 2] + Sync)) -> [f64; 2] {
    let add = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a + c, b + d];
    if range.len() <= SUMMED {
        return range.fold([0.0; 2], |sum, i| add(sum, of(i)));
    }
    let middle = range.start + range.len() / 2;
    let first = || sum(parallel, range.start..middle, of);
    let second = || sum(parallel, middle..range.end, of);
    let (first, second) = if parallel {
        rayon::join(first, second)
    } else {
        (first(), second())
    };
    add(first, second)
}

/// Takes the part of impulses that add energy for which none is added.
pub(crate) fn take_part(problem: &ContactProblem, impulses: &mut Impulses, v: &mut Vec<Velocity>) {
    let (whole, _) = energy_input(problem, impulses, v);
    let none = Impulses::zero(impulses.contacts.len(), impulses.rows.len());
    let half = blend(&none, impulses, 0.5);
    let (at_half, _) = energy_input(problem, &half, &problem.velocities(&half));
    *impulses = blend(&none, impulses, free_part(at_half, whole));
    problem.velocities_into(impulses, v);
}

/// a + theta (b - a).
pub(crate) fn blend(a: &Impulses, b: &Impulses, theta: f64) -> Impulses {
    Impulses {
        contacts: a
            .contacts
            .iter()
            .zip(&b.contacts)
            .map(|(a, b)| *a + (*b - *a) * theta)
            .collect(),
        rows: a
            .rows
            .iter()
            .zip(&b.rows)
            .map(|(a, b)| a + (b - a) * theta)
            .collect(),
    }
}

/// The largest root in [0, 1] of the quadratic through (0, e0), (1/2, eh), (1, e1), for e0 <= 0 < e1;
/// 0 where e0 > 0.
pub(crate) fn quadratic_root(e0: f64, eh: f64, e1: f64) -> f64 {
    let square = 2.0 * (e0 - 2.0 * eh + e1);
    let linear = e1 - e0 - square;
    let discriminant = linear * linear - 4.0 * square * e0;
    if e0 >= 0.0 || discriminant < 0.0 {
        return 0.0;
    }
    // The numerically stable form of the root with a growing value.
    let root = discriminant.sqrt();
    let theta = if linear >= 0.0 {
        -2.0 * e0 / (linear + root)
    } else {
        (root - linear) / (2.0 * square)
    };
    theta.clamp(0.0, 1.0)
}

/// The root beside 0, in [0, 1], of the quadratic through (0, 0), (1/2, eh), (1, e1), for e1 > 0; 0 where
/// it has none there.
fn free_part(eh: f64, e1: f64) -> f64 {
    let square = 2.0 * (e1 - 2.0 * eh);
    let linear = e1 - square;
    if linear < 0.0 { -linear / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{free_part, quadratic_root};

    #[test]
    fn root_of_a_quadratic_through_three_values() {
        for (square, root) in [
            (1.0, 0.3),
            (0.5, 0.9),
            (-0.2, 0.5),
            (0.0, 0.25),
            (3.0, 0.01),
        ] {
            // E = (x - root)(square x + 1), positive beyond the root.
            let e = |x: f64| (x - root) * (square * x + 1.0);
            let theta = quadratic_root(e(0.0), e(0.5), e(1.0));
            assert!((theta - root).abs() < 1e-14, "{square} {root} {theta}");
        }
        assert_eq!(quadratic_root(0.1, 0.2, 0.3), 0.0);
        for part in [0.01, 0.4, 0.9] {
            let e = |x: f64| 3.0 * x * (x - part);
            assert!((free_part(e(0.5), e(1.0)) - part).abs() < 1e-14, "{part}");
        }
        assert_eq!(free_part(0.3, 0.7), 0.0);
    }
}
