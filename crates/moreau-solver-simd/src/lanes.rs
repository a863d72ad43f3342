//! Four f64 side by side.
//!
//! [`Plain`] is written with scalars; [`Avx`] uses the 256-bit registers of x86-64 processors with
//! AVX2. Both do the same IEEE operations lane by lane, and neither fuses a product with a sum, so
//! they give the same bits. A sweep is written once over [`Lanes`].

use std::ops::{Add, Div, Mul, Sub};

/// Four lanes in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Quad(pub(crate) [f64; 4]);

/// Four lanes in registers.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn splat(x: f64) -> Self;
    fn load(from: &Quad) -> Self;
    fn store(self, to: &mut Quad);
    fn sqrt(self) -> Self;
    /// self > other ? self : other; `other` where one is not a number.
    fn max(self, other: Self) -> Self;
    /// `yes` in the lanes where `low` <= `high`, else `no`.
    fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self;
    /// Lane k of result i is entry i of row k.
    fn transpose(rows: [Self; 4]) -> [Self; 4];
}

/// Lanes as scalars.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f64; 4]);

/// Operators of lanes. The bodies are pasted, since a closure would not be compiled for the
/// instructions of the function that it ends up in.
macro_rules! operators {
    ($type:ty, $($operator:ident $method:ident($a:ident, $b:ident) $body:expr;)*) => {$(
        impl $operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.0, other.0);
                Self($body)
            }
        }
    )*};
}

operators! { Plain,
    Add add(a, b) [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
    Sub sub(a, b) [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]];
    Mul mul(a, b) [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]];
    Div div(a, b) [a[0] / b[0], a[1] / b[1], a[2] / b[2], a[3] / b[3]];
}

impl Lanes for Plain {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; 4])
    }

    #[inline(always)]
    fn load(from: &Quad) -> Self {
        Self(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut Quad) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let lane = |i: usize| {
            if self.0[i] > other.0[i] {
                self.0[i]
            } else {
                other.0[i]
            }
        };
        Self([lane(0), lane(1), lane(2), lane(3)])
    }

    #[inline(always)]
    fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self {
        let lane = |i: usize| {
            if low.0[i] <= high.0[i] {
                yes.0[i]
            } else {
                no.0[i]
            }
        };
        Self([lane(0), lane(1), lane(2), lane(3)])
    }

    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        let column = |i: usize| Self([rows[0].0[i], rows[1].0[i], rows[2].0[i], rows[3].0[i]]);
        [column(0), column(1), column(2), column(3)]
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    //! Every `unsafe` here calls an intrinsic whose only condition is that the processor has AVX2.
    //! Values of [`Avx`] are made in functions that are compiled for AVX2 and called after
    //! `is_x86_feature_detected!("avx2")` alone.
    #![allow(unsafe_code)]

    use super::{Lanes, Quad};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// Lanes in one 256-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx(__m256d);

    operators! { Avx,
        Add add(a, b) unsafe { _mm256_add_pd(a, b) };
        Sub sub(a, b) unsafe { _mm256_sub_pd(a, b) };
        Mul mul(a, b) unsafe { _mm256_mul_pd(a, b) };
        Div div(a, b) unsafe { _mm256_div_pd(a, b) };
    }

    impl Lanes for Avx {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(x) })
        }

        #[inline(always)]
        fn load(from: &Quad) -> Self {
            Self(unsafe { _mm256_load_pd(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Quad) {
            unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self {
            Self(unsafe {
                let mask = _mm256_cmp_pd::<_CMP_LE_OQ>(low.0, high.0);
                _mm256_blendv_pd(no.0, yes.0, mask)
            })
        }

        #[inline(always)]
        fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
            unsafe {
                let ab_even = _mm256_unpacklo_pd(a.0, b.0);
                let ab_odd = _mm256_unpackhi_pd(a.0, b.0);
                let cd_even = _mm256_unpacklo_pd(c.0, d.0);
                let cd_odd = _mm256_unpackhi_pd(c.0, d.0);
                [
                    Self(_mm256_permute2f128_pd::<0x20>(ab_even, cd_even)),
                    Self(_mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd)),
                    Self(_mm256_permute2f128_pd::<0x31>(ab_even, cd_even)),
                    Self(_mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd)),
                ]
            }
        }
    }
}
