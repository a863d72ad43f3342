//! Which instructions lanes are made of; the rest is the same for all of them.

use crate::balls::prepare_ball;
use crate::kernel::load_mass;
use crate::lanes::{Lanes, Plain};
use crate::packed::{Ball, Block, BodyRecord, Pack, Point};
use crate::visit::prepare;

/// Which instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Plain,
    /// Exists only where the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Exists only where the processor has AVX-512F.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Arithmetic {
    /// The fastest that the processor has; `narrow` leaves out those with registers of 512 bits.
    pub(crate) fn fastest(narrow: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if !narrow && std::arch::is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        let _ = narrow;
        Self::Plain
    }

    /// Writes the coefficients of the contacts of `blocks` that follow from levers and masses.
    pub(crate) fn prepare(self, masses: &[BodyRecord], blocks: &[Block], to: Filled<'_>) {
        match self {
            Self::Plain => prepare_all::<Plain>(masses, blocks, to),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::prepare_avx2(masses, blocks, to),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::prepare_avx512(masses, blocks, to),
        }
    }
}

/// What some blocks hold.
type Filled<'a> = (&'a [Pack], &'a mut [Point], &'a mut [Ball]);

#[inline(always)]
fn prepare_all<L: Lanes>(
    masses: &[BodyRecord],
    blocks: &[Block],
    (packs, points, balls): Filled<'_>,
) {
    for ball in balls {
        let a = load_mass::<L>(masses, &ball.a);
        let b = load_mass::<L>(masses, &ball.b);
        prepare_ball(ball, [&a, &b]);
    }
    let mut packs = packs.iter();
    let mut next = 0;
    for block in blocks {
        for pack in packs.by_ref().take(block.places().0.len()) {
            let a = load_mass::<L>(masses, &pack.a);
            let b = load_mass::<L>(masses, &pack.b);
            for point in &mut points[next..next + block.count] {
                prepare(pack, point, [&a, &b]);
            }
            next += block.count;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod x86 {
    //! The same, compiled for wider registers.

    use super::{Filled, prepare_all};
    use crate::job::Job;
    use crate::kernel::{View, advance, run};
    use crate::lanes::{Avx, Avx512};
    use crate::packed::{Block, BodyRecord};
    use std::ops::Range;

    /// # Safety
    /// As [`View::run`]; the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn run_avx2(view: &View<'_>, job: Job, indices: (usize, usize)) {
        // SAFETY: the caller's promise.
        unsafe { run::<Avx>(view, job, indices) }
    }

    /// # Safety
    /// As [`View::run`]; the processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn run_avx512(view: &View<'_>, job: Job, indices: (usize, usize)) {
        // SAFETY: the caller's promise.
        unsafe { run::<Avx512>(view, job, indices) }
    }

    /// # Safety
    /// As [`advance`]; the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn advance_avx2(view: &View<'_>, beta: f64, bodies: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { advance(view, beta, bodies) }
    }

    pub(super) fn prepare_avx2(masses: &[BodyRecord], blocks: &[Block], to: Filled<'_>) {
        #[target_feature(enable = "avx2")]
        fn all(masses: &[BodyRecord], blocks: &[Block], to: Filled<'_>) {
            prepare_all::<Avx>(masses, blocks, to);
        }
        // SAFETY: called for `Arithmetic::Avx2` alone.
        unsafe { all(masses, blocks, to) }
    }

    pub(super) fn prepare_avx512(masses: &[BodyRecord], blocks: &[Block], to: Filled<'_>) {
        #[target_feature(enable = "avx512f")]
        fn all(masses: &[BodyRecord], blocks: &[Block], to: Filled<'_>) {
            prepare_all::<Avx512>(masses, blocks, to);
        }
        // SAFETY: called for `Arithmetic::Avx512` alone.
        unsafe { all(masses, blocks, to) }
    }
}
