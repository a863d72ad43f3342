use crate::contact::{Approach, rebound};
use crate::frictionless::Frictionless;
use crate::new_bodies::NewBodies;
use crate::new_contacts::{NewContacts, check_bodies, free_velocity};
use crate::reused::Reused;
use crate::{BodyInput, ContactFrame, ContactInput, ContactPoint, Impulses, ProblemError, Row};
use moreau_math::{Mat3, Vec3, Velocity};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::AtomicUsize;

/// Bodies, contact points and scalar rows: find impulses l and velocities v+ with
/// M (v+ - v) = J' l and every contact's and row's law kept (see [`ContactPoint`] and [`Row`]).
///
/// Every number in it is finite and in range: the `add_…` methods and deserialization refuse what is
/// not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ContactProblem {
    dt: f64,
    bounce_threshold: f64,
    bodies: Reused<BodyInput>,
    contacts: Reused<ContactPoint>,
    rows: Vec<Row>,
}

/// A problem from outside, before its parts are looked at.
#[derive(Deserialize)]
struct Unchecked {
    dt: f64,
    bounce_threshold: f64,
    bodies: Vec<BodyInput>,
    contacts: Vec<ContactPoint>,
    rows: Vec<Row>,
}

impl TryFrom<Unchecked> for ContactProblem {
    type Error = ProblemError;

    fn try_from(from: Unchecked) -> Result<Self, ProblemError> {
        let mut problem = Self::new(from.dt)?;
        problem.set_bounce_threshold(from.bounce_threshold);
        for body in from.bodies {
            problem.add_body(body)?;
        }
        for point in from.contacts {
            problem.add_contact_point(point)?;
        }
        for row in from.rows {
            problem.add_row(row)?;
        }
        Ok(problem)
    }
}

impl ContactProblem {
    /// An empty problem of a step of `dt` (s).
    pub fn new(dt: f64) -> Result<Self, ProblemError> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(ProblemError::Step { dt });
        }
        Ok(Self {
            dt,
            bounce_threshold: 0.0,
            bodies: Reused::new(),
            contacts: Reused::new(),
            rows: Vec::new(),
        })
    }

    /// Empties the problem and keeps its memory.
    pub fn clear(&mut self) {
        self.bodies.truncate(0);
        self.contacts.truncate(0);
        self.rows.clear();
    }

    /// Contacts that [`Self::add_contact`] adds from here on bounce only where they approach faster
    /// than this (m/s, default 0). Too small lets rests chatter, too big kills bounces.
    pub fn set_bounce_threshold(&mut self, threshold: f64) {
        self.bounce_threshold = threshold;
    }

    /// Adds a body; returns its index.
    pub fn add_body(&mut self, body: BodyInput) -> Result<usize, ProblemError> {
        let index = self.bodies.len();
        body.validate(index)?;
        self.bodies.push(body);
        Ok(index)
    }

    /// Adds `count` bodies, in parts that may be filled on several threads; returns their indices. See
    /// [`Self::add_contacts_by`].
    ///
    /// # Errors
    /// That of `fill`, or [`ProblemError::Unfilled`] where it left places empty. No body is added then, nor where
    /// `fill` panics.
    pub fn add_bodies_by<E: From<ProblemError>>(
        &mut self,
        count: usize,
        fill: impl FnOnce(NewBodies<'_>) -> Result<(), E>,
    ) -> Result<Range<usize>, E> {
        let mut added = Added::new(&mut self.bodies, count, BodyInput::fixed());
        let filled = AtomicUsize::new(0);
        let before = added.before;
        let result = fill(NewBodies::new(before, added.places(), &filled));
        added.end(result, count - filled.into_inner(), "bodies")
    }

    /// Adds a contact from its geometry and material; returns its index.
    ///
    /// The bias is phi/dt for an open contact, else -e times the approach speed of the free
    /// velocities where that is over the threshold, else 0.
    pub fn add_contact(&mut self, input: ContactInput) -> Result<usize, ProblemError> {
        let index = self.contacts.len();
        if !input.separation.is_finite() {
            let value = input.separation.to_string();
            return Err(ProblemError::NotFinite {
                what: "contact",
                index,
                field: "separation",
                value,
            });
        }
        if !(0.0..=1.0).contains(&input.restitution) {
            return Err(ProblemError::OutOfRange {
                what: "contact",
                index,
                field: "restitution",
                value: input.restitution,
                allowed: "0 to 1",
            });
        }
        let mut point = ContactPoint {
            a: input.a,
            b: input.b,
            frame: ContactFrame::new(input.normal),
            lever_a: input.lever_a,
            lever_b: input.lever_b,
            friction: input.friction,
            bias: Vec3::ZERO,
        };
        check_bodies(&self.bodies, "contact", index, [input.a, input.b])?;
        point.validate(index)?;
        let approach = self.free_velocity(&point).x;
        point.bias.x = if input.separation > 0.0 {
            input.separation / self.dt
        } else {
            let threshold = self.bounce_threshold;
            let approach = Approach {
                separation: 0.0,
                speed: approach,
                acceleration: 0.0,
            };
            rebound(&approach, self.dt, input.restitution, threshold).map_or(0.0, |end| -end.speed)
        };
        self.contacts.push(point);
        Ok(index)
    }

    /// Adds a contact whose bias the caller has worked out; returns its index.
    pub fn add_contact_point(&mut self, point: ContactPoint) -> Result<usize, ProblemError> {
        let index = self.contacts.len();
        check_bodies(&self.bodies, "contact", index, [point.a, point.b])?;
        point.validate(index)?;
        self.contacts.push(point);
        Ok(index)
    }

    /// Adds `count` contacts whose biases the caller has worked out, in parts that may be filled on
    /// several threads; returns their indices.
    ///
    /// ```
    /// # use moreau_constraint::{BodyInput, ContactFrame, ContactPoint, ContactProblem, ProblemError};
    /// # use moreau_math::{SymMat3, Vec3, Velocity, vec3};
    /// # let mut problem = ContactProblem::new(1.0 / 60.0)?;
    /// # let ground = problem.add_body(BodyInput::fixed())?;
    /// # let ball = problem.add_body(BodyInput {
    /// #     inverse_mass: 1.0,
    /// #     inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
    /// #     velocity: Velocity::ZERO,
    /// # })?;
    /// let contact = |x: f64| ContactPoint {
    ///     a: ground, b: ball, frame: ContactFrame::new(Vec3::Y), lever_a: vec3(x, 0.0, 0.0),
    ///     lever_b: vec3(x, -0.5, 0.0), friction: 0.5, bias: Vec3::ZERO,
    /// };
    /// let added = problem.add_contacts_by(100, |places| {
    ///     let (left, right) = places.split_at(50);
    ///     std::thread::scope(|scope| {
    ///         let left = scope.spawn(|| left.fill(|i| contact(i as f64)));
    ///         let right = right.fill(|i| contact(50.0 + i as f64));
    ///         left.join().expect("does not panic").and(right)
    ///     })
    /// })?;
    /// assert_eq!((added, problem.contacts()[70].lever_a.x), (0..100, 70.0));
    /// # Ok::<(), ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// That of `fill`, or [`ProblemError::Unfilled`] where it left places empty. No contact is added
    /// then, nor where `fill` panics.
    pub fn add_contacts_by<E: From<ProblemError>>(
        &mut self,
        count: usize,
        fill: impl FnOnce(NewContacts<'_>) -> Result<(), E>,
    ) -> Result<Range<usize>, E> {
        let empty = ContactPoint {
            a: 0,
            b: 0,
            frame: ContactFrame {
                normal: Vec3::X,
                tangent1: Vec3::Y,
                tangent2: Vec3::Z,
            },
            lever_a: Vec3::ZERO,
            lever_b: Vec3::ZERO,
            friction: 0.0,
            bias: Vec3::ZERO,
        };
        let mut added = Added::new(&mut self.contacts, count, empty);
        let filled = AtomicUsize::new(0);
        let before = added.before;
        let places = NewContacts::new(&self.bodies, before, added.places(), &filled);
        let result = fill(places);
        added.end(result, count - filled.into_inner(), "contacts")
    }

    /// Adds a scalar row; returns its index.
    pub fn add_row(&mut self, row: Row) -> Result<usize, ProblemError> {
        let index = self.rows.len();
        check_bodies(&self.bodies, "row", index, [row.a, row.b])?;
        row.validate(index)?;
        self.rows.push(row);
        Ok(index)
    }

    /// Bytes of its lists, with what they keep free.
    pub fn bytes(&self) -> usize {
        self.bodies.bytes() + self.contacts.bytes() + self.rows.capacity() * size_of::<Row>()
    }

    /// Step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Bodies with their free velocities.
    pub fn bodies(&self) -> &[BodyInput] {
        &self.bodies
    }

    /// Contact points.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// Scalar rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Replaces the bias (m/s, contact frame) of contact `index`.
    ///
    /// # Errors
    /// Where there is no such contact or the bias is not finite; then nothing changes.
    pub fn set_bias(&mut self, index: usize, bias: Vec3) -> Result<(), ProblemError> {
        let contacts = self.contacts.len();
        let Some(contact) = self.contacts.get_mut(index) else {
            return Err(ProblemError::NoSuchContact { index, contacts });
        };
        if !bias.is_finite() {
            return Err(ProblemError::NotFinite {
                what: "contact",
                index,
                field: "bias",
                value: bias.to_string(),
            });
        }
        contact.bias = bias;
        Ok(())
    }

    /// Takes friction and restitution from contact `index`: its normal bias is `bias` (m/s), the other
    /// ones are zero.
    ///
    /// # Errors
    /// Where there is no such contact or the bias is not finite; then nothing changes.
    pub fn make_frictionless(&mut self, index: usize, bias: f64) -> Result<(), ProblemError> {
        self.set_bias(index, Vec3::new(bias, 0.0, 0.0))?;
        self.contacts[index].friction = 0.0;
        Ok(())
    }

    /// As [`Self::make_frictionless`] for all contacts, in parts that may be dealt with on several threads; returns
    /// what `set` says.
    ///
    /// ```
    /// # use moreau_constraint::{BodyInput, ContactInput, ContactProblem, ProblemError};
    /// # use moreau_math::{SymMat3, Vec3, Velocity, vec3};
    /// # let mut problem = ContactProblem::new(1.0 / 60.0)?;
    /// # let ground = problem.add_body(BodyInput::fixed())?;
    /// # let ball = problem.add_body(BodyInput {
    /// #     inverse_mass: 1.0,
    /// #     inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
    /// #     velocity: Velocity::ZERO,
    /// # })?;
    /// # problem.add_contact(ContactInput {
    /// #     a: ground, b: ball, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b: vec3(0.0, -0.5, 0.0),
    /// #     separation: 0.0, friction: 0.5, restitution: 0.5,
    /// # })?;
    /// let overlaps = [0.01];
    /// let set = problem.make_frictionless_by(|contacts| contacts.set_biases(|i, _| -overlaps[i]));
    /// let contact = &problem.contacts()[0];
    /// assert_eq!((set, contact.bias.x, contact.friction), (true, -0.01, 0.0));
    /// # Ok::<(), ProblemError>(())
    /// ```
    pub fn make_frictionless_by<T>(&mut self, set: impl FnOnce(Frictionless<'_>) -> T) -> T {
        set(Frictionless::new(&mut self.contacts))
    }

    /// Makes all free velocities zero.
    pub fn stop_bodies(&mut self) {
        for body in self.bodies.iter_mut() {
            body.velocity = Velocity::ZERO;
        }
    }

    /// Removes all scalar rows.
    pub fn clear_rows(&mut self) {
        self.rows.clear();
    }

    /// Zero impulses of the right lengths.
    pub fn cold_start(&self) -> Impulses {
        Impulses::zero(self.contacts.len(), self.rows.len())
    }

    /// u of contact `c` (contact frame, m/s) at the velocities `v` of all bodies.
    pub fn contact_velocity(&self, c: &ContactPoint, v: &[Velocity]) -> Vec3 {
        c.frame
            .to_local(v[c.b].at(c.lever_b) - v[c.a].at(c.lever_a))
    }

    /// u of contact `c` (contact frame, m/s) at the free velocities.
    pub fn free_velocity(&self, c: &ContactPoint) -> Vec3 {
        free_velocity(&self.bodies, c)
    }

    /// Adds M^-1 J_c' l to `v`: the impulse `l` (contact frame, N s) on B and its opposite on A.
    pub fn apply_contact(&self, c: &ContactPoint, l: Vec3, v: &mut [Velocity]) {
        self.push_a(c, l, &mut v[c.a]);
        self.push_b(c, l, &mut v[c.b]);
    }

    /// What [`apply_contact`](Self::apply_contact) does to the velocity of the contact's body A.
    #[inline]
    pub fn push_a(&self, c: &ContactPoint, l: Vec3, v: &mut Velocity) {
        let (p, a) = (c.frame.to_world(l), &self.bodies[c.a]);
        v.linear -= p * a.inverse_mass;
        v.angular -= a.inverse_inertia.mul_vec(c.lever_a.cross(p));
    }

    /// What [`apply_contact`](Self::apply_contact) does to the velocity of the contact's body B.
    #[inline]
    pub fn push_b(&self, c: &ContactPoint, l: Vec3, v: &mut Velocity) {
        let (p, b) = (c.frame.to_world(l), &self.bodies[c.b]);
        v.linear += p * b.inverse_mass;
        v.angular += b.inverse_inertia.mul_vec(c.lever_b.cross(p));
    }

    /// Adds M^-1 J_r' l to `v`.
    pub fn apply_row(&self, r: &Row, l: f64, v: &mut [Velocity]) {
        let (a, b) = (&self.bodies[r.a], &self.bodies[r.b]);
        v[r.a].linear += r.linear_a * (a.inverse_mass * l);
        v[r.a].angular += a.inverse_inertia.mul_vec(r.angular_a * l);
        v[r.b].linear += r.linear_b * (b.inverse_mass * l);
        v[r.b].angular += b.inverse_inertia.mul_vec(r.angular_b * l);
    }

    /// v+ = v + M^-1 J' l.
    pub fn velocities(&self, impulses: &Impulses) -> Vec<Velocity> {
        let mut v = Vec::new();
        self.velocities_into(impulses, &mut v);
        v
    }

    /// [`Self::velocities`] into a buffer. Contacts first, then rows, in index order.
    pub fn velocities_into(&self, impulses: &Impulses, v: &mut Vec<Velocity>) {
        v.clear();
        v.extend(self.bodies.iter().map(|b| b.velocity));
        for (c, l) in self.contacts.iter().zip(&impulses.contacts) {
            // In piles half of the contacts push nothing, and need not be fetched.
            if *l != Vec3::ZERO {
                self.apply_contact(c, *l, v);
            }
        }
        for (r, l) in self.rows.iter().zip(&impulses.rows) {
            self.apply_row(r, *l, v);
        }
    }

    /// W_cc = J_c M^-1 J_c', the 3x3 Delassus block (contact frame, 1/kg); symmetric.
    ///
    /// Document 000 section 4.4 and document 004 section 3: k_d = d' W d is the inverse of the
    /// effective mass along d.
    pub fn delassus_block(&self, c: &ContactPoint) -> Mat3 {
        let (a, b) = (&self.bodies[c.a], &self.bodies[c.b]);
        let axes = [c.frame.normal, c.frame.tangent1, c.frame.tangent2];
        let ra = axes.map(|d| c.lever_a.cross(d));
        let rb = axes.map(|d| c.lever_b.cross(d));
        let ia = ra.map(|r| a.inverse_inertia.mul_vec(r));
        let ib = rb.map(|r| b.inverse_inertia.mul_vec(r));
        let mass = a.inverse_mass + b.inverse_mass;
        let entry = |i: usize, j: usize| {
            let linear = if i == j { mass } else { 0.0 };
            linear + ra[i].dot(ia[j]) + rb[i].dot(ib[j])
        };
        let (nn, n1, n2) = (entry(0, 0), entry(0, 1), entry(0, 2));
        let (t11, t12, t22) = (entry(1, 1), entry(1, 2), entry(2, 2));
        Mat3::from_cols_array(&[nn, n1, n2, n1, t11, t12, n2, t12, t22])
    }

    /// J_r M^-1 J_r' + regularization, the diagonal of a row.
    pub fn row_diagonal(&self, r: &Row) -> f64 {
        let (a, b) = (&self.bodies[r.a], &self.bodies[r.b]);
        r.linear_a.length_squared() * a.inverse_mass
            + r.linear_b.length_squared() * b.inverse_mass
            + a.inverse_inertia.quadratic(r.angular_a)
            + b.inverse_inertia.quadratic(r.angular_b)
            + r.regularization
    }

    /// Kinetic energy (J) at the velocities `v`, of the motions that impulses can change (see
    /// [`BodyInput::kinetic_energy`]).
    pub fn kinetic_energy(&self, v: &[Velocity]) -> f64 {
        let pairs = self.bodies.iter().zip(v);
        pairs.fold(0.0, |energy, (body, v)| energy + body.kinetic_energy(v))
    }
}

/// What a list has from `before` on, which goes again unless it is complete.
struct Added<'a, T> {
    list: &'a mut Reused<T>,
    before: usize,
    complete: bool,
}

impl<'a, T: Copy> Added<'a, T> {
    fn new(list: &'a mut Reused<T>, count: usize, empty: T) -> Self {
        let before = list.len();
        list.extend(count, empty);
        Self {
            list,
            before,
            complete: false,
        }
    }

    fn places(&mut self) -> &mut [T] {
        &mut self.list[self.before..]
    }

    /// The indices of what was added, where nothing went wrong and no places are `missing`.
    fn end<E: From<ProblemError>>(
        mut self,
        result: Result<(), E>,
        missing: usize,
        what: &'static str,
    ) -> Result<Range<usize>, E> {
        result?;
        if missing > 0 {
            return Err(ProblemError::Unfilled { what, missing }.into());
        }
        self.complete = true;
        Ok(self.before..self.list.len())
    }
}

impl<T> Drop for Added<'_, T> {
    fn drop(&mut self) {
        if !self.complete {
            self.list.truncate(self.before);
        }
    }
}
