//! Which instructions blocks are worked on with; the sums, and so the bits, are the same for all.

use crate::block::Column;

/// Which instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// What every processor has.
    Plain,
    /// Exists only where the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Exists only where the processor has AVX2 and AVX-512F.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Work on columns of `B` numbers.
///
/// `with` and all that it calls are to be `#[inline(always)]`, or they are not compiled for the
/// instructions.
pub(crate) trait Work<const B: usize> {
    type Output;
    fn with<C: Column<B>>(self) -> Self::Output;
}

impl Arithmetic {
    /// The fastest that the processor has.
    pub(crate) fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return if std::arch::is_x86_feature_detected!("avx512f") {
                Self::Avx512
            } else {
                Self::Avx2
            };
        }
        Self::Plain
    }

    /// The same without registers of 512 bits: for work that soon reads again what it writes. A column is
    /// written to memory in two parts there, and waits for both when it is read as one.
    pub(crate) fn narrow(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx512 {
            return Self::Avx2;
        }
        self
    }

    /// Does the work.
    pub(crate) fn run<const B: usize, W: Work<B>>(self, work: W) -> W::Output {
        match self {
            Self::Plain => work.with::<[f64; B]>(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::run_avx2(work),
            // Columns of three numbers need masks to get to memory, which takes longer than all else.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if B == 6 => x86::run_avx512(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::run_avx2(work),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    //! The same, compiled for wider registers. None fuses a product with a sum.
    //!
    //! Every `unsafe` of [`Octet`] calls an intrinsic whose only condition is that the processor has
    //! AVX-512F, or moves the numbers of a column and no others. Its values are made in [`run_avx512`]
    //! alone.

    use super::Work;
    use crate::block::Column;
    use std::arch::x86_64::*;

    pub(super) fn run_avx2<const B: usize, W: Work<B>>(work: W) -> W::Output {
        #[target_feature(enable = "avx2")]
        fn run<const B: usize, W: Work<B>>(work: W) -> W::Output {
            work.with::<[f64; B]>()
        }
        // SAFETY: called for `Arithmetic::Avx2` alone.
        unsafe { run(work) }
    }

    pub(super) fn run_avx512<const B: usize, W: Work<B>>(work: W) -> W::Output {
        #[target_feature(enable = "avx512f")]
        fn run<const B: usize, W: Work<B>>(work: W) -> W::Output {
            work.with::<Octet>()
        }
        // SAFETY: called for `Arithmetic::Avx512` alone.
        unsafe { run(work) }
    }

    /// A column in one register of 512 bits.
    #[derive(Clone, Copy)]
    pub(super) struct Octet(__m512d);

    /// The lanes of a column.
    const fn lanes<const B: usize>() -> __mmask8 {
        assert!(B <= 8);
        ((1_u16 << B) - 1) as __mmask8
    }

    impl<const B: usize> Column<B> for Octet {
        #[inline(always)]
        fn load(from: &[f64; B]) -> Self {
            // SAFETY: see the module; reads the `B` numbers of `from`.
            Self(unsafe { _mm512_maskz_loadu_pd(const { lanes::<B>() }, from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f64; B]) {
            if B == 6 {
                // Two stores take less time than one with a mask.
                // SAFETY: see the module; writes the six numbers of `to`.
                unsafe {
                    _mm256_storeu_pd(to.as_mut_ptr(), _mm512_castpd512_pd256(self.0));
                    _mm_storeu_pd(
                        to.as_mut_ptr().add(4),
                        _mm256_castpd256_pd128(_mm512_extractf64x4_pd::<1>(self.0)),
                    );
                }
            } else {
                // SAFETY: see the module; writes the `B` numbers of `to`.
                unsafe { _mm512_mask_storeu_pd(to.as_mut_ptr(), const { lanes::<B>() }, self.0) }
            }
        }

        #[inline(always)]
        fn add_scaled(self, x: Self, scale: f64) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_add_pd(self.0, _mm512_mul_pd(x.0, _mm512_set1_pd(scale))) })
        }

        #[inline(always)]
        fn subtract_scaled(self, x: Self, scale: f64) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_sub_pd(self.0, _mm512_mul_pd(x.0, _mm512_set1_pd(scale))) })
        }

        #[inline(always)]
        fn divide(self, by: f64) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_div_pd(self.0, _mm512_set1_pd(by)) })
        }
    }
}
