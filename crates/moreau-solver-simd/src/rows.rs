//! Scalar rows, one after the other: l' = clamp(l - w/d, lower, upper), with d the row's diagonal.

use crate::packed::{BodyRecord, set_velocity, velocity};
use moreau_constraint::{ContactProblem, Row};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{WorstResidual, row_natural_map};

/// A row with what an impulse of 1 does to its bodies.
#[derive(Clone, Copy, Debug)]
struct PackedRow {
    row: Row,
    diagonal: f64,
    inverse_diagonal: f64,
    change_a: Velocity,
    change_b: Velocity,
}

/// The rows of a problem; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<PackedRow>,
    pub(crate) impulses: Vec<f64>,
    /// Where the last sweep ended, while `impulses` are where the next one starts.
    ends: Vec<f64>,
}

impl Rows {
    pub(crate) fn load(&mut self, problem: &ContactProblem) {
        self.rows.clear();
        let bodies = problem.bodies();
        self.rows.extend(problem.rows().iter().map(|row| {
            let change = |body: usize, linear: Vec3, angular: Vec3| {
                let body = &bodies[body];
                Velocity::new(
                    linear * body.inverse_mass,
                    body.inverse_inertia.mul_vec(angular),
                )
            };
            let diagonal = problem.row_diagonal(row);
            let inverse = 1.0 / diagonal;
            PackedRow {
                row: *row,
                diagonal,
                inverse_diagonal: if inverse.is_finite() { inverse } else { 0.0 },
                change_a: change(row.a, row.linear_a, row.angular_a),
                change_b: change(row.b, row.linear_b, row.angular_b),
            }
        }));
        self.impulses.clear();
        self.impulses.resize(self.rows.len(), 0.0);
        self.ends.clone_from(&self.impulses);
    }

    /// From here on there is no momentum.
    pub(crate) fn rest(&mut self) {
        self.ends.clone_from(&self.impulses);
    }

    /// To where the next sweep starts.
    pub(crate) fn advance(&mut self, beta: f64) {
        for (l, end) in self.impulses.iter_mut().zip(&mut self.ends) {
            let new = *l;
            *l = new + beta * (new - *end);
            *end = new;
        }
    }

    /// Returns |g|², g·(change of the end), and the largest |g| times diagonal, with g what the sweep
    /// changes.
    pub(crate) fn sweep(&mut self, velocities: &mut [BodyRecord]) -> [f64; 3] {
        let (mut square, mut along, mut most) = (0.0, 0.0, 0.0_f64);
        for ((packed, l), end) in self.rows.iter().zip(&mut self.impulses).zip(&self.ends) {
            let w = packed.violation(velocities, *l);
            let row = &packed.row;
            let answer = (*l - w * packed.inverse_diagonal).clamp(row.lower, row.upper);
            let change = answer - *l;
            packed.apply(velocities, change);
            square += change * change;
            along += change * (answer - end);
            most = most.max(change.abs() * packed.diagonal);
            *l = answer;
        }
        [square, along, most]
    }

    pub(crate) fn apply(&self, velocities: &mut [BodyRecord]) {
        for (packed, l) in self.rows.iter().zip(&self.impulses) {
            packed.apply(velocities, *l);
        }
    }

    pub(crate) fn residual(&self, velocities: &[BodyRecord], worst: &mut WorstResidual) {
        for (packed, l) in self.rows.iter().zip(&self.impulses) {
            let w = packed.violation(velocities, *l);
            worst.include(row_natural_map(*l, w, &packed.row, packed.diagonal), None);
        }
    }
}

impl PackedRow {
    /// w = J v + bias + regularization l.
    fn violation(&self, velocities: &[BodyRecord], l: f64) -> f64 {
        let row = &self.row;
        let (a, b) = (velocity(&velocities[row.a]), velocity(&velocities[row.b]));
        row.velocity(&a, &b) + row.bias + row.regularization * l
    }

    fn apply(&self, velocities: &mut [BodyRecord], l: f64) {
        for (body, change) in [(self.row.a, self.change_a), (self.row.b, self.change_b)] {
            let record_of = &mut velocities[body];
            let changed = velocity(record_of) + change * l;
            set_velocity(record_of, &changed);
        }
    }
}
