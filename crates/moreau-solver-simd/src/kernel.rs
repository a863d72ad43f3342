//! One visit of all contacts.
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
//! the three changes is applied to both bodies at once.

use crate::lanes::{Lanes, Plain, Quad};
use crate::packed::{BodyRecord, Pack, Packed, Point, Run};

type V3<L> = [L; 3];

#[inline(always)]
fn load3<L: Lanes>(from: &[Quad; 3]) -> V3<L> {
    [L::load(&from[0]), L::load(&from[1]), L::load(&from[2])]
}

#[inline(always)]
fn store3<L: Lanes>(v: V3<L>, to: &mut [Quad; 3]) {
    v[0].store(&mut to[0]);
    v[1].store(&mut to[1]);
    v[2].store(&mut to[2]);
}

#[inline(always)]
fn add<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn sub<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn scale<L: Lanes>(a: V3<L>, s: L) -> V3<L> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
fn dot<L: Lanes>(a: V3<L>, b: V3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<L: Lanes>(a: V3<L>, b: V3<L>) -> V3<L> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Four bodies.
#[derive(Clone, Copy)]
struct Body<L> {
    linear: V3<L>,
    angular: V3<L>,
    /// The two spare lanes of the record.
    spare: [L; 2],
}

#[derive(Clone, Copy)]
struct Mass<L> {
    inverse: L,
    xx_yy_zz: V3<L>,
    xy_xz_yz: V3<L>,
}

#[inline(always)]
fn rows<L: Lanes>(records: &[BodyRecord], indices: &[u32; 4]) -> [[L; 4]; 2] {
    let a = &records[indices[0] as usize];
    let b = &records[indices[1] as usize];
    let c = &records[indices[2] as usize];
    let d = &records[indices[3] as usize];
    [
        L::transpose([
            L::load(&a[0]),
            L::load(&b[0]),
            L::load(&c[0]),
            L::load(&d[0]),
        ]),
        L::transpose([
            L::load(&a[1]),
            L::load(&b[1]),
            L::load(&c[1]),
            L::load(&d[1]),
        ]),
    ]
}

impl<L: Lanes> Body<L> {
    #[inline(always)]
    fn load(records: &[BodyRecord], indices: &[u32; 4]) -> Self {
        let [[x, y, z, wx], [wy, wz, s0, s1]] = rows(records, indices);
        Self {
            linear: [x, y, z],
            angular: [wx, wy, wz],
            spare: [s0, s1],
        }
    }

    #[inline(always)]
    fn store(self, records: &mut [BodyRecord], indices: &[u32; 4]) {
        let [x, y, z] = self.linear;
        let [wx, wy, wz] = self.angular;
        let first = L::transpose([x, y, z, wx]);
        let second = L::transpose([wy, wz, self.spare[0], self.spare[1]]);
        for lane in 0..4 {
            let record = &mut records[indices[lane] as usize];
            first[lane].store(&mut record[0]);
            second[lane].store(&mut record[1]);
        }
    }

    /// Velocity of the point at `lever`.
    #[inline(always)]
    fn at(&self, lever: V3<L>) -> V3<L> {
        add(self.linear, cross(self.angular, lever))
    }

    #[inline(always)]
    fn push(&mut self, mass: &Mass<L>, lever: V3<L>, impulse: V3<L>) {
        self.linear = add(self.linear, scale(impulse, mass.inverse));
        self.angular = add(self.angular, mass.turn(cross(lever, impulse)));
    }

    #[inline(always)]
    fn pull(&mut self, mass: &Mass<L>, lever: V3<L>, impulse: V3<L>) {
        self.linear = sub(self.linear, scale(impulse, mass.inverse));
        self.angular = sub(self.angular, mass.turn(cross(lever, impulse)));
    }
}

impl<L: Lanes> Mass<L> {
    #[inline(always)]
    fn load(records: &[BodyRecord], indices: &[u32; 4]) -> Self {
        let [[inverse, xx, yy, zz], [xy, xz, yz, _]] = rows(records, indices);
        Self {
            inverse,
            xx_yy_zz: [xx, yy, zz],
            xy_xz_yz: [xy, xz, yz],
        }
    }

    #[inline(always)]
    fn turn(&self, t: V3<L>) -> V3<L> {
        let ([xx, yy, zz], [xy, xz, yz]) = (self.xx_yy_zz, self.xy_xz_yz);
        [
            xx * t[0] + xy * t[1] + xz * t[2],
            xy * t[0] + yy * t[1] + yz * t[2],
            xz * t[0] + yz * t[1] + zz * t[2],
        ]
    }
}

/// The two bodies of four pairs, and their axes.
struct Pairs<L> {
    a: Body<L>,
    b: Body<L>,
    mass_a: Mass<L>,
    mass_b: Mass<L>,
    axes: [V3<L>; 3],
    friction: L,
}

impl<L: Lanes> Pairs<L> {
    #[inline(always)]
    fn load(pack: &Pack, masses: &[BodyRecord], velocities: &[BodyRecord]) -> Self {
        Self {
            a: Body::load(velocities, &pack.a),
            b: Body::load(velocities, &pack.b),
            mass_a: Mass::load(masses, &pack.a),
            mass_b: Mass::load(masses, &pack.b),
            axes: [
                load3(&pack.normal),
                load3(&pack.tangent1),
                load3(&pack.tangent2),
            ],
            friction: L::load(&pack.friction),
        }
    }

    /// s = u + b.
    #[inline(always)]
    fn shifted_velocity(&self, point: &Point) -> V3<L> {
        let u = sub(
            self.b.at(load3(&point.lever_b)),
            self.a.at(load3(&point.lever_a)),
        );
        let bias = load3(&point.bias);
        [
            dot(self.axes[0], u) + bias[0],
            dot(self.axes[1], u) + bias[1],
            dot(self.axes[2], u) + bias[2],
        ]
    }

    #[inline(always)]
    fn apply(&mut self, point: &Point, change: V3<L>) {
        let [n, t1, t2] = self.axes;
        let impulse = add(
            scale(n, change[0]),
            add(scale(t1, change[1]), scale(t2, change[2])),
        );
        self.a.pull(&self.mass_a, load3(&point.lever_a), impulse);
        self.b.push(&self.mass_b, load3(&point.lever_b), impulse);
    }

    /// The impulse that the contact's law asks for at the shifted velocity `s`.
    #[inline(always)]
    fn answer(&self, point: &Point, s: V3<L>, l: V3<L>) -> V3<L> {
        let zero = L::splat(0.0);
        let normal = (l[0] - s[0] * L::load(&point.inverse_normal)).max(zero);
        let change = normal - l[0];
        let s1 = s[1] + L::load(&point.coupling[0]) * change;
        let s2 = s[2] + L::load(&point.coupling[1]) * change;
        let limit = self.friction * normal;
        let limit_squared = limit * limit;
        let step = L::load(&point.step);
        let t1 = l[1] - step * s1;
        let t2 = l[2] - step * s2;
        let squared = t1 * t1 + t2 * t2;
        let shrink = limit / squared.max(L::splat(f64::MIN_POSITIVE)).sqrt();
        [
            normal,
            L::pick(squared, limit_squared, t1, t1 * shrink),
            L::pick(squared, limit_squared, t2, t2 * shrink),
        ]
    }
}

/// A run of packs: reads points, changes impulses and velocities.
#[inline(always)]
fn sweep_run<L: Lanes>(
    run: &Run,
    (packs, points): (&[Pack], &[Point]),
    impulses: &mut [[Quad; 3]],
    masses: &[BodyRecord],
    velocities: &mut [BodyRecord],
) {
    let points = points[run.points.clone()].chunks_exact(run.count);
    let impulses = impulses[run.points.clone()].chunks_exact_mut(run.count);
    for ((pack, points), impulses) in packs[run.packs.clone()].iter().zip(points).zip(impulses) {
        let mut pairs = Pairs::<L>::load(pack, masses, velocities);
        for (point, impulse) in points.iter().zip(impulses) {
            let l = load3(impulse);
            let answer = pairs.answer(point, pairs.shifted_velocity(point), l);
            store3(answer, impulse);
            pairs.apply(point, sub(answer, l));
        }
        pairs.a.store(velocities, &pack.a);
        pairs.b.store(velocities, &pack.b);
    }
}

#[inline(always)]
fn sweep_all<L: Lanes>(packed: &mut Packed) {
    for run in &packed.runs {
        sweep_run::<L>(
            run,
            (&packed.packs, &packed.points),
            &mut packed.impulses,
            &packed.masses,
            &mut packed.velocities,
        );
    }
}

/// Adds what the impulses do to the velocities.
#[inline(always)]
fn apply_all<L: Lanes>(packed: &mut Packed) {
    for run in &packed.runs {
        let points = packed.points[run.points.clone()].chunks_exact(run.count);
        let impulses = packed.impulses[run.points.clone()].chunks_exact(run.count);
        let packs = packed.packs[run.packs.clone()].iter();
        for ((pack, points), impulses) in packs.zip(points).zip(impulses) {
            let mut pairs = Pairs::<L>::load(pack, &packed.masses, &packed.velocities);
            for (point, impulse) in points.iter().zip(impulses) {
                pairs.apply(point, load3(impulse));
            }
            pairs.a.store(&mut packed.velocities, &pack.a);
            pairs.b.store(&mut packed.velocities, &pack.b);
        }
    }
}

/// The natural map (m/s) of each contact: |l - P_K(l - rho (s + g))|/rho with rho = 1/scale,
/// g = (mu |s_t|, 0, 0), K the friction cone.
#[inline(always)]
fn natural_maps_all<L: Lanes>(packed: &Packed, maps: &mut [Quad]) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let tiny = L::splat(f64::MIN_POSITIVE);
    for run in &packed.runs {
        for (k, pack) in packed.packs[run.packs.clone()].iter().enumerate() {
            let pairs = Pairs::<L>::load(pack, &packed.masses, &packed.velocities);
            let mu = pairs.friction;
            for i in 0..run.count {
                let index = run.points.start + k * run.count + i;
                let s = pairs.shifted_velocity(&packed.points[index]);
                let l: V3<L> = load3(&packed.impulses[index]);
                let size = L::load(&packed.scales[index]);
                let slip = (s[1] * s[1] + s[2] * s[2]).sqrt();
                // In speeds: l/rho.
                let l = scale(l, size);
                let z = [l[0] - (s[0] + mu * slip), l[1] - s[1], l[2] - s[2]];
                let radial = (z[1] * z[1] + z[2] * z[2]).sqrt();
                // Outside the cone: on its surface, or its tip.
                let along = ((z[0] + mu * radial) / (one + mu * mu)).max(zero);
                let shrink = mu * along / radial.max(tiny);
                let normal = L::pick(radial, mu * z[0], z[0], along);
                let t1 = L::pick(radial, mu * z[0], z[1], z[1] * shrink);
                let t2 = L::pick(radial, mu * z[0], z[2], z[2] * shrink);
                let d = [l[0] - normal, l[1] - t1, l[2] - t2];
                dot(d, d).sqrt().store(&mut maps[index]);
            }
        }
    }
}

/// Which instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Arithmetic {
    /// The fastest that the processor has.
    pub(crate) fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2;
        }
        Self::Plain
    }

    pub(crate) fn sweep(self, packed: &mut Packed) {
        match self {
            Self::Plain => sweep_all::<Plain>(packed),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::sweep(packed),
        }
    }

    pub(crate) fn apply(self, packed: &mut Packed) {
        match self {
            Self::Plain => apply_all::<Plain>(packed),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::apply(packed),
        }
    }

    pub(crate) fn natural_maps(self, packed: &Packed, maps: &mut [Quad]) {
        match self {
            Self::Plain => natural_maps_all::<Plain>(packed, maps),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::natural_maps(packed, maps),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! The same, compiled for AVX2. Called only through [`super::Arithmetic::Avx2`], which exists
    //! only where the processor was asked.
    #![allow(unsafe_code)]

    use super::{Packed, Quad, apply_all, natural_maps_all, sweep_all};
    use crate::lanes::Avx;

    pub(super) fn sweep(packed: &mut Packed) {
        #[target_feature(enable = "avx2")]
        fn run(packed: &mut Packed) {
            sweep_all::<Avx>(packed);
        }
        // SAFETY: see the module.
        unsafe { run(packed) }
    }

    pub(super) fn apply(packed: &mut Packed) {
        #[target_feature(enable = "avx2")]
        fn run(packed: &mut Packed) {
            apply_all::<Avx>(packed);
        }
        // SAFETY: see the module.
        unsafe { run(packed) }
    }

    pub(super) fn natural_maps(packed: &Packed, maps: &mut [Quad]) {
        #[target_feature(enable = "avx2")]
        fn run(packed: &Packed, maps: &mut [Quad]) {
            natural_maps_all::<Avx>(packed, maps);
        }
        // SAFETY: see the module.
        unsafe { run(packed, maps) }
    }
}
