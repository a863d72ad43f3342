//! Where two lists of numbers that have the same fields part, bit by bit: for whoever compares two runs.

/// A number that has other bits in one list than in the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldDifference {
    /// What it is called.
    pub field: &'static str,
    /// Its value in the first list.
    pub old: f64,
    /// Its value in the second.
    pub new: f64,
}

impl FieldDifference {
    /// See [`ulps`].
    pub fn ulps(&self) -> Option<u64> {
        ulps(self.old, self.new)
    }
}

/// The numbers with other bits, in order. What is longer than the shortest of the three is left out.
pub fn differences<'a>(
    fields: &'a [&'static str],
    old: &'a [f64],
    new: &'a [f64],
) -> impl Iterator<Item = FieldDifference> + 'a {
    let pairs = fields.iter().zip(old.iter().zip(new));
    let differ = pairs.filter(|(_, (old, new))| old.to_bits() != new.to_bits());
    differ.map(|(field, (old, new))| FieldDifference {
        field,
        old: *old,
        new: *new,
    })
}

/// How many `f64` lie between two, one end counted: 0 for equal ones (-0.0 equals 0.0), 1 for neighbours;
/// `None` where one is no number.
pub fn ulps(a: f64, b: f64) -> Option<u64> {
    // Integers that are ordered like the numbers.
    let rank = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    let known = !a.is_nan() && !b.is_nan();
    known.then(|| rank(a).abs_diff(rank(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_ulp_apart() {
        assert_eq!(ulps(1.0, 1.0), Some(0));
        assert_eq!(ulps(1.0, 1.0_f64.next_up()), Some(1));
        assert_eq!(ulps(1.0, 1.0_f64.next_down()), Some(1));
        assert_eq!(ulps(-0.0, 0.0), Some(0));
        assert_eq!(ulps(0.0_f64.next_down(), 0.0_f64.next_up()), Some(2));
        assert_eq!(ulps(1.0, 2.0), Some(1 << 52));
        assert_eq!(ulps(f64::NAN, 1.0), None);
        assert_eq!(
            ulps(f64::NEG_INFINITY, f64::INFINITY),
            Some(2 * f64::INFINITY.to_bits())
        );
    }

    #[test]
    fn bits_are_compared() {
        let fields = ["a", "b", "c", "d"];
        let old = [1.0, 0.0, f64::NAN, 2.0];
        let new = [1.0, -0.0, f64::NAN, 2.0_f64.next_up()];
        let found: Vec<_> = differences(&fields, &old, &new)
            .map(|d| (d.field, d.ulps()))
            .collect();
        assert_eq!(found, [("b", Some(0)), ("d", Some(1))]);
        assert_eq!(differences(&fields, &old, &new[..1]).count(), 0);
    }
}
