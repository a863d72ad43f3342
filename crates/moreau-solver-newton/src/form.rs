//! The problem in body space, as the Newton methods use it.
//!
//! Only bodies that an impulse can move take part. What immovable bodies contribute to a contact's
//! velocity is constant and part of the bias. Degrees of freedom with zero inverse mass are kept, so
//! that all bodies have six, with mass 1 and zero Jacobian: nothing moves them.
//!
//! Vectors: v (6 a body: linear, angular), l and u (3 a contact, (n, t1, t2)), one a row.
//! u = J v + b;  v+ = v_free + M^-1 J' l.

use moreau_constraint::{ContactProblem, Impulses, project_cone};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity, vec3};
use moreau_solver::natural_map;

/// No body: an immovable one.
pub(crate) const NONE: u32 = u32::MAX;

pub(crate) type Six = [f64; 6];

/// A contact in body space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Rows (n, t1, t2) of J for A and B; zero for an immovable body.
    pub(crate) ja: [Six; 3],
    pub(crate) jb: [Six; 3],
    /// The same times M^-1.
    pub(crate) mja: [Six; 3],
    pub(crate) mjb: [Six; 3],
    pub(crate) w: Mat3,
    pub(crate) trace: f64,
    /// 3/trace(W).
    pub(crate) rho: f64,
    pub(crate) mu: f64,
    pub(crate) bias: Vec3,
}

/// A scalar row in body space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) ja: Six,
    pub(crate) jb: Six,
    pub(crate) mja: Six,
    pub(crate) mjb: Six,
    pub(crate) diagonal: f64,
    pub(crate) bias: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) regularization: f64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyForm {
    /// Movable index of each body of the problem.
    pub(crate) index: Vec<u32>,
    pub(crate) mass: Vec<f64>,
    pub(crate) inertia: Vec<SymMat3>,
    pub(crate) inverse_mass: Vec<f64>,
    pub(crate) inverse_inertia: Vec<SymMat3>,
    pub(crate) free: Vec<Six>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) rows: Vec<Row>,
}

/// Impulses of contacts and rows, or anything of that shape.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Dual {
    pub(crate) contacts: Vec<Vec3>,
    pub(crate) rows: Vec<f64>,
}

pub(crate) fn dot(a: &Six, b: &Six) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
}

pub(crate) fn add_scaled(to: &mut Six, x: &Six, scale: f64) {
    for i in 0..6 {
        to[i] += x[i] * scale;
    }
}

/// What the degrees of freedom that nothing moves contribute to a row's velocity: constant, but not
/// zero.
fn lost_velocity(whole: &Six, kept: &Six, v: &Velocity) -> f64 {
    let v = six(v.linear, v.angular);
    let mut lost = 0.0;
    for i in 0..6 {
        // No difference, no rounding.
        if whole[i] != kept[i] {
            lost += (whole[i] - kept[i]) * v[i];
        }
    }
    lost
}

fn six(linear: Vec3, angular: Vec3) -> Six {
    [
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    ]
}

fn parts(x: &Six) -> (Vec3, Vec3) {
    (vec3(x[0], x[1], x[2]), vec3(x[3], x[4], x[5]))
}

impl BodyForm {
    /// Numbers the movable bodies of a problem, and nothing more; returns how many there are.
    pub(crate) fn load_index(&mut self, problem: &ContactProblem) -> usize {
        let mut count = 0;
        self.index.clear();
        self.index.extend(problem.bodies().iter().map(|body| {
            if body.is_immovable() {
                return NONE;
            }
            count += 1;
            count - 1
        }));
        count as usize
    }

    /// Fills the form from a problem. Memory is reused.
    pub(crate) fn load(&mut self, problem: &ContactProblem) {
        self.index.clear();
        self.mass.clear();
        self.inertia.clear();
        self.inverse_mass.clear();
        self.inverse_inertia.clear();
        self.free.clear();
        for body in problem.bodies() {
            if body.is_immovable() {
                self.index.push(NONE);
                continue;
            }
            self.index.push(self.mass.len() as u32);
            let inverse = body.inverse_mass;
            self.mass
                .push(if inverse > 0.0 { 1.0 / inverse } else { 1.0 });
            self.inverse_mass.push(inverse);
            let (inertia, inverse_inertia) = inertia_pair(&body.inverse_inertia);
            self.inertia.push(inertia);
            self.inverse_inertia.push(inverse_inertia);
            self.free
                .push(six(body.velocity.linear, body.velocity.angular));
        }
        self.load_contacts(problem);
        self.load_rows(problem);
    }

    fn load_contacts(&mut self, problem: &ContactProblem) {
        self.contacts.clear();
        for c in problem.contacts() {
            let axes = [c.frame.normal, c.frame.tangent1, c.frame.tangent2];
            let jacobian = |body: usize, lever: Vec3, sign: f64| {
                axes.map(|d| self.masked(body, six(d * sign, lever.cross(d) * sign)))
            };
            let (ja, jb) = (
                jacobian(c.a, c.lever_a, -1.0),
                jacobian(c.b, c.lever_b, 1.0),
            );
            let mut bias = c.bias;
            for (body, lever, sign, kept) in
                [(c.a, c.lever_a, -1.0, &ja), (c.b, c.lever_b, 1.0, &jb)]
            {
                let v = &problem.bodies()[body].velocity;
                if self.index[body] == NONE {
                    bias += c.frame.to_local(v.at(lever)) * sign;
                } else {
                    let lost = |k: usize| {
                        let whole = six(axes[k] * sign, lever.cross(axes[k]) * sign);
                        lost_velocity(&whole, &kept[k], v)
                    };
                    bias += vec3(lost(0), lost(1), lost(2));
                }
            }
            let mut contact = Contact {
                a: self.index[c.a],
                b: self.index[c.b],
                ja,
                jb,
                mja: [[0.0; 6]; 3],
                mjb: [[0.0; 6]; 3],
                w: Mat3::ZERO,
                trace: 0.0,
                rho: 0.0,
                mu: c.friction,
                bias,
            };
            for k in 0..3 {
                contact.mja[k] = self.inverse_mass_times(contact.a, &contact.ja[k]);
                contact.mjb[k] = self.inverse_mass_times(contact.b, &contact.jb[k]);
            }
            let entry = |i: usize, j: usize| {
                dot(&contact.ja[i], &contact.mja[j]) + dot(&contact.jb[i], &contact.mjb[j])
            };
            let (nn, n1, n2) = (entry(0, 0), entry(0, 1), entry(0, 2));
            let (t11, t12, t22) = (entry(1, 1), entry(1, 2), entry(2, 2));
            contact.w = Mat3::from_cols_array(&[nn, n1, n2, n1, t11, t12, n2, t12, t22]);
            contact.trace = nn + t11 + t22;
            contact.rho = 3.0 / contact.trace;
            self.contacts.push(contact);
        }
    }

    fn load_rows(&mut self, problem: &ContactProblem) {
        self.rows.clear();
        for r in problem.rows() {
            let (a, b) = (self.index[r.a], self.index[r.b]);
            let ja = self.masked(r.a, six(r.linear_a, r.angular_a));
            let jb = self.masked(r.b, six(r.linear_b, r.angular_b));
            let mut bias = r.bias;
            for (body, linear, angular, kept) in [
                (r.a, r.linear_a, r.angular_a, &ja),
                (r.b, r.linear_b, r.angular_b, &jb),
            ] {
                let v = &problem.bodies()[body].velocity;
                bias += if self.index[body] == NONE {
                    linear.dot(v.linear) + angular.dot(v.angular)
                } else {
                    lost_velocity(&six(linear, angular), kept, v)
                };
            }
            let (mja, mjb) = (
                self.inverse_mass_times(a, &ja),
                self.inverse_mass_times(b, &jb),
            );
            self.rows.push(Row {
                a,
                b,
                ja,
                jb,
                mja,
                mjb,
                diagonal: dot(&ja, &mja) + dot(&jb, &mjb) + r.regularization,
                bias,
                lower: r.lower,
                upper: r.upper,
                regularization: r.regularization,
            });
        }
    }

    /// A Jacobian row without the degrees of freedom that nothing moves.
    fn masked(&self, body: usize, row: Six) -> Six {
        let index = self.index[body];
        if index == NONE {
            return [0.0; 6];
        }
        let (mut linear, mut angular) = parts(&row);
        if self.inverse_mass[index as usize] == 0.0 {
            linear = Vec3::ZERO;
        }
        let inverse = &self.inverse_inertia[index as usize];
        if inverse.inverse().is_none() {
            // Only the part of it in the range of the inverse inertia acts.
            angular = range_projection(inverse, angular);
        }
        six(linear, angular)
    }

    fn inverse_mass_times(&self, body: u32, x: &Six) -> Six {
        if body == NONE {
            return [0.0; 6];
        }
        let (linear, angular) = parts(x);
        six(
            linear * self.inverse_mass[body as usize],
            self.inverse_inertia[body as usize].mul_vec(angular),
        )
    }

    /// M x of one body.
    pub(crate) fn mass_times(&self, body: usize, x: &Six) -> Six {
        let (linear, angular) = parts(x);
        six(
            linear * self.mass[body],
            self.inertia[body].mul_vec(angular),
        )
    }

    /// M^-1 x of one body, for momenta that contacts can give it.
    pub(crate) fn momentum_to_velocity(&self, body: usize, x: &Six) -> Six {
        self.inverse_mass_times(body as u32, x)
    }

    /// |f| in M^-1 of momenta, sqrt(J).
    pub(crate) fn momentum_length(&self, f: &[Six]) -> f64 {
        let pairs = f.iter().enumerate();
        let squares = pairs.map(|(body, x)| dot(x, &self.momentum_to_velocity(body, x)));
        squares.fold(0.0, |sum: f64, x| sum + x).max(0.0).sqrt()
    }

    /// The largest velocity at a contact without impulses, m/s: what the impulses are up against.
    pub(crate) fn speed(&self) -> f64 {
        let speeds = self
            .contacts
            .iter()
            .map(|c| c.velocity(&self.free).length());
        speeds.fold(0.0, f64::max)
    }

    pub(crate) fn bodies(&self) -> usize {
        self.mass.len()
    }

    /// All impulses zero.
    pub(crate) fn zero(&self) -> Dual {
        Dual {
            contacts: vec![Vec3::ZERO; self.contacts.len()],
            rows: vec![0.0; self.rows.len()],
        }
    }

    /// v+ of the impulses `l`: contacts, then rows, in index order.
    pub(crate) fn velocities(&self, l: &Dual, v: &mut Vec<Six>) {
        v.clone_from(&self.free);
        self.add_mass_jacobian(l, v);
    }

    /// v += M^-1 J' l.
    pub(crate) fn add_mass_jacobian(&self, l: &Dual, v: &mut [Six]) {
        for (c, l) in self.contacts.iter().zip(&l.contacts) {
            c.apply(v, *l);
        }
        for (r, l) in self.rows.iter().zip(&l.rows) {
            r.apply(v, *l);
        }
    }

    /// f += `scale` J' l.
    pub(crate) fn add_jacobian(&self, l: &Dual, scale: f64, f: &mut [Six]) {
        for (c, l) in self.contacts.iter().zip(&l.contacts) {
            let l = [l.x * scale, l.y * scale, l.z * scale];
            for (body, rows) in [(c.a, &c.ja), (c.b, &c.jb)] {
                if body != NONE {
                    let f = &mut f[body as usize];
                    for i in 0..6 {
                        f[i] = f[i] + rows[0][i] * l[0] + rows[1][i] * l[1] + rows[2][i] * l[2];
                    }
                }
            }
        }
        for (r, l) in self.rows.iter().zip(&l.rows) {
            if r.a != NONE {
                add_scaled(&mut f[r.a as usize], &r.ja, l * scale);
            }
            if r.b != NONE {
                add_scaled(&mut f[r.b as usize], &r.jb, l * scale);
            }
        }
    }

    /// The largest natural map (m/s) at the impulses `l` and the velocities `v` that follow from
    /// them, and its contact.
    pub(crate) fn residual(&self, l: &Dual, v: &[Six]) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for (i, (c, l)) in self.contacts.iter().zip(&l.contacts).enumerate() {
            worst = larger(worst, i, natural_map(*l, c.velocity(v), c.mu, c.trace));
        }
        self.rows_residual(l, v, worst)
    }

    /// The same where it is less than `bound`; looks no further than the first that is not.
    pub(crate) fn residual_below(
        &self,
        l: &Dual,
        v: &[Six],
        bound: f64,
    ) -> Option<(f64, Option<usize>)> {
        let mut worst = (0.0, None);
        for (i, (c, l)) in self.contacts.iter().zip(&l.contacts).enumerate() {
            worst = larger(worst, i, natural_map(*l, c.velocity(v), c.mu, c.trace));
            if !(worst.0 < bound) {
                return None;
            }
        }
        Some(self.rows_residual(l, v, worst)).filter(|worst| worst.0 < bound)
    }

    /// The root mean square of the natural maps of the contacts, m/s.
    pub(crate) fn mean_residual(&self, l: &Dual, v: &[Six]) -> f64 {
        let mut sum = 0.0;
        for (c, l) in self.contacts.iter().zip(&l.contacts) {
            let map = natural_map(*l, c.velocity(v), c.mu, c.trace);
            sum += map * map;
        }
        (sum / self.contacts.len().max(1) as f64).sqrt()
    }

    /// The larger of `worst` and the natural maps of the rows.
    pub(crate) fn rows_residual(
        &self,
        l: &Dual,
        v: &[Six],
        mut worst: (f64, Option<usize>),
    ) -> (f64, Option<usize>) {
        for (r, l) in self.rows.iter().zip(&l.rows) {
            let w = r.velocity(v) + r.bias + r.regularization * l;
            let map = r.natural_map(*l, w);
            if map > worst.0 || map.is_nan() {
                worst = (map, None);
            }
        }
        worst
    }

    /// Puts every impulse into its cone or bounds.
    pub(crate) fn project(&self, l: &mut Dual) {
        for (c, l) in self.contacts.iter().zip(&mut l.contacts) {
            *l = project_cone(*l, c.mu);
        }
        for (r, l) in self.rows.iter().zip(&mut l.rows) {
            *l = l.clamp(r.lower, r.upper);
        }
    }

    /// Copies v to the velocities of all bodies of `problem`.
    pub(crate) fn export(&self, problem: &ContactProblem, v: &[Six], out: &mut Vec<Velocity>) {
        out.clear();
        for (body, index) in problem.bodies().iter().zip(&self.index) {
            out.push(if *index == NONE {
                body.velocity
            } else {
                let (linear, angular) = parts(&v[*index as usize]);
                Velocity::new(linear, angular)
            });
        }
    }
}

impl Contact {
    /// J v + b.
    pub(crate) fn velocity(&self, v: &[Six]) -> Vec3 {
        let mut u = self.bias;
        if self.a != NONE {
            let v = &v[self.a as usize];
            u += vec3(
                dot(&self.ja[0], v),
                dot(&self.ja[1], v),
                dot(&self.ja[2], v),
            );
        }
        if self.b != NONE {
            let v = &v[self.b as usize];
            u += vec3(
                dot(&self.jb[0], v),
                dot(&self.jb[1], v),
                dot(&self.jb[2], v),
            );
        }
        u
    }

    /// v += M^-1 J' l.
    pub(crate) fn apply(&self, v: &mut [Six], l: Vec3) {
        let l = [l.x, l.y, l.z];
        for (body, rows) in [(self.a, &self.mja), (self.b, &self.mjb)] {
            if body != NONE {
                let v = &mut v[body as usize];
                for i in 0..6 {
                    v[i] += rows[0][i] * l[0] + rows[1][i] * l[1] + rows[2][i] * l[2];
                }
            }
        }
    }
}

impl Row {
    /// J v, without bias.
    pub(crate) fn velocity(&self, v: &[Six]) -> f64 {
        let mut w = 0.0;
        if self.a != NONE {
            w += dot(&self.ja, &v[self.a as usize]);
        }
        if self.b != NONE {
            w += dot(&self.jb, &v[self.b as usize]);
        }
        w
    }

    /// v += M^-1 J' l.
    pub(crate) fn apply(&self, v: &mut [Six], l: f64) {
        if self.a != NONE {
            add_scaled(&mut v[self.a as usize], &self.mja, l);
        }
        if self.b != NONE {
            add_scaled(&mut v[self.b as usize], &self.mjb, l);
        }
    }

    fn natural_map(&self, l: f64, w: f64) -> f64 {
        (l - (l - w / self.diagonal).clamp(self.lower, self.upper)).abs() * self.diagonal
    }
}

impl Clone for Dual {
    fn clone(&self) -> Self {
        Self {
            contacts: self.contacts.clone(),
            rows: self.rows.clone(),
        }
    }

    /// Memory is reused.
    fn clone_from(&mut self, other: &Self) {
        self.contacts.clone_from(&other.contacts);
        self.rows.clone_from(&other.rows);
    }
}

impl Dual {
    pub(crate) fn from_impulses(l: &Impulses) -> Self {
        Self {
            contacts: l.contacts.clone(),
            rows: l.rows.clone(),
        }
    }

    /// self + t d, into `out`.
    pub(crate) fn step(&self, t: f64, d: &Self, out: &mut Self) {
        out.contacts.clear();
        out.contacts.extend(
            self.contacts
                .iter()
                .zip(&d.contacts)
                .map(|(l, d)| *l + *d * t),
        );
        out.rows.clear();
        out.rows
            .extend(self.rows.iter().zip(&d.rows).map(|(l, d)| l + d * t));
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.contacts.iter().all(|l| l.is_finite()) && self.rows.iter().all(|l| l.is_finite())
    }
}

/// The larger of the worst natural map so far and that of contact `i`; what is not a number is the worst.
fn larger(worst: (f64, Option<usize>), i: usize, map: f64) -> (f64, Option<usize>) {
    if map > worst.0 || map.is_nan() || worst.1.is_none() {
        (map, Some(i))
    } else {
        worst
    }
}

/// A non-singular inertia and its inverse, where the inverse is singular in directions that nothing
/// turns: the inertia is 1 there.
fn inertia_pair(inverse: &SymMat3) -> (SymMat3, SymMat3) {
    if let Some(inertia) = inverse.inverse() {
        return (inertia, *inverse);
    }
    let (values, axes) = inverse.principal_axes();
    let invert = |x: f64| if x > 0.0 { 1.0 / x } else { 1.0 };
    let diagonal = vec3(invert(values.x), invert(values.y), invert(values.z));
    (SymMat3::from_diagonal(diagonal).rotated(axes), *inverse)
}

/// The part of `x` in the range of a singular tensor.
fn range_projection(tensor: &SymMat3, x: Vec3) -> Vec3 {
    let (values, axes) = tensor.principal_axes();
    let largest = values.max_element();
    let local = axes.conjugate() * x;
    let keep = |value: f64, x: f64| if value > 1e-14 * largest { x } else { 0.0 };
    let kept = vec3(
        keep(values.x, local.x),
        keep(values.y, local.y),
        keep(values.z, local.z),
    );
    axes * kept
}
