//! The linear system of every Newton method here, in body space:
//!
//! ```text
//! H x = r,   H = M + sum over contacts and rows of J' K J
//! ```
//!
//! with a 3x3 K a contact and a number a row. M is positive definite, so H needs no regularisation
//! where contacts are redundant. Blocks of 6 x 6; two bodies share a block where they share a
//! contact or row. The elimination order is kept while that graph stays.
//!
//! H is factored where that takes at most a given work, and solved by a Krylov method with an
//! incomplete factorisation elsewhere (`krylov.rs`).

use crate::assembly::Assembly;
use crate::block_lu::{BlockLu, Entries};
use crate::form::{BodyForm, Dual, NONE, Six, add_scaled, dot};
use crate::krylov::{End, Krylov, Preconditioned};
use crate::maps::Three;
use crate::ordering::Symbolic;
use crate::width::is_far_beyond;
use moreau_math::{Vec3, vec3};

/// K of all contacts and rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    pub(crate) contacts: Vec<Three>,
    pub(crate) rows: Vec<f64>,
}

/// Multiply-adds of a product of two blocks, and of a block and a vector.
const BLOCK_PRODUCT: u64 = 216;
const BLOCK_VECTOR: u64 = 36;

/// Those of a contact: in an assembly, a sweep, and a look at the law.
const CONTACT_ASSEMBLY: u64 = 540;
pub(crate) const CONTACT_SWEEP: u64 = 100;
pub(crate) const CONTACT_LOOK: u64 = 50;
/// Looks at the law of a step with its search, more or less.
const LOOKS: u64 = 7;

/// The part of |r| that a Krylov solve may leave: an inexact direction is still one, for the step
/// along it is searched.
const KRYLOV_ENOUGH: f64 = 1e-2;
/// Solves for what the last one left.
const KRYLOV_PASSES: u32 = 3;

/// What is added to the diagonal blocks, as a part of them, where incomplete factors break down.
const SHIFTS: [f64; 4] = [0.0, 0.01, 0.1, 1.0];

/// When Krylov methods solve, and what they may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KrylovLimits {
    /// Multiply-adds of the largest factorisation.
    pub(crate) work: u64,
    /// Products with H a solve.
    pub(crate) iterations: u32,
    /// The part of |r| that a solve aims to leave.
    pub(crate) reduction: f64,
}

impl KrylovLimits {
    /// What rounding allows, nearly.
    pub(crate) const EXACT: f64 = 1e-11;
}

/// Multiply-adds of a step beside the factorisation, for so many contacts and rows.
pub(crate) fn beside_factors(contacts: usize) -> u64 {
    (CONTACT_ASSEMBLY + LOOKS * CONTACT_LOOK) * contacts.max(1) as u64
}

#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    /// Bodies that contacts and rows connect, in their order.
    graph: Vec<(u32, u32)>,
    /// Bodies that touch an immovable one.
    grounded: Vec<u32>,
    /// The same of the problem that is being looked at.
    pairs: Vec<(u32, u32)>,
    roots: Vec<u32>,
    nodes: usize,
    /// The graph that was last found to take more than some block operations, and how many.
    refused: (usize, Vec<(u32, u32)>, u64),
    /// The block operations that `symbolic` was last found to be within; 0: not asked.
    admitted: u64,
    /// Without fill where `incomplete`.
    symbolic: Symbolic,
    incomplete: bool,
    /// The work that a complete factorisation is known to exceed.
    exceeded: u64,
    lu: BlockLu<6>,
    /// H where `incomplete`.
    matrix: Entries<6>,
    symmetric: bool,
    krylov: Krylov,
    iterations: u32,
    pub(crate) reduction: f64,
    residual: Vec<Six>,
    correction: Vec<Six>,
    /// Factorisations since the system was made.
    pub(crate) factorizations: u32,
    /// Multiply-adds of everything but complete factorisations since then.
    spent: u64,
    /// What `spent` may rise to.
    most: u64,
}

impl System {
    /// Analyses the contact graph, unless it is that of the last problem.
    pub(crate) fn analyse(&mut self, form: &BodyForm, limits: &KrylovLimits) {
        let contacts = form.contacts.iter().map(|c| (c.a, c.b));
        let rows = form.rows.iter().map(|r| (r.a, r.b));
        self.analyse_graph(form.bodies(), contacts.chain(rows), limits);
    }

    /// The same from the movable indices of the `pairs` that contacts and rows connect, in their order.
    pub(crate) fn analyse_graph(
        &mut self,
        bodies: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        limits: &KrylovLimits,
    ) {
        (self.iterations, self.reduction) = (limits.iterations, limits.reduction);
        self.list(pairs);
        let most = limits.work / BLOCK_PRODUCT;
        let known = self.nodes == bodies && self.graph == self.pairs;
        let fits = if self.incomplete {
            known && most <= self.exceeded && self.grounded == self.roots
        } else {
            known && self.symbolic.work() <= most
        };
        if fits {
            return;
        }
        let edges = self.pairs.iter().copied();
        let complete = Symbolic::within(bodies, edges.clone(), most);
        self.incomplete = complete.is_none();
        self.admitted = 0;
        self.symbolic = complete.unwrap_or_else(|| {
            self.exceeded = most;
            Symbolic::without_fill(bodies, edges, self.roots.iter().copied())
        });
        self.nodes = bodies;
        std::mem::swap(&mut self.graph, &mut self.pairs);
        std::mem::swap(&mut self.grounded, &mut self.roots);
    }

    /// Whether a complete factorisation takes at most `work` multiply-adds; then it is ready to be made. Some graphs are
    /// refused because they look far too wide, see [`is_far_beyond`].
    pub(crate) fn is_within(
        &mut self,
        bodies: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        work: u64,
    ) -> bool {
        self.list(pairs);
        let most = work / BLOCK_PRODUCT;
        let known = !self.incomplete && self.nodes == bodies && self.graph == self.pairs;
        if known && self.admitted == most {
            return true;
        }
        let (nodes, graph, least) = &mut self.refused;
        if *nodes == bodies && *least == most && *graph == self.pairs {
            return false;
        }
        let edges = self.pairs.iter().copied();
        let narrow = !is_far_beyond(bodies, &self.pairs, most);
        if narrow && known && self.symbolic.work() <= most {
            self.admitted = most;
            return true;
        }
        let complete = if narrow && !known {
            Symbolic::within(bodies, edges, most)
        } else {
            None
        };
        let Some(symbolic) = complete else {
            (*nodes, *least) = (bodies, most);
            std::mem::swap(graph, &mut self.pairs);
            return false;
        };
        (self.symbolic, self.incomplete, self.nodes) = (symbolic, false, bodies);
        self.admitted = most;
        std::mem::swap(&mut self.graph, &mut self.pairs);
        std::mem::swap(&mut self.grounded, &mut self.roots);
        true
    }

    /// Lists the bodies that `pairs` connect, and those that touch an immovable one.
    fn list(&mut self, pairs: impl Iterator<Item = (u32, u32)>) {
        self.pairs.clear();
        self.roots.clear();
        for (a, b) in pairs {
            if a != NONE && b != NONE {
                push_new(&mut self.pairs, (a, b));
            } else if a != b {
                push_new(&mut self.roots, if a == NONE { b } else { a });
            }
        }
    }

    /// Multiply-adds of one complete factorisation; where it is not done, one more than the limit at
    /// least.
    pub(crate) fn multiply_adds(&self) -> u64 {
        if self.incomplete {
            return self
                .exceeded
                .saturating_add(1)
                .saturating_mul(BLOCK_PRODUCT);
        }
        self.symbolic.work() * BLOCK_PRODUCT
    }

    /// Multiply-adds of a step with a complete factorisation: assembly, factors and line search.
    pub(crate) fn step_work(&self, form: &BodyForm) -> u64 {
        self.multiply_adds() + beside_factors(form.contacts.len() + form.rows.len())
    }

    /// Whether Krylov methods solve.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Products with H of Krylov solves since the system was made.
    pub(crate) fn krylov_iterations(&self) -> u64 {
        self.krylov.iterations
    }

    /// Lets Krylov solves spend `work` multiply-adds from here on.
    pub(crate) fn allow(&mut self, work: u64) {
        self.most = self.spent.saturating_add(work);
    }

    /// Counts other work, in multiply-adds for each contact and row, towards what may be spent.
    pub(crate) fn charge(&mut self, form: &BodyForm, each: u64) {
        self.spent += each * (form.contacts.len() + form.rows.len()) as u64;
    }

    /// Whether Krylov solves and what goes with them have spent what they may.
    pub(crate) fn exhausted(&self) -> bool {
        self.incomplete && self.spent >= self.most
    }

    /// Assembles and factors H; false where it is singular.
    #[must_use]
    pub(crate) fn factor(&mut self, form: &BodyForm, k: &Weights) -> bool {
        self.factorizations += 1;
        self.charge(form, CONTACT_ASSEMBLY);
        self.lu.reset(&self.symbolic);
        self.lu.arithmetic.run(Assembly {
            form,
            weights: k,
            symbolic: &self.symbolic,
            lu: &mut self.lu,
        });
        if self.incomplete {
            return self.factor_incomplete(k);
        }
        self.lu.factor(&self.symbolic)
    }

    fn factor_incomplete(&mut self, k: &Weights) -> bool {
        self.symmetric = k.contacts.iter().all(is_symmetric);
        self.lu.save(&mut self.matrix);
        for shift in SHIFTS {
            self.spent += self.symbolic.work() * BLOCK_PRODUCT;
            if shift > 0.0 {
                self.lu.restore(&self.matrix, 1.0 + shift);
            }
            if self.lu.factor(&self.symbolic) {
                return true;
            }
        }
        false
    }

    /// x = H^-1 r with a step of iterative refinement, or by a Krylov method. False where it is not
    /// finite, or not an answer.
    #[must_use]
    pub(crate) fn solve(
        &mut self,
        form: &BodyForm,
        k: &Weights,
        r: &[Six],
        x: &mut Vec<Six>,
    ) -> bool {
        if self.incomplete {
            return self.solve_krylov(form, k, r, x);
        }
        x.clear();
        x.extend_from_slice(r);
        self.lu.solve(&self.symbolic, x);
        self.residual.clear();
        self.residual.extend_from_slice(r);
        subtract_product(form, k, x, &mut self.residual);
        self.lu.solve(&self.symbolic, &mut self.residual);
        for (x, d) in x.iter_mut().zip(&self.residual) {
            add_scaled(x, d, 1.0);
        }
        x.iter().flatten().all(|x| x.is_finite())
    }

    /// Krylov solves, each for what the ones before left of r, worked out from the contacts.
    fn solve_krylov(&mut self, form: &BodyForm, k: &Weights, r: &[Six], x: &mut Vec<Six>) -> bool {
        let system = Preconditioned {
            form,
            symbolic: &self.symbolic,
            matrix: &self.matrix,
            factors: &self.lu,
            symmetric: self.symmetric,
        };
        let step = 2 * BLOCK_VECTOR * (self.nodes + 2 * self.symbolic.fill()) as u64;
        let first = self.krylov.iterations;
        x.clear();
        x.resize(r.len(), [0.0; 6]);
        self.residual.clear();
        self.residual.extend_from_slice(r);
        let whole = form.momentum_length(r);
        let mut left = whole;
        for _ in 0..KRYLOV_PASSES {
            let used = (self.krylov.iterations - first) as u32;
            let end = End {
                reduction: (self.reduction * whole / left).min(0.5),
                iterations: self.iterations.saturating_sub(used),
            };
            if !(left > self.reduction * whole) || end.iterations == 0 {
                break;
            }
            let residual = std::mem::take(&mut self.residual);
            self.krylov
                .solve(&system, &residual, &end, &mut self.correction);
            self.residual = residual;
            for (x, d) in x.iter_mut().zip(&self.correction) {
                add_scaled(x, d, 1.0);
            }
            self.residual.clear();
            self.residual.extend_from_slice(r);
            subtract_product(form, k, x, &mut self.residual);
            let before = left;
            left = form.momentum_length(&self.residual);
            if !(left < before) {
                for (x, d) in x.iter_mut().zip(&self.correction) {
                    add_scaled(x, d, -1.0);
                }
                left = before;
                break;
            }
        }
        self.spent += (self.krylov.iterations - first) * step;
        left <= KRYLOV_ENOUGH * whole && x.iter().flatten().all(|x| x.is_finite())
    }
}

/// Appends what the list does not end with already: the points of a manifold follow each other.
fn push_new<T: Copy + PartialEq>(list: &mut Vec<T>, item: T) {
    if list.last() != Some(&item) {
        list.push(item);
    }
}

fn is_symmetric(k: &Three) -> bool {
    k[0][1] == k[1][0] && k[0][2] == k[2][0] && k[1][2] == k[2][1]
}

/// r -= H x.
fn subtract_product(form: &BodyForm, k: &Weights, x: &[Six], r: &mut [Six]) {
    for (body, (x, r)) in x.iter().zip(r.iter_mut()).enumerate() {
        add_scaled(r, &form.mass_times(body, x), -1.0);
    }
    let mut dual = Dual::default();
    dual.contacts.extend(
        form.contacts
            .iter()
            .zip(&k.contacts)
            .map(|(c, k)| crate::maps::apply(k, contact_rate(c, x))),
    );
    dual.rows.extend(
        form.rows
            .iter()
            .zip(&k.rows)
            .map(|(r, k)| k * r.velocity(x)),
    );
    form.add_jacobian(&dual, -1.0, r);
}

/// J x of a contact, without bias.
pub(crate) fn contact_rate(c: &crate::form::Contact, x: &[Six]) -> Vec3 {
    let mut u = Vec3::ZERO;
    for (body, j) in [(c.a, &c.ja), (c.b, &c.jb)] {
        if body != NONE {
            let x = &x[body as usize];
            u += vec3(dot(&j[0], x), dot(&j[1], x), dot(&j[2], x));
        }
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Arithmetic;
    use crate::maps::{IDENTITY, alart_curnier, inverse, multiply, scaled};
    use crate::support;

    fn limits(work: u64) -> KrylovLimits {
        KrylovLimits {
            work,
            iterations: 5000,
            reduction: KrylovLimits::EXACT,
        }
    }

    /// The weights of S2 at impulses that push with a tenth to ten times what stops their contact, and
    /// so stick, slide and open.
    fn primal_dual(form: &BodyForm, delta: f64) -> Weights {
        let contact = |(i, c): (usize, &crate::form::Contact)| {
            let push = c.velocity(&form.free).length() * c.rho * [0.1, 1.0, 10.0][i % 3];
            let z = vec3(push, 0.0, 0.0) - c.velocity(&form.free) * c.rho;
            let (_, g) = alart_curnier(z, c.mu);
            let mut m = IDENTITY;
            for a in 0..3 {
                for b in 0..3 {
                    m[a][b] -= g[a][b];
                }
                m[a][a] += delta;
            }
            scaled(&multiply(&inverse(&m), &g), c.rho)
        };
        Weights {
            contacts: form.contacts.iter().enumerate().map(contact).collect(),
            rows: form
                .rows
                .iter()
                .map(|r| 1.0 / (delta * r.diagonal))
                .collect(),
        }
    }

    fn check(name: &str, form: &BodyForm, k: &Weights) -> u64 {
        let mut direct = System::default();
        direct.analyse(form, &limits(u64::MAX));
        let mut krylov = System::default();
        krylov.analyse(form, &limits(0));
        krylov.allow(u64::MAX);
        assert!(krylov.is_incomplete() && !direct.is_incomplete());
        let r: Vec<Six> = (0..form.bodies())
            .map(|body| form.mass_times(body, &form.free[body]))
            .collect();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        assert!(direct.factor(form, k) && direct.solve(form, k, &r, &mut x));
        assert!(krylov.factor(form, k) && krylov.solve(form, k, &r, &mut y));
        for arithmetic in [Arithmetic::Plain, Arithmetic::fastest().narrow()] {
            let mut z = Vec::new();
            direct.lu.arithmetic = arithmetic;
            assert!(direct.factor(form, k) && direct.solve(form, k, &r, &mut z));
            assert_eq!(x, z, "{name}: {arithmetic:?}");
        }
        // What is left of r, and what the answers differ in, is next to nothing.
        let mut rest = r.clone();
        subtract_product(form, k, &y, &mut rest);
        let left = form.momentum_length(&rest);
        assert!(left <= 1e-10 * form.momentum_length(&r), "{name}: {left:e}");
        let energy = |x: &[Six]| -> f64 {
            let pairs = x.iter().enumerate();
            let squares = pairs.map(|(body, x)| dot(x, &form.mass_times(body, x)));
            squares.fold(0.0, |sum: f64, x| sum + x).sqrt()
        };
        let difference: Vec<Six> = (x.iter().zip(&y))
            .map(|(x, y)| std::array::from_fn(|i| x[i] - y[i]))
            .collect();
        let (off, size) = (energy(&difference), energy(&x));
        assert!(off <= 1e-10 * size, "{name}: {off:e} of {size:e}");
        krylov.krylov_iterations()
    }

    #[test]
    fn krylov_solves_agree_with_the_factorization() {
        let mut files = support::fixtures();
        files.extend(support::folder("made").unwrap_or_default());
        let mut iterations = 0;
        for (name, file) in files {
            let mut form = BodyForm::default();
            form.load(file.problem().unwrap());
            iterations += check(&name, &form, &primal_dual(&form, 1e-3));
            // Everything sticks: symmetric, for conjugate gradients.
            let sticking = Weights {
                contacts: form
                    .contacts
                    .iter()
                    .map(|c| scaled(&IDENTITY, 100.0 * c.rho))
                    .collect(),
                rows: form.rows.iter().map(|r| 100.0 / r.diagonal).collect(),
            };
            iterations += check(&name, &form, &sticking);
        }
        assert!(iterations > 0);
    }
}
