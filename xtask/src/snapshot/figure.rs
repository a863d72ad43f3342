//! Figures of a run and how far they may move.

use std::fmt;
use std::str::FromStr;

/// How far a figure may move before it counts as another answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Not at all: a count.
    Exact,
    /// By that much, in the figure's unit.
    Absolute(f64),
    /// By that part of the larger of both values.
    Relative(f64),
}

impl Tolerance {
    /// Whether `new` is as good as `old`. What is not a number is never.
    pub(crate) fn allows(self, old: f64, new: f64) -> bool {
        let moved = (new - old).abs();
        match self {
            Self::Exact => new == old,
            Self::Absolute(most) => moved <= most,
            Self::Relative(most) => moved <= most * old.abs().max(new.abs()),
        }
    }

    /// The same class, wide enough for a figure that moves by `moved` where nothing changed but
    /// the last digits of the input.
    ///
    /// Ten times that, because one disturbance is one sample.
    pub(crate) fn widened(self, value: f64, moved: f64) -> Self {
        if self.allows(value, value + 10.0 * moved) {
            return self;
        }
        Self::Absolute(round_up(10.0 * moved))
    }
}

/// Rounds up to one digit.
pub(crate) fn round_up(x: f64) -> f64 {
    let text = format!("{x:e}");
    let exponent = text.split_once('e').map_or("0", |(_, exponent)| exponent);
    let unit: f64 = format!("1e{exponent}").parse().unwrap_or(1.0);
    let digits = (x / unit).ceil();
    // Through text, so that 3 times 1e-7 prints as 3e-7.
    format!("{digits}e{exponent}").parse().unwrap_or(x)
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => write!(f, "exact"),
            Self::Absolute(most) => write!(f, "absolute {most:e}"),
            Self::Relative(most) => write!(f, "relative {most:e}"),
        }
    }
}

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number: Option<f64> = text.parse().ok();
            number
                .filter(|n| *n >= 0.0)
                .ok_or_else(|| format!("`{text}` is no tolerance"))
        };
        match text.split_once(' ') {
            None if text == "exact" => Ok(Self::Exact),
            Some(("absolute", most)) => Ok(Self::Absolute(number(most)?)),
            Some(("relative", most)) => Ok(Self::Relative(number(most)?)),
            _ => Err(format!(
                "`{text}` is no tolerance: exact, absolute X or relative X"
            )),
        }
    }
}

/// A number that says what a run did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// One word.
    pub(crate) name: String,
    pub(crate) value: f64,
    /// One word; `1` for a number without.
    pub(crate) unit: String,
    pub(crate) tolerance: Tolerance,
}

impl Figure {
    pub(crate) fn new(name: &str, value: f64, unit: &str, tolerance: Tolerance) -> Self {
        // -0.0 says no more than 0.0.
        Self {
            name: name.into(),
            value: value + 0.0,
            unit: unit.into(),
            tolerance,
        }
    }
}

/// A figure that is not where it was.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moved {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// `None` where there was no such figure.
    pub(crate) old: Option<f64>,
    /// `None` where there is none any more.
    pub(crate) new: Option<f64>,
    /// Of the old figure.
    pub(crate) tolerance: Tolerance,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            unit,
            tolerance,
            ..
        } = self;
        let unit = if unit == "1" {
            String::new()
        } else {
            format!(" {unit}")
        };
        match (self.old, self.new) {
            (Some(old), Some(new)) => {
                write!(f, "{name} {old:?} -> {new:?}{unit} (allowed: {tolerance})")
            }
            (Some(old), None) => write!(f, "{name} is gone (was {old:?}{unit})"),
            (None, Some(new)) => write!(f, "{name} is not in the snapshot (now {new:?}{unit})"),
            (None, None) => write!(f, "{name} is nowhere"),
        }
    }
}

/// The figures that moved further than the old ones allow, in their order.
pub(crate) fn moved(old: &[Figure], new: &[Figure]) -> Vec<Moved> {
    let pair = |figure: &Figure, old: Option<f64>, new: Option<f64>| Moved {
        name: figure.name.clone(),
        unit: figure.unit.clone(),
        old,
        new,
        tolerance: figure.tolerance,
    };
    let mut list = Vec::new();
    for figure in old {
        let now = new.iter().find(|f| f.name == figure.name).map(|f| f.value);
        if !now.is_some_and(|now| figure.tolerance.allows(figure.value, now)) {
            list.push(pair(figure, Some(figure.value), now));
        }
    }
    for figure in new {
        if !old.iter().any(|f| f.name == figure.name) {
            list.push(pair(figure, None, Some(figure.value)));
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_allow_what_they_say() {
        assert!(Tolerance::Exact.allows(3.0, 3.0));
        assert!(!Tolerance::Exact.allows(3.0, 4.0));
        assert!(Tolerance::Absolute(1e-6).allows(1.0, 1.0 + 9e-7));
        assert!(!Tolerance::Absolute(1e-6).allows(1.0, 1.0 + 2e-6));
        assert!(Tolerance::Relative(1e-6).allows(1e6, 1e6 + 0.9));
        assert!(!Tolerance::Relative(1e-6).allows(1e6, 1e6 + 2.0));
        for class in [
            Tolerance::Exact,
            Tolerance::Absolute(1.0),
            Tolerance::Relative(1.0),
        ] {
            assert!(!class.allows(1.0, f64::NAN));
            assert!(!class.allows(f64::NAN, f64::NAN));
        }
    }

    #[test]
    fn classes_survive_their_text() {
        for class in [
            Tolerance::Exact,
            Tolerance::Absolute(3e-7),
            Tolerance::Relative(0.25),
        ] {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        for text in [
            "",
            "loose",
            "absolute",
            "absolute x",
            "relative -1",
            "absolute NaN",
        ] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_class_widens_only_where_it_must() {
        let tight = Tolerance::Absolute(1e-6);
        assert_eq!(tight.widened(5.0, 1e-8), tight);
        assert_eq!(tight.widened(5.0, 2.1e-4), Tolerance::Absolute(3e-3));
        assert_eq!(Tolerance::Exact.widened(5.0, 0.0), Tolerance::Exact);
        assert_eq!(
            Tolerance::Exact.widened(5.0, 1.0),
            Tolerance::Absolute(10.0)
        );
    }

    #[test]
    fn moved_figures_are_named_and_others_are_not() {
        let figure =
            |name: &str, value: f64| Figure::new(name, value, "m", Tolerance::Absolute(0.1));
        let old = [figure("a", 1.0), figure("b", 2.0), figure("c", 3.0)];
        let new = [figure("a", 1.05), figure("b", 2.5), figure("d", 4.0)];
        let list = moved(&old, &new);
        let names: Vec<&str> = list.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "d"]);
        assert_eq!(
            list[0].to_string(),
            "b 2.0 -> 2.5 m (allowed: absolute 1e-1)"
        );
        assert_eq!(list[1].to_string(), "c is gone (was 3.0 m)");
        assert_eq!(list[2].to_string(), "d is not in the snapshot (now 4.0 m)");
    }
}
