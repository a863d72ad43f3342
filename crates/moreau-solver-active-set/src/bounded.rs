//! Rows with bounds, solved exactly.
//!
//! ```text
//! w = A l + q,  lower <= l <= upper,   w >= 0 at lower, w <= 0 at upper, w = 0 in between
//! A = J M^-1 J' + regularization, symmetric positive semi-definite
//! ```
//!
//! As a linear complementarity problem:
//!
//! 1. Free rows (no bound) are eliminated, the largest pivot first. What is left of a redundant row is
//!    zero: it takes no impulse, and where its w is not zero the problem has no solution.
//! 2. A row with one bound is counted from it: x = l - lower, or x = upper - l with the signs turned.
//! 3. A row with two is counted from the lower, with a second variable for the upper,
//!    w = A x + q + m >= 0 _|_ x >= 0,   range - x >= 0 _|_ m >= 0.
//!
//! The matrix stays positive semi-definite, so Lemke's method ends in a solution, or in a ray where
//! there is none. Which rows lie inside of their bounds is all that is taken from it: their impulses are
//! solved for afresh and refined.

use crate::dense::{Factorization, power_of_two};
use crate::lemke::{End, Run, Tableau};

/// Where an impulse lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Lower,
    Upper,
    Inside,
    /// A free row that others make redundant; its impulse is 0.
    Redundant,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Solved, up to rounding.
    Solved,
    /// There is no solution.
    NoSolution,
    /// Neither was found.
    Unclear,
}

/// Part of a diagonal entry below which a pivot is rounding.
const REDUNDANT: f64 = 1e-11;
/// Part of the largest impulse that rounding may amount to where light bodies carry heavy ones.
const AMPLIFIED_ROUNDING: f64 = 1e-6;
/// Relative residual of what is called solved.
const ACCEPTED: f64 = 1e-12;

/// The problem, its answer, and the memory to get it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounded {
    /// n x n, row-major.
    pub(crate) a: Vec<f64>,
    pub(crate) q: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// The answer.
    pub(crate) l: Vec<f64>,
    /// Factorisations and pivots of the last solve.
    pub(crate) factorizations: u32,
    pub(crate) pivots: u32,
    places: Vec<Place>,
    inside: Vec<usize>,
    step: Vec<f64>,
    factorization: Factorization,
    reduced: Reduced,
    tableau: Tableau,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    scale: Vec<f64>,
    cover: Vec<f64>,
    support: Vec<usize>,
    ray: Vec<f64>,
}

/// A and q with the free rows eliminated.
#[derive(Clone, Debug, Default)]
struct Reduced {
    a: Vec<f64>,
    q: Vec<f64>,
    /// Rows with a bound.
    bounded: Vec<usize>,
    /// Whether all redundant rows are consistent.
    consistent: bool,
}

impl Bounded {
    fn n(&self) -> usize {
        self.q.len()
    }

    /// Solves the problem; `l` is a guess on the way in, whose places are tried first.
    pub(crate) fn solve(&mut self) -> Outcome {
        (self.factorizations, self.pivots) = (0, 0);
        self.guess_places();
        if self.solve_places() {
            return Outcome::Solved;
        }
        self.eliminate_free();
        if !self.reduced.consistent {
            return Outcome::NoSolution;
        }
        self.prepare_lcp();
        let mut outcome = Outcome::Unclear;
        for pivot_tolerance in [1e-11, 1e-9, 1e-13] {
            let run = Run {
                cover: &self.cover,
                pivot_tolerance,
                budget: 1000,
            };
            let end = self.tableau.run(&self.matrix, &self.rhs, run);
            self.pivots += self.tableau.pivots;
            match end {
                End::Complementary => {
                    self.tableau.support(&mut self.support);
                    self.places_from_support();
                    if self.solve_places() {
                        return Outcome::Solved;
                    }
                }
                End::Ray if self.ray_is_proof() => outcome = Outcome::NoSolution,
                End::Ray | End::Budget => {}
            }
        }
        outcome
    }

    /// The places of the guess `l`.
    fn guess_places(&mut self) {
        self.places.clear();
        for i in 0..self.n() {
            let l = self.l[i];
            self.places.push(if l <= self.lower[i] {
                Place::Lower
            } else if l >= self.upper[i] {
                Place::Upper
            } else {
                Place::Inside
            });
        }
    }

    /// Solves for the impulses inside of their bounds; false where that is no answer.
    fn solve_places(&mut self) -> bool {
        // An impulse that comes out just beyond its bound belongs on it: the problem is degenerate.
        for _ in 0..=self.n() {
            if !self.solve_inside() {
                return false;
            }
            let Some((i, place)) = self.beyond() else {
                return self.relative_residual() <= ACCEPTED;
            };
            self.places[i] = place;
        }
        false
    }

    fn solve_inside(&mut self) -> bool {
        let n = self.n();
        self.inside.clear();
        for (i, place) in self.places.iter().enumerate() {
            self.l[i] = match place {
                Place::Lower => self.lower[i],
                Place::Upper => self.upper[i],
                Place::Redundant => 0.0,
                Place::Inside => {
                    self.inside.push(i);
                    0.0
                }
            };
        }
        let (a, inside) = (&self.a, &self.inside);
        let entry = |i: usize, j: usize| a[inside[i] * n + inside[j]];
        self.factorizations += 1;
        // Nearly singular sets are left to Lemke's method, which picks a regular one.
        if !(self.factorization.factorize(inside.len(), entry) > 1e-14) {
            return false;
        }
        for _ in 0..3 {
            self.step.clear();
            for i in &self.inside {
                self.step.push(-self.velocity(*i).0);
            }
            self.factorization.solve(&mut self.step);
            for (d, i) in self.step.iter().zip(&self.inside) {
                self.l[*i] += d;
            }
        }
        true
    }

    /// The impulse furthest beyond its bound by what rounding may do, and where it belongs.
    fn beyond(&self) -> Option<(usize, Place)> {
        let largest = self.l.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        let mut worst = (0.0, None);
        for i in &self.inside {
            for (excess, place) in [
                (self.lower[*i] - self.l[*i], Place::Lower),
                (self.l[*i] - self.upper[*i], Place::Upper),
            ] {
                if excess > worst.0 && excess <= AMPLIFIED_ROUNDING * largest {
                    worst = (excess, Some((*i, place)));
                }
            }
        }
        worst.1
    }

    /// w_i and the size of its terms.
    fn velocity(&self, i: usize) -> (f64, f64) {
        let n = self.n();
        let (mut w, mut size) = (self.q[i], self.q[i].abs());
        for (a, l) in self.a[i * n..(i + 1) * n].iter().zip(&self.l) {
            w += a * l;
            size += (a * l).abs();
        }
        (w, size)
    }

    /// The largest natural map, each in units of the row's own terms.
    fn relative_residual(&self) -> f64 {
        let n = self.n();
        let mut worst = 0.0_f64;
        for i in 0..n {
            let (w, size) = self.velocity(i);
            let d = self.a[i * n + i];
            let map = if d > 0.0 {
                let (lower, upper) = (self.lower[i], self.upper[i]);
                let target = (self.l[i] - w / d).clamp(lower, upper);
                (self.l[i] - target).abs() * d
            } else {
                let held = (self.l[i] <= self.lower[i] && w > 0.0)
                    || (self.l[i] >= self.upper[i] && w < 0.0);
                if held { 0.0 } else { w.abs() }
            };
            let error = if map > 0.0 { map / size } else { map };
            if error.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// Fills `reduced`, and marks free rows as inside or redundant.
    fn eliminate_free(&mut self) {
        let n = self.n();
        let r = &mut self.reduced;
        r.a.clone_from(&self.a);
        r.q.clone_from(&self.q);
        r.bounded.clear();
        r.consistent = true;
        self.support.clear();
        for i in 0..n {
            if self.lower[i] == f64::NEG_INFINITY && self.upper[i] == f64::INFINITY {
                self.places[i] = Place::Redundant;
                self.support.push(i);
            } else {
                r.bounded.push(i);
            }
        }
        loop {
            let left = |i: &&usize| self.places[**i] == Place::Redundant;
            let share = |i: usize| r.a[i * n + i] / self.a[i * n + i];
            let mut next: Option<usize> = None;
            for i in self.support.iter().filter(left) {
                if share(*i) > REDUNDANT && next.is_none_or(|k| share(*i) > share(k)) {
                    next = Some(*i);
                }
            }
            let Some(k) = next else { break };
            self.places[k] = Place::Inside;
            let pivot = r.a[k * n + k];
            for i in 0..n {
                let factor = r.a[i * n + k] / pivot;
                if i == k || factor == 0.0 {
                    continue;
                }
                for j in 0..n {
                    r.a[i * n + j] -= factor * r.a[k * n + j];
                }
                r.q[i] -= factor * r.q[k];
            }
        }
        let size = self.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        for i in &self.support {
            if self.places[*i] == Place::Redundant {
                r.consistent &= r.q[*i].abs() <= 1e-10 * size;
            }
        }
    }

    /// Fills matrix, right-hand side and scales of the linear complementarity problem: first the
    /// bounded rows, then an upper bound for each that has two.
    fn prepare_lcp(&mut self) {
        let n = self.n();
        let r = &self.reduced;
        let count = r.bounded.len();
        self.support.clear();
        for (k, i) in r.bounded.iter().enumerate() {
            if self.lower[*i].is_finite() && self.upper[*i].is_finite() {
                self.support.push(k);
            }
        }
        let size = count + self.support.len();
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.rhs.clear();
        self.scale.clear();
        for i in &r.bounded {
            let diagonal = r.a[i * n + i];
            let diagonal = if diagonal > REDUNDANT * self.a[i * n + i] {
                diagonal
            } else {
                self.a[i * n + i]
            };
            self.scale
                .push(1.0 / power_of_two(diagonal.max(0.0).sqrt()));
        }
        // x = c x', rows times c.
        for (k, i) in r.bounded.iter().enumerate() {
            let (sign, _) = side(self.lower[*i], self.upper[*i]);
            let mut q = r.q[*i];
            for (m, j) in r.bounded.iter().enumerate() {
                let (other, at) = side(self.lower[*j], self.upper[*j]);
                let a = r.a[i * n + j];
                self.matrix[k * size + m] = a * sign * other * self.scale[k] * self.scale[m];
                q += a * at;
            }
            self.rhs.push(sign * q * self.scale[k]);
        }
        let largest = self.rhs.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        let unit = power_of_two(largest);
        for q in &mut self.rhs {
            *q /= unit;
        }
        for (m, k) in self.support.iter().enumerate() {
            let row = count + m;
            self.matrix[k * size + row] = 1.0;
            self.matrix[row * size + k] = -1.0;
            let i = r.bounded[*k];
            let range = self.upper[i] - self.lower[i];
            self.rhs.push(range / (self.scale[*k] * unit));
        }
        self.cover.clear();
        self.cover.resize(size, 1.0);
    }

    /// Places from the basic variables of the tableau, which are in `support`.
    fn places_from_support(&mut self) {
        let bounded = &self.reduced.bounded;
        for i in bounded {
            self.places[*i] = if self.lower[*i].is_finite() {
                Place::Lower
            } else {
                Place::Upper
            };
        }
        let two_sided = |i: &&usize| self.lower[**i].is_finite() && self.upper[**i].is_finite();
        for k in &self.support {
            if *k < bounded.len() {
                self.places[bounded[*k]] = Place::Inside;
            } else if let Some(i) = bounded.iter().filter(two_sided).nth(k - bounded.len()) {
                self.places[*i] = Place::Upper;
            }
        }
    }

    /// Whether the ray of the tableau proves that there is no solution: y >= 0, M'y <= 0, rhs·y < 0.
    fn ray_is_proof(&mut self) -> bool {
        self.tableau.ray(&mut self.ray);
        let size = self.rhs.len();
        let largest = self.ray.iter().fold(0.0_f64, |m, y| m.max(*y));
        if !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        let gain = |column: &dyn Fn(usize) -> f64| {
            (0..size).fold(0.0, |sum, i| sum + column(i) * self.ray[i] / largest)
        };
        let descent = gain(&|i| self.rhs[i]);
        let worst = (0..size).fold(0.0_f64, |worst, j| {
            worst.max(gain(&|i| self.matrix[i * size + j]))
        });
        descent < -1e-9 && worst <= 1e-9 * -descent.max(-1.0)
    }
}

/// The sign with which a row is counted, and the bound from which.
fn side(lower: f64, upper: f64) -> (f64, f64) {
    if lower.is_finite() {
        (1.0, lower)
    } else {
        (-1.0, upper)
    }
}
