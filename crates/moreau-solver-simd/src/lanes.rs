//! Eight f64 side by side.
//!
//! [`Plain`] is written with scalars; [`Avx`] uses two 256-bit registers of x86-64 processors with
//! AVX2, [`Avx512`] one of 512 bits. All do the same IEEE operations lane by lane, and none fuses a
//! product with a sum, so they give the same bits. A sweep is written once over [`Lanes`].
//!
//! Eight also where registers hold four: what one contact of a pair does, the next one waits for, and
//! two registers side by side fill the wait.

use std::ops::{Add, Div, Mul, Sub};

/// Lanes.
pub(crate) const WIDTH: usize = 8;

/// Eight lanes in memory; a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Oct(pub(crate) [f64; WIDTH]);

impl Oct {
    /// All lanes, in a fixed order.
    pub(crate) fn sum(&self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }
}

/// Eight lanes in registers.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn splat(x: f64) -> Self;
    fn load(from: &Oct) -> Self;
    fn store(self, to: &mut Oct);
    fn sqrt(self) -> Self;
    /// self > other ? self : other; `other` where one is not a number.
    fn max(self, other: Self) -> Self;
    /// `yes` in the lanes where `low` <= `high`, else `no`.
    fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self;
    /// Whether in a lane `low` <= `high` is false, and `size` is not zero.
    fn exceeds(low: Self, high: Self, size: Self) -> bool;
    /// Lane k of result i is entry i of row k.
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH];
    /// Has the cache lines of `of` fetched, where that helps.
    fn prefetch<T>(of: &T);
}

/// Lanes as scalars.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f64; WIDTH]);

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

/// `[f(0), …, f(7)]`, pasted.
macro_rules! each {
    (|$i:ident| $lane:expr) => {
        [
            each!($i = 0, $lane),
            each!($i = 1, $lane),
            each!($i = 2, $lane),
            each!($i = 3, $lane),
            each!($i = 4, $lane),
            each!($i = 5, $lane),
            each!($i = 6, $lane),
            each!($i = 7, $lane),
        ]
    };
    ($i:ident = $k:literal, $lane:expr) => {{
        let $i = $k;
        $lane
    }};
}
pub(crate) use each;

operators! { Plain,
    Add add(a, b) each!(|i| a[i] + b[i]);
    Sub sub(a, b) each!(|i| a[i] - b[i]);
    Mul mul(a, b) each!(|i| a[i] * b[i]);
    Div div(a, b) each!(|i| a[i] / b[i]);
}

impl Lanes for Plain {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; WIDTH])
    }

    #[inline(always)]
    fn load(from: &Oct) -> Self {
        Self(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut Oct) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(each!(|i| self.0[i].sqrt()))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self(each!(|i| if a[i] > b[i] { a[i] } else { b[i] }))
    }

    #[inline(always)]
    fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self {
        Self(each!(|i| if low.0[i] <= high.0[i] {
            yes.0[i]
        } else {
            no.0[i]
        }))
    }

    #[inline(always)]
    fn exceeds(low: Self, high: Self, size: Self) -> bool {
        let lanes = each!(|i| !(low.0[i] <= high.0[i]) & (size.0[i] != 0.0));
        lanes != [false; WIDTH]
    }

    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        each!(|k| Self(each!(|i| rows[i].0[k])))
    }

    #[inline(always)]
    fn prefetch<T>(_of: &T) {}
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx, Avx512, fetch};

/// Has the cache lines of `of` fetched, where that helps.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch<T>(_of: &T) {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Every `unsafe` here calls an intrinsic whose only condition is that the processor has AVX2
    //! ([`Avx`]) or AVX-512F ([`Avx512`]), or moves the eight numbers of an [`Oct`], which is aligned
    //! for it. Values of these types are made in functions that are compiled for those instructions,
    //! and called after `is_x86_feature_detected!` has found them alone.
    #![allow(unsafe_code)]

    use super::{Lanes, Oct, WIDTH};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// Has the cache lines of `of` fetched.
    #[inline(always)]
    pub(crate) fn fetch<T>(of: &T) {
        let start = (&raw const *of).cast::<i8>();
        let mut offset = 0;
        while offset < size_of::<T>() {
            // A hint; the address is inside of `of`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
            offset += 64;
        }
    }

    /// Lanes in two 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx([__m256d; 2]);

    operators! { Avx,
        Add add(a, b) unsafe { [_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])] };
        Sub sub(a, b) unsafe { [_mm256_sub_pd(a[0], b[0]), _mm256_sub_pd(a[1], b[1])] };
        Mul mul(a, b) unsafe { [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])] };
        Div div(a, b) unsafe { [_mm256_div_pd(a[0], b[0]), _mm256_div_pd(a[1], b[1])] };
    }

    /// The transpose of four by four.
    #[inline(always)]
    fn transpose4(a: __m256d, b: __m256d, c: __m256d, d: __m256d) -> [__m256d; 4] {
        unsafe {
            let ab_even = _mm256_unpacklo_pd(a, b);
            let ab_odd = _mm256_unpackhi_pd(a, b);
            let cd_even = _mm256_unpacklo_pd(c, d);
            let cd_odd = _mm256_unpackhi_pd(c, d);
            [
                _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
                _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
            ]
        }
    }

    impl Lanes for Avx {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Self(unsafe { [_mm256_set1_pd(x); 2] })
        }

        #[inline(always)]
        fn load(from: &Oct) -> Self {
            let start = from.0.as_ptr();
            Self(unsafe { [_mm256_load_pd(start), _mm256_load_pd(start.add(4))] })
        }

        #[inline(always)]
        fn store(self, to: &mut Oct) {
            let start = to.0.as_mut_ptr();
            unsafe {
                _mm256_store_pd(start, self.0[0]);
                _mm256_store_pd(start.add(4), self.0[1]);
            }
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            let [a, b] = self.0;
            Self(unsafe { [_mm256_sqrt_pd(a), _mm256_sqrt_pd(b)] })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            let (a, b) = (self.0, other.0);
            Self(unsafe { [_mm256_max_pd(a[0], b[0]), _mm256_max_pd(a[1], b[1])] })
        }

        #[inline(always)]
        fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self {
            let (low, high, yes, no) = (low.0, high.0, yes.0, no.0);
            Self(unsafe {
                let first = _mm256_cmp_pd::<_CMP_LE_OQ>(low[0], high[0]);
                let second = _mm256_cmp_pd::<_CMP_LE_OQ>(low[1], high[1]);
                [
                    _mm256_blendv_pd(no[0], yes[0], first),
                    _mm256_blendv_pd(no[1], yes[1], second),
                ]
            })
        }

        #[inline(always)]
        fn exceeds(low: Self, high: Self, size: Self) -> bool {
            let (low, high, size) = (low.0, high.0, size.0);
            unsafe {
                let zero = _mm256_setzero_pd();
                let first = _mm256_and_pd(
                    _mm256_cmp_pd::<_CMP_NLE_UQ>(low[0], high[0]),
                    _mm256_cmp_pd::<_CMP_NEQ_UQ>(size[0], zero),
                );
                let second = _mm256_and_pd(
                    _mm256_cmp_pd::<_CMP_NLE_UQ>(low[1], high[1]),
                    _mm256_cmp_pd::<_CMP_NEQ_UQ>(size[1], zero),
                );
                _mm256_movemask_pd(_mm256_or_pd(first, second)) != 0
            }
        }

        #[inline(always)]
        fn prefetch<T>(of: &T) {
            fetch(of);
        }

        #[inline(always)]
        fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
            let [a, b, c, d, e, f, g, h] = rows;
            let left = transpose4(a.0[0], b.0[0], c.0[0], d.0[0]);
            let right = transpose4(a.0[1], b.0[1], c.0[1], d.0[1]);
            let left_low = transpose4(e.0[0], f.0[0], g.0[0], h.0[0]);
            let right_low = transpose4(e.0[1], f.0[1], g.0[1], h.0[1]);
            [
                Self([left[0], left_low[0]]),
                Self([left[1], left_low[1]]),
                Self([left[2], left_low[2]]),
                Self([left[3], left_low[3]]),
                Self([right[0], right_low[0]]),
                Self([right[1], right_low[1]]),
                Self([right[2], right_low[2]]),
                Self([right[3], right_low[3]]),
            ]
        }
    }

    /// Lanes in one 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512d);

    operators! { Avx512,
        Add add(a, b) unsafe { _mm512_add_pd(a, b) };
        Sub sub(a, b) unsafe { _mm512_sub_pd(a, b) };
        Mul mul(a, b) unsafe { _mm512_mul_pd(a, b) };
        Div div(a, b) unsafe { _mm512_div_pd(a, b) };
    }

    impl Lanes for Avx512 {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Self(unsafe { _mm512_set1_pd(x) })
        }

        #[inline(always)]
        fn load(from: &Oct) -> Self {
            Self(unsafe { _mm512_load_pd(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Oct) {
            unsafe { _mm512_store_pd(to.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(unsafe { _mm512_sqrt_pd(self.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(unsafe { _mm512_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn pick(low: Self, high: Self, yes: Self, no: Self) -> Self {
            Self(unsafe {
                let mask = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(low.0, high.0);
                _mm512_mask_blend_pd(mask, no.0, yes.0)
            })
        }

        #[inline(always)]
        fn exceeds(low: Self, high: Self, size: Self) -> bool {
            unsafe {
                let beyond = _mm512_cmp_pd_mask::<_CMP_NLE_UQ>(low.0, high.0);
                _mm512_mask_cmp_pd_mask::<_CMP_NEQ_UQ>(beyond, size.0, _mm512_setzero_pd()) != 0
            }
        }

        #[inline(always)]
        fn prefetch<T>(of: &T) {
            fetch(of);
        }

        #[inline(always)]
        fn transpose([a, b, c, d, e, f, g, h]: [Self; WIDTH]) -> [Self; WIDTH] {
            /// Columns 0, 2, 4, 6 of pairs of rows, each pair in the halves of 128-bit lanes.
            #[inline(always)]
            fn columns(ab: __m512d, cd: __m512d, ef: __m512d, gh: __m512d) -> [Avx512; 4] {
                unsafe {
                    let first_even = _mm512_shuffle_f64x2::<0x88>(ab, cd);
                    let first_odd = _mm512_shuffle_f64x2::<0xdd>(ab, cd);
                    let last_even = _mm512_shuffle_f64x2::<0x88>(ef, gh);
                    let last_odd = _mm512_shuffle_f64x2::<0xdd>(ef, gh);
                    [
                        Avx512(_mm512_shuffle_f64x2::<0x88>(first_even, last_even)),
                        Avx512(_mm512_shuffle_f64x2::<0x88>(first_odd, last_odd)),
                        Avx512(_mm512_shuffle_f64x2::<0xdd>(first_even, last_even)),
                        Avx512(_mm512_shuffle_f64x2::<0xdd>(first_odd, last_odd)),
                    ]
                }
            }
            let (even, odd) = unsafe {
                (
                    columns(
                        _mm512_unpacklo_pd(a.0, b.0),
                        _mm512_unpacklo_pd(c.0, d.0),
                        _mm512_unpacklo_pd(e.0, f.0),
                        _mm512_unpacklo_pd(g.0, h.0),
                    ),
                    columns(
                        _mm512_unpackhi_pd(a.0, b.0),
                        _mm512_unpackhi_pd(c.0, d.0),
                        _mm512_unpackhi_pd(e.0, f.0),
                        _mm512_unpackhi_pd(g.0, h.0),
                    ),
                )
            };
            [
                even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3],
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lanes, Oct, Plain, WIDTH};

    #[inline(always)]
    fn transposed<L: Lanes>(rows: &[Oct; WIDTH]) -> [Oct; WIDTH] {
        let mut out = [Oct::default(); WIDTH];
        let columns = L::transpose(std::array::from_fn(|i| L::load(&rows[i])));
        for (column, out) in columns.into_iter().zip(&mut out) {
            column.store(out);
        }
        out
    }

    #[test]
    fn rows_become_columns() {
        let rows: [Oct; WIDTH] =
            std::array::from_fn(|i| Oct(std::array::from_fn(|k| (10 * i + k) as f64)));
        let columns: [Oct; WIDTH] =
            std::array::from_fn(|k| Oct(std::array::from_fn(|i| (10 * i + k) as f64)));
        assert_eq!(transposed::<Plain>(&rows), columns);
    }

    #[inline(always)]
    fn exceeds<L: Lanes>([low, high, size]: &[Oct; 3]) -> bool {
        L::exceeds(L::load(low), L::load(high), L::load(size))
    }

    #[test]
    fn one_lane_beyond_its_size_is_enough() {
        let mut exceeding = vec![exceeds::<Plain> as fn(&[Oct; 3]) -> bool];
        #[cfg(target_arch = "x86_64")]
        {
            use super::{Avx, Avx512};
            if std::arch::is_x86_feature_detected!("avx2") {
                exceeding.push(exceeds::<Avx>);
            }
            if std::arch::is_x86_feature_detected!("avx512f") {
                exceeding.push(exceeds::<Avx512>);
            }
        }
        let inside = [Oct([1.0; WIDTH]), Oct([1.0; WIDTH]), Oct([2.0; WIDTH])];
        for exceeds in exceeding {
            assert!(!exceeds(&inside));
            for lane in 0..WIDTH {
                for (low, size, expected) in [
                    (1.5, 2.0, true),
                    (1.5, -2.0, true),
                    (1.5, 0.0, false),
                    (1.5, -0.0, false),
                    (0.5, 2.0, false),
                    (f64::NAN, 2.0, true),
                    (f64::NAN, 0.0, false),
                    (1.5, f64::NAN, true),
                ] {
                    let mut lanes = inside;
                    lanes[0].0[lane] = low;
                    lanes[2].0[lane] = size;
                    assert_eq!(exceeds(&lanes), expected, "lane {lane}: {low}, {size}");
                }
            }
        }
    }
}
