//! One visit of the contacts of eight pairs of bodies.
//!
//! For each contact, with s = u + b in its frame (n, t1, t2):
//!
//! ```text
//! l_n' = max(0, l_n - s_n/W_nn)                       normal row
//! s_t' = s_t + W_tn (l_n' - l_n)
//! l_t' = disc(l_t - s_t'/w, mu l_n')                w: largest eigenvalue of W_tt
//! ```
//!
//! Where this changes nothing the contact obeys the exact law: the step 1/w is the same in all
//! directions, so that the fixed point of the projection slides along -s_t. The world impulse of
//! the three changes is applied to both bodies at once. Problems without friction take the normal row
//! alone.

use crate::lanes::{Lanes, Oct, WIDTH, each};
use crate::packed::{BodyIndex, BodyRecord, Pack, Point};
use moreau_solver::NORMAL_SHARE;

pub(crate) type V3<L> = [L; 3];

#[inline(always)]
pub(crate) fn load3<L: Lanes>(from: &[Oct; 3]) -> V3<L> {
    [L::load(&from[0]), L::load(&from[1]), L::load(&from[2])]
}

#[inline(always)]
pub(crate) fn store3<L: Lanes>(v: V3<L>, to: &mut [Oct; 3]) {
    v[0].store(&mut to[0]);
    v[1].store(&mut to[1]);
    v[2].store(&mut to[2]);
}

#[inline(always)]
pub(crate) fn add<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<L: Lanes>(a: V3<L>, s: L) -> V3<L> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn dot<L: Lanes>(a: V3<L>, b: V3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The greatest of all lanes, or 0.
#[inline(always)]
pub(crate) fn greatest<L: Lanes>(values: L) -> f64 {
    let mut lanes = Oct::default();
    values.store(&mut lanes);
    lanes.0.into_iter().fold(0.0, f64::max)
}

#[inline(always)]
pub(crate) fn cross<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Some bodies side by side.
#[derive(Clone, Copy)]
pub(crate) struct Body<L> {
    pub(crate) linear: V3<L>,
    pub(crate) angular: V3<L>,
}

/// The columns of eight records of bodies.
pub(crate) type Columns<L> = [L; WIDTH];

/// Inverse masses and world inertias. `ROUND`: turning is as heavy about all axes, as for balls, cubes, and
/// bodies that do not move.
#[derive(Clone, Copy)]
pub(crate) struct Mass<L, const ROUND: bool> {
    pub(crate) inverse: L,
    pub(crate) xx_yy_zz: V3<L>,
    xy_xz_yz: V3<L>,
}

impl<L: Lanes> Body<L> {
    #[inline(always)]
    pub(crate) fn of([x, y, z, wx, wy, wz, _, _]: Columns<L>) -> Self {
        Self {
            linear: [x, y, z],
            angular: [wx, wy, wz],
        }
    }

    /// With what the records have of masses.
    #[inline(always)]
    pub(crate) fn columns(self, inverse_mass: L, inverse_inertia: L) -> Columns<L> {
        let ([x, y, z], [wx, wy, wz]) = (self.linear, self.angular);
        [x, y, z, wx, wy, wz, inverse_mass, inverse_inertia]
    }

    /// Velocity of the point at `lever`.
    #[inline(always)]
    fn at(&self, lever: V3<L>) -> V3<L> {
        add(self.linear, cross(self.angular, lever))
    }

    #[inline(always)]
    fn push<const ROUND: bool>(&mut self, mass: &Mass<L, ROUND>, lever: V3<L>, impulse: V3<L>) {
        self.linear = add(self.linear, scale(impulse, mass.inverse));
        self.angular = add(self.angular, mass.turn(cross(lever, impulse)));
    }

    #[inline(always)]
    fn pull<const ROUND: bool>(&mut self, mass: &Mass<L, ROUND>, lever: V3<L>, impulse: V3<L>) {
        self.linear = sub(self.linear, scale(impulse, mass.inverse));
        self.angular = sub(self.angular, mass.turn(cross(lever, impulse)));
    }
}

impl<L: Lanes, const ROUND: bool> Mass<L, ROUND> {
    /// `body`: the body's own columns; `records`: of its mass properties.
    #[inline(always)]
    fn of(body: &Columns<L>, records: [&Oct; WIDTH]) -> Self {
        if ROUND {
            return Self {
                inverse: body[6],
                xx_yy_zz: [body[7]; 3],
                xy_xz_yz: [L::splat(0.0); 3],
            };
        }
        Self::load(records)
    }

    #[inline(always)]
    pub(crate) fn load(records: [&Oct; WIDTH]) -> Self {
        let [inverse, xx, yy, zz, xy, xz, yz, _] = turned(records);
        Self {
            inverse,
            xx_yy_zz: [xx, yy, zz],
            xy_xz_yz: [xy, xz, yz],
        }
    }

    #[inline(always)]
    fn turn(&self, t: V3<L>) -> V3<L> {
        if ROUND {
            return scale(t, self.xx_yy_zz[0]);
        }
        let ([xx, yy, zz], [xy, xz, yz]) = (self.xx_yy_zz, self.xy_xz_yz);
        [
            xx * t[0] + xy * t[1] + xz * t[2],
            xy * t[0] + yy * t[1] + yz * t[2],
            xz * t[0] + yz * t[1] + zz * t[2],
        ]
    }
}

#[inline(always)]
pub(crate) fn turned<L: Lanes>(records: [&Oct; WIDTH]) -> Columns<L> {
    L::transpose(each!(|i| L::load(records[i])))
}

/// The axes of a pack.
#[inline(always)]
fn axes<L: Lanes>(pack: &Pack) -> [V3<L>; 3] {
    [
        load3(&pack.normal),
        load3(&pack.tangent1),
        load3(&pack.tangent2),
    ]
}

/// Coefficients of a contact, as of [`Point`].
pub(crate) struct Law<'a> {
    pub(crate) inverse_normal: &'a Oct,
    pub(crate) step: &'a Oct,
    pub(crate) scale: &'a Oct,
}

/// Eight pairs of bodies in registers.
pub(crate) trait Visited<L: Lanes>: Sized {
    /// What a block holds of the pairs.
    type Record;
    /// And of one contact of each.
    type Point;

    fn indices(record: &Self::Record) -> [&[BodyIndex; WIDTH]; 2];

    /// `masses`: records of mass properties.
    fn new(record: &Self::Record, bodies: [Columns<L>; 2], masses: &[BodyRecord]) -> Self;

    /// Of the bodies as they are now.
    fn columns(&self) -> [Columns<L>; 2];

    fn friction(&self) -> L;

    /// s = u + b.
    fn shifted_velocity(&self, point: &Self::Point) -> V3<L>;

    fn shifted_normal_velocity(&self, point: &Self::Point) -> L;

    /// Adds what a change of impulses does.
    fn apply<const FRICTION: bool>(&mut self, point: &Self::Point, change: V3<L>);

    fn law(point: &Self::Point) -> Law<'_>;

    /// s_t once l_n has changed.
    fn coupled(point: &Self::Point, s: V3<L>, change: L) -> [L; 2];

    /// The impulse that the contact's law asks for where it has `l`.
    #[inline(always)]
    fn answer<const FRICTION: bool>(&self, point: &Self::Point, l: V3<L>) -> V3<L> {
        let law = Self::law(point);
        let zero = L::splat(0.0);
        if !FRICTION {
            let s = self.shifted_normal_velocity(point);
            let normal = (l[0] - s * L::load(law.inverse_normal)).max(zero);
            return [normal, zero, zero];
        }
        let s = self.shifted_velocity(point);
        let normal = (l[0] - s[0] * L::load(law.inverse_normal)).max(zero);
        let change = normal - l[0];
        let [s1, s2] = Self::coupled(point, s, change);
        let limit = self.friction() * normal;
        let limit_squared = limit * limit;
        let step = L::load(law.step);
        let t1 = l[1] - step * s1;
        let t2 = l[2] - step * s2;
        let squared = t1 * t1 + t2 * t2;
        // Without an impulse that is cut off at its disc there is no need of a root; at none it is cut off to zero.
        let shrink = if L::exceeds(squared, limit_squared, limit) {
            limit / squared.max(L::splat(f64::MIN_POSITIVE)).sqrt()
        } else {
            zero
        };
        [
            normal,
            L::pick(squared, limit_squared, t1, t1 * shrink),
            L::pick(squared, limit_squared, t2, t2 * shrink),
        ]
    }

    /// The natural map (m/s) of a contact: |l - P_K(l - rho (s + g))|/rho with rho = 1/scale,
    /// g = (mu |s_t|, 0, 0), K the friction cone; no less than a part of |min(l_n/rho, s_n)|.
    #[inline(always)]
    fn natural_map<const FRICTION: bool>(&self, point: &Self::Point, l: V3<L>) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let size = L::load(Self::law(point).scale);
        // In speeds: l/rho.
        let l = scale(l, size);
        if !FRICTION {
            let z = l[0] - self.shifted_normal_velocity(point);
            let d = [l[0] - z.max(zero), l[1], l[2]];
            return dot(d, d).sqrt();
        }
        let s = self.shifted_velocity(point);
        let mu = self.friction();
        let tiny = L::splat(f64::MIN_POSITIVE);
        let slip = (s[1] * s[1] + s[2] * s[2]).sqrt();
        let z = [l[0] - (s[0] + mu * slip), l[1] - s[1], l[2] - s[2]];
        let radial = (z[1] * z[1] + z[2] * z[2]).sqrt();
        // Outside the cone: on its surface, or its tip.
        let along = ((z[0] + mu * radial) / (one + mu * mu)).max(zero);
        let shrink = mu * along / radial.max(tiny);
        // The tip also for mu = 0 on the axis.
        let normal = L::pick(radial, mu * z[0], z[0], along).max(zero);
        let t1 = L::pick(radial, mu * z[0], z[1], z[1] * shrink);
        let t2 = L::pick(radial, mu * z[0], z[2], z[2] * shrink);
        let d = [l[0] - normal, l[1] - t1, l[2] - t2];
        // Of the normal direction alone: see `moreau_solver::natural_map`. What is no number stays.
        let open = (zero - l[0]).max(zero - s[0]);
        let normal = open.max(zero - open) * L::splat(NORMAL_SHARE);
        normal.max(dot(d, d).sqrt())
    }
}

/// The pairs of a pack: their two bodies, and their axes.
pub(crate) struct Pairs<L, const ROUND: bool> {
    a: Body<L>,
    b: Body<L>,
    mass_a: Mass<L, ROUND>,
    mass_b: Mass<L, ROUND>,
    axes: [V3<L>; 3],
    friction: L,
}

impl<L: Lanes, const ROUND: bool> Pairs<L, ROUND> {
    #[inline(always)]
    fn relative_velocity(&self, point: &Point) -> V3<L> {
        sub(
            self.b.at(load3(&point.lever_b)),
            self.a.at(load3(&point.lever_a)),
        )
    }
}

impl<L: Lanes, const ROUND: bool> Visited<L> for Pairs<L, ROUND> {
    type Record = Pack;
    type Point = Point;

    #[inline(always)]
    fn indices(pack: &Pack) -> [&[BodyIndex; WIDTH]; 2] {
        [&pack.a, &pack.b]
    }

    #[inline(always)]
    fn new(pack: &Pack, [a, b]: [Columns<L>; 2], masses: &[BodyRecord]) -> Self {
        Self {
            mass_a: Mass::of(&a, each!(|i| &masses[pack.a[i].get()])),
            mass_b: Mass::of(&b, each!(|i| &masses[pack.b[i].get()])),
            a: Body::of(a),
            b: Body::of(b),
            axes: axes(pack),
            friction: L::load(&pack.friction),
        }
    }

    #[inline(always)]
    fn columns(&self) -> [Columns<L>; 2] {
        let (a, b) = (&self.mass_a, &self.mass_b);
        [
            self.a.columns(a.inverse, a.xx_yy_zz[0]),
            self.b.columns(b.inverse, b.xx_yy_zz[0]),
        ]
    }

    #[inline(always)]
    fn friction(&self) -> L {
        self.friction
    }

    #[inline(always)]
    fn shifted_velocity(&self, point: &Point) -> V3<L> {
        let u = self.relative_velocity(point);
        let bias = load3(&point.bias);
        [
            dot(self.axes[0], u) + bias[0],
            dot(self.axes[1], u) + bias[1],
            dot(self.axes[2], u) + bias[2],
        ]
    }

    #[inline(always)]
    fn shifted_normal_velocity(&self, point: &Point) -> L {
        dot(self.axes[0], self.relative_velocity(point)) + L::load(&point.bias[0])
    }

    #[inline(always)]
    fn apply<const FRICTION: bool>(&mut self, point: &Point, change: V3<L>) {
        let [n, t1, t2] = self.axes;
        let mut impulse = scale(n, change[0]);
        if FRICTION {
            impulse = add(impulse, add(scale(t1, change[1]), scale(t2, change[2])));
        }
        self.a.pull(&self.mass_a, load3(&point.lever_a), impulse);
        self.b.push(&self.mass_b, load3(&point.lever_b), impulse);
    }

    #[inline(always)]
    fn law(point: &Point) -> Law<'_> {
        Law {
            inverse_normal: &point.inverse_normal,
            step: &point.step,
            scale: &point.scale,
        }
    }

    #[inline(always)]
    fn coupled(point: &Point, s: V3<L>, change: L) -> [L; 2] {
        [
            s[1] + L::load(&point.coupling[0]) * change,
            s[2] + L::load(&point.coupling[1]) * change,
        ]
    }
}

/// 1/x, or 0 where that is no positive number: nothing moves there.
#[inline(always)]
pub(crate) fn inverse<L: Lanes>(x: L) -> L {
    let zero = L::splat(0.0);
    let inverse = L::splat(1.0) / x;
    L::pick(inverse, L::splat(f64::MAX), inverse, zero).max(zero)
}

/// Writes the coefficients of a contact that follow from W, its Delassus block.
#[inline(always)]
pub(crate) fn prepare<L: Lanes>(
    pack: &Pack,
    point: &mut Point,
    [mass_a, mass_b]: [&Mass<L, false>; 2],
) {
    let axes = axes::<L>(pack);
    let (lever_a, lever_b) = (load3(&point.lever_a), load3(&point.lever_b));
    // No closures: they would not be compiled for the instructions of the function around them.
    let [n, t1, t2] = axes;
    let ra = [cross(lever_a, n), cross(lever_a, t1), cross(lever_a, t2)];
    let rb = [cross(lever_b, n), cross(lever_b, t1), cross(lever_b, t2)];
    let ia = [mass_a.turn(ra[0]), mass_a.turn(ra[1]), mass_a.turn(ra[2])];
    let ib = [mass_b.turn(rb[0]), mass_b.turn(rb[1]), mass_b.turn(rb[2])];
    let mass = mass_a.inverse + mass_b.inverse;
    let nn = mass + dot(ra[0], ia[0]) + dot(rb[0], ib[0]);
    let n1 = dot(ra[0], ia[1]) + dot(rb[0], ib[1]);
    let n2 = dot(ra[0], ia[2]) + dot(rb[0], ib[2]);
    let t11 = mass + dot(ra[1], ia[1]) + dot(rb[1], ib[1]);
    let t12 = dot(ra[1], ia[2]) + dot(rb[1], ib[2]);
    let t22 = mass + dot(ra[2], ia[2]) + dot(rb[2], ib[2]);
    let half = L::splat(0.5);
    let (mean, difference) = (half * (t11 + t22), half * (t11 - t22));
    let largest = mean + (difference * difference + t12 * t12).sqrt();
    inverse(nn).store(&mut point.inverse_normal);
    n1.store(&mut point.coupling[0]);
    n2.store(&mut point.coupling[1]);
    inverse(largest).store(&mut point.step);
    ((nn + t11 + t22) * L::splat(1.0 / 3.0)).store(&mut point.scale);
}
