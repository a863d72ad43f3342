//! The linear system of every Newton method here, in body space:
//!
//! ```text
//! H x = r,   H = M + sum over contacts and rows of J' K J
//! ```
//!
//! with a 3x3 K a contact and a number a row. M is positive definite, so H needs no regularisation
//! where contacts are redundant. Blocks of 6 x 6; two bodies share a block where they share a
//! contact or row. The elimination order is kept while that graph stays.

use crate::block_lu::{Block, BlockLu};
use crate::form::{BodyForm, Dual, NONE, Six, add_scaled, dot};
use crate::maps::Three;
use crate::ordering::Symbolic;
use moreau_math::{Vec3, vec3};

/// K of all contacts and rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    pub(crate) contacts: Vec<Three>,
    pub(crate) rows: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    graph: Vec<(u32, u32)>,
    nodes: usize,
    symbolic: Symbolic,
    lu: BlockLu<6>,
    residual: Vec<Six>,
    /// Factorisations since the system was made.
    pub(crate) factorizations: u32,
}

impl System {
    /// Analyses the contact graph, unless it is that of the last problem.
    pub(crate) fn analyse(&mut self, form: &BodyForm) {
        let contacts = form.contacts.iter().map(|c| (c.a, c.b));
        let rows = form.rows.iter().map(|r| (r.a, r.b));
        let mut graph: Vec<(u32, u32)> = contacts
            .chain(rows)
            .filter(|(a, b)| *a != NONE && *b != NONE)
            .collect();
        graph.dedup();
        if self.nodes != form.bodies() || self.graph != graph {
            self.symbolic = Symbolic::new(form.bodies(), graph.iter().copied());
            (self.nodes, self.graph) = (form.bodies(), graph);
        }
    }

    /// Multiply-adds of one factorisation.
    pub(crate) fn multiply_adds(&self) -> u64 {
        self.symbolic.work() * 216
    }

    /// Assembles and factors H; false where it is singular.
    #[must_use]
    pub(crate) fn factor(&mut self, form: &BodyForm, k: &Weights) -> bool {
        self.factorizations += 1;
        self.lu.reset(&self.symbolic);
        for body in 0..form.bodies() {
            let block = self.lu.entry(&self.symbolic, body as u32, body as u32);
            let (m, i) = (form.mass[body], &form.inertia[body]);
            for d in 0..3 {
                block[d][d] = m;
            }
            let inertia = [[i.xx, i.xy, i.xz], [i.xy, i.yy, i.yz], [i.xz, i.yz, i.zz]];
            for (row, values) in block[3..].iter_mut().zip(inertia) {
                row[3..].copy_from_slice(&values);
            }
        }
        for (c, k) in form.contacts.iter().zip(&k.contacts) {
            if k.iter().flatten().all(|x| *x == 0.0) {
                continue;
            }
            let (ka, kb) = (weigh(k, &c.ja), weigh(k, &c.jb));
            for (i, ji) in [(c.a, &c.ja), (c.b, &c.jb)] {
                for (j, kj) in [(c.a, &ka), (c.b, &kb)] {
                    if i != NONE && j != NONE {
                        add_product(self.lu.entry(&self.symbolic, i, j), ji, kj);
                    }
                }
            }
        }
        for (r, k) in form.rows.iter().zip(&k.rows) {
            if *k == 0.0 {
                continue;
            }
            for (i, ji) in [(r.a, &r.ja), (r.b, &r.jb)] {
                for (j, jj) in [(r.a, &r.ja), (r.b, &r.jb)] {
                    if i != NONE && j != NONE {
                        let block = self.lu.entry(&self.symbolic, i, j);
                        for (row, x) in block.iter_mut().zip(ji) {
                            add_scaled(row, jj, x * k);
                        }
                    }
                }
            }
        }
        self.lu.factor(&self.symbolic)
    }

    /// x = H^-1 r with a step of iterative refinement. False where it is not finite.
    #[must_use]
    pub(crate) fn solve(
        &mut self,
        form: &BodyForm,
        k: &Weights,
        r: &[Six],
        x: &mut Vec<Six>,
    ) -> bool {
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

/// K J.
fn weigh(k: &Three, j: &[Six; 3]) -> [Six; 3] {
    let mut out = [[0.0; 6]; 3];
    for (row, k) in out.iter_mut().zip(k) {
        for i in 0..3 {
            add_scaled(row, &j[i], k[i]);
        }
    }
    out
}

/// block += J' (K J).
fn add_product(block: &mut Block<6>, j: &[Six; 3], kj: &[Six; 3]) {
    for (i, row) in block.iter_mut().enumerate() {
        for (j, kj) in j.iter().zip(kj) {
            add_scaled(row, kj, j[i]);
        }
    }
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
