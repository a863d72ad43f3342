//! A contact problem in contact space: nothing is known of bodies.
//!
//! ```text
//! u = W r + q,   K* ∋ u + g(u) ⟂ r ∈ K,   g(u) = (mu |u_t|, 0, 0)  a contact
//! ```
//!
//! W: 3x3 blocks by rows, (n, t1, t2), 1/kg; q and u: m/s; r: N s. Data from elsewhere holds W that
//! is symmetric only to rounding, or to less: both triangles are kept as they are.

use crate::certificate::natural_map;
use moreau_constraint::{ContactPoint, ContactProblem};
use moreau_math::{Mat3, Vec3};

/// W, q and the friction coefficients; see the module's formulas.
///
/// Every number in it is finite, every coefficient 0 or more. All diagonal blocks are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelassusProblem {
    q: Vec<Vec3>,
    friction: Vec<f64>,
    /// Start of each row in `columns` and `blocks`; one more than there are rows.
    start: Vec<usize>,
    /// Ascending in each row.
    columns: Vec<u32>,
    blocks: Vec<Mat3>,
}

/// Why a problem in contact space was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DelassusError {
    /// Lists of different lengths.
    #[error("{friction} friction coefficients for {contacts} contacts")]
    Length {
        /// Vectors q.
        contacts: usize,
        /// Coefficients.
        friction: usize,
    },
    /// A block outside of the matrix.
    #[error("block ({row}, {column}) is outside of a matrix of {contacts} contacts")]
    Outside {
        /// Contact of its rows.
        row: usize,
        /// Contact of its columns.
        column: usize,
        /// How many contacts there are.
        contacts: usize,
    },
    /// The same block twice.
    #[error("block ({row}, {column}) is given twice")]
    Repeated {
        /// Contact of its rows.
        row: usize,
        /// Contact of its columns.
        column: usize,
    },
    /// A block of W with an infinite entry or NaN.
    #[error("block ({row}, {column}) is not finite")]
    Block {
        /// Contact of its rows.
        row: usize,
        /// Contact of its columns.
        column: usize,
    },
    /// A diagonal entry of W below zero: a push would pull.
    #[error("contact {contact}: the diagonal of W has {value}, must be 0 or more")]
    Diagonal {
        /// Index of the contact.
        contact: usize,
        /// The entry, 1/kg.
        value: f64,
    },
    /// A q with an infinite entry or NaN.
    #[error("contact {contact}: q is {value}, must be finite")]
    Velocity {
        /// Index of the contact.
        contact: usize,
        /// Its q, m/s.
        value: Vec3,
    },
    /// A coefficient out of its range.
    #[error("contact {contact}: friction is {value}, must be 0 or more, and finite")]
    Friction {
        /// Index of the contact.
        contact: usize,
        /// Its coefficient.
        value: f64,
    },
    /// Scalar rows have no place in contact space.
    #[error("the problem has {rows} rows; only contacts can be written as u = W r + q")]
    Rows {
        /// How many rows the problem has.
        rows: usize,
    },
}

impl DelassusProblem {
    /// A problem from its parts: q (m/s) and mu of each contact, and the blocks of W (1/kg) as
    /// (row, column, block) in any order. What is not given is zero; blocks of zeros are not kept.
    ///
    /// # Errors
    /// [`DelassusError`] where lengths differ, a block is outside or repeated, or a number is not
    /// in its range.
    pub fn new(
        q: Vec<Vec3>,
        friction: Vec<f64>,
        mut blocks: Vec<(u32, u32, Mat3)>,
    ) -> Result<Self, DelassusError> {
        let contacts = q.len();
        if friction.len() != contacts {
            let friction = friction.len();
            return Err(DelassusError::Length { contacts, friction });
        }
        if let Some((contact, &value)) = q.iter().enumerate().find(|(_, q)| !q.is_finite()) {
            return Err(DelassusError::Velocity { contact, value });
        }
        let fits = |mu: f64| mu >= 0.0 && mu.is_finite();
        if let Some((contact, &value)) = friction.iter().enumerate().find(|(_, mu)| !fits(**mu)) {
            return Err(DelassusError::Friction { contact, value });
        }
        blocks.sort_by_key(|(row, column, _)| (*row, *column));
        let mut out = Self {
            start: vec![0],
            columns: Vec::with_capacity(blocks.len()),
            blocks: Vec::with_capacity(blocks.len()),
            q,
            friction,
        };
        let mut last = None;
        for (row, column, block) in blocks {
            let at = (row as usize, column as usize);
            let (row, column) = at;
            if row.max(column) >= contacts {
                return Err(DelassusError::Outside {
                    row,
                    column,
                    contacts,
                });
            }
            if last == Some(at) {
                return Err(DelassusError::Repeated { row, column });
            }
            if !block.is_finite() {
                return Err(DelassusError::Block { row, column });
            }
            let least = block.x_axis.x.min(block.y_axis.y).min(block.z_axis.z);
            if row == column && least < 0.0 {
                return Err(DelassusError::Diagonal {
                    contact: row,
                    value: least,
                });
            }
            last = Some(at);
            out.push(row, column, block);
        }
        out.close_rows(contacts);
        Ok(out)
    }

    /// Appends a block behind all others.
    fn push(&mut self, row: usize, column: usize, block: Mat3) {
        self.close_rows(row);
        if column == row || block != Mat3::ZERO {
            self.columns.push(column as u32);
            self.blocks.push(block);
        }
    }

    /// Ends all rows before `row`, each with a diagonal block.
    fn close_rows(&mut self, row: usize) {
        while self.start.len() <= row {
            let current = (self.start.len() - 1) as u32;
            let from = self.start[current as usize];
            let at = from + self.columns[from..].partition_point(|c| *c < current);
            if self.columns.get(at) != Some(&current) {
                self.columns.insert(at, current);
                self.blocks.insert(at, Mat3::ZERO);
            }
            self.start.push(self.columns.len());
        }
    }

    /// The problem of bodies and contacts in contact space: W = J M^-1 J', q = J v + b.
    ///
    /// # Errors
    /// [`DelassusError::Rows`] where the problem has scalar rows.
    pub fn from_problem(problem: &ContactProblem) -> Result<Self, DelassusError> {
        if !problem.rows().is_empty() {
            let rows = problem.rows().len();
            return Err(DelassusError::Rows { rows });
        }
        let contacts = problem.contacts();
        let mut of_body: Vec<Vec<u32>> = vec![Vec::new(); problem.bodies().len()];
        for (i, c) in contacts.iter().enumerate() {
            for body in [c.a, c.b] {
                if !problem.bodies()[body].is_immovable() {
                    of_body[body].push(i as u32);
                }
            }
        }
        let mut blocks = Vec::new();
        let mut others: Vec<u32> = Vec::new();
        for (i, c) in contacts.iter().enumerate() {
            blocks.push((i as u32, i as u32, problem.delassus_block(c)));
            others.clear();
            for body in [c.a, c.b] {
                others.extend(of_body[body].iter().filter(|j| **j > i as u32));
            }
            others.sort_unstable();
            others.dedup();
            for &j in &others {
                let block = coupling(problem, c, &contacts[j as usize]);
                blocks.push((i as u32, j, block));
                blocks.push((j, i as u32, block.transpose()));
            }
        }
        let q = contacts
            .iter()
            .map(|c| problem.free_velocity(c) + c.bias)
            .collect();
        let friction = contacts.iter().map(|c| c.friction).collect();
        Self::new(q, friction, blocks)
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.q.len()
    }

    /// q of each contact, m/s.
    pub fn q(&self) -> &[Vec3] {
        &self.q
    }

    /// mu of each contact.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// The stored blocks of the rows of `contact`, columns ascending.
    pub fn row(&self, contact: usize) -> impl Iterator<Item = (usize, &Mat3)> {
        let range = self.start[contact]..self.start[contact + 1];
        self.columns[range.clone()]
            .iter()
            .map(|c| *c as usize)
            .zip(&self.blocks[range])
    }

    /// Number of stored blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// W_cc.
    pub fn diagonal(&self, contact: usize) -> &Mat3 {
        let range = self.start[contact]..self.start[contact + 1];
        let at = self.columns[range.clone()].partition_point(|c| (*c as usize) < contact);
        &self.blocks[range.start + at]
    }

    /// u = W r + q of one contact, m/s. `r`: N s.
    pub fn velocity(&self, contact: usize, r: &[Vec3]) -> Vec3 {
        self.row(contact)
            .fold(self.q[contact], |u, (j, block)| u + *block * r[j])
    }

    /// u = W r + q of all contacts, into `u`.
    pub fn velocities_into(&self, r: &[Vec3], u: &mut Vec<Vec3>) {
        u.clear();
        u.extend((0..self.contacts()).map(|i| self.velocity(i, r)));
    }

    /// u = W r + q, m/s. `r`: N s, one a contact.
    pub fn velocities(&self, r: &[Vec3]) -> Vec<Vec3> {
        let mut u = Vec::new();
        self.velocities_into(r, &mut u);
        u
    }

    /// The largest natural map of a contact as solvers report it (rho = 3/trace W_cc, m/s; see
    /// [`crate::natural_map`]), and the contact; `None` where there is none.
    pub fn residual(&self, r: &[Vec3]) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for (i, l) in r.iter().enumerate() {
            let w = self.diagonal(i);
            let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
            let map = natural_map(*l, self.velocity(i, r), self.friction[i], trace);
            // A NaN must not pass for a small residual.
            if map > worst.0 || map.is_nan() || worst.1.is_none() {
                worst = (map, Some(i));
            }
        }
        worst
    }
}

/// J_i M^-1 J_j' of two contacts, over the bodies that they share.
fn coupling(problem: &ContactProblem, i: &ContactPoint, j: &ContactPoint) -> Mat3 {
    let mut rows = [[0.0; 3]; 3];
    let axes = |c: &ContactPoint| [c.frame.normal, c.frame.tangent1, c.frame.tangent2];
    let (di, dj) = (axes(i), axes(j));
    for (body_i, lever_i, sign_i) in [(i.a, i.lever_a, -1.0), (i.b, i.lever_b, 1.0)] {
        for (body_j, lever_j, sign_j) in [(j.a, j.lever_a, -1.0), (j.b, j.lever_b, 1.0)] {
            if body_i != body_j {
                continue;
            }
            let body = &problem.bodies()[body_i];
            for (row, di) in rows.iter_mut().zip(&di) {
                let turn = body.inverse_inertia.mul_vec(lever_i.cross(*di));
                for (x, dj) in row.iter_mut().zip(&dj) {
                    let linear = di.dot(*dj) * body.inverse_mass;
                    *x += sign_i * sign_j * (linear + turn.dot(lever_j.cross(*dj)));
                }
            }
        }
    }
    Mat3::from_cols_array_2d(&rows).transpose()
}
