//! Where two traces part.

use super::trace::{Record, Stage, StepTrace, Subject, Trace};
use moreau::scene::{FieldDifference, differences};
use std::cmp::Ordering;
use std::fmt;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Difference {
    /// A number.
    Value(FieldDifference),
    /// Only the new run has the subject.
    Appeared,
    /// Only the old run has the subject.
    Vanished,
}

/// The first difference of two traces, and how much else differs in its stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Divergence {
    pub(crate) step: u64,
    pub(crate) stage: Stage,
    pub(crate) subject: Subject,
    pub(crate) difference: Difference,
    /// Subjects of that stage and step that differ.
    pub(crate) differing: usize,
    /// Subjects of that stage and step in both runs together.
    pub(crate) subjects: usize,
    /// The number of that stage and step that moved most in units in the last place.
    pub(crate) largest: Option<(Subject, &'static str, u64)>,
}

/// Finds where two traces part; `None` where all common steps are the same.
pub(crate) fn first_divergence(old: &Trace, new: &Trace) -> Option<Divergence> {
    old.steps.iter().find_map(|a| {
        let b = new.steps.iter().find(|b| b.step == a.step)?;
        step_divergence(a, b)
    })
}

fn step_divergence(old: &StepTrace, new: &StepTrace) -> Option<Divergence> {
    let mut found: Option<Divergence> = None;
    let (mut i, mut j) = (0, 0);
    loop {
        let (a, b) = (old.records.get(i), new.records.get(j));
        let key = |r: &Record| (r.stage, r.subject);
        let order = match (a, b) {
            (Some(a), Some(b)) => key(a).cmp(&key(b)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return found,
        };
        let Some(record) = (if order == Ordering::Greater { b } else { a }) else {
            return found;
        };
        if found.as_ref().is_some_and(|d| d.stage != record.stage) {
            return found;
        }
        let first = match order {
            Ordering::Less => Some(Difference::Vanished),
            Ordering::Greater => Some(Difference::Appeared),
            Ordering::Equal => values(record, b).next().map(Difference::Value),
        };
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
        let Some(difference) = first else { continue };
        let stage = record.stage;
        let subject = record.subject;
        let entry = found.get_or_insert_with(|| Divergence {
            step: old.step,
            stage,
            subject,
            difference,
            differing: 0,
            subjects: subjects(old, new, stage),
            largest: None,
        });
        entry.differing += 1;
        if order == Ordering::Equal {
            for difference in values(record, b) {
                // What is no number is as far as can be.
                let far = difference.ulps().unwrap_or(u64::MAX);
                if entry.largest.is_none_or(|(_, _, most)| far > most) {
                    entry.largest = Some((subject, difference.field, far));
                }
            }
        }
    }
}

/// The fields of two records that differ.
fn values<'a>(
    old: &'a Record,
    new: Option<&'a Record>,
) -> impl Iterator<Item = FieldDifference> + 'a {
    let values = new.map_or(&[][..], |new| &new.values);
    differences(old.fields(), &old.values, values)
}

fn subjects(old: &StepTrace, new: &StepTrace, stage: Stage) -> usize {
    let of = |step: &StepTrace| -> Vec<Subject> {
        let records = step.records.iter().filter(|r| r.stage == stage);
        records.map(|r| r.subject).collect()
    };
    let mut all = of(old);
    all.extend(of(new));
    all.sort_unstable();
    all.dedup();
    all.len()
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  step     {}", self.step)?;
        writeln!(f, "  stage    {}", self.stage)?;
        writeln!(f, "  subject  {}", self.subject)?;
        match self.difference {
            Difference::Value(difference) => {
                let FieldDifference { field, old, new } = difference;
                writeln!(f, "  field    {field}")?;
                writeln!(f, "  old      {old:?}")?;
                writeln!(f, "  new      {new:?}")?;
                match difference.ulps() {
                    Some(ulps) => writeln!(f, "  distance {ulps} ulp")?,
                    None => writeln!(f, "  distance none: one is no number")?,
                }
            }
            Difference::Appeared => writeln!(f, "  only in the new run")?,
            Difference::Vanished => writeln!(f, "  only in the old run")?,
        }
        write!(
            f,
            "  differing in this stage: {} of {}",
            self.differing, self.subjects
        )?;
        if let Some((subject, field, far)) = self.largest {
            write!(f, "; furthest {field} of {subject}, {far} ulp")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stage: Stage, subject: Subject, values: &[f64]) -> Record {
        Record {
            stage,
            subject,
            values: values.to_vec(),
        }
    }

    /// Two steps of two bodies and the contact between them.
    fn trace() -> Trace {
        let contact = Subject::Contact(0, 1 << 32, 7);
        let step = |step: u64| {
            let mut records = vec![
                record(Stage::Detect, contact, &[0.1; 13]),
                record(Stage::Solve, contact, &[0.2, 0.3, 0.4]),
            ];
            for body in 0..2 {
                records.push(record(
                    Stage::Integrate,
                    Subject::Body(body << 32),
                    &[0.5; 13],
                ));
            }
            records.push(record(Stage::Cache, contact, &[0.2; 7]));
            StepTrace { step, records }
        };
        Trace {
            steps: vec![step(17), step(18)],
        }
    }

    #[test]
    fn equal_traces_do_not_part() {
        assert_eq!(first_divergence(&trace(), &trace()), None);
        let mut new = trace();
        for record in &mut new.steps[1].records {
            record.values.iter_mut().for_each(|x| *x += 0.0);
        }
        assert_eq!(first_divergence(&trace(), &new), None);
    }

    #[test]
    fn one_ulp_is_found_with_step_stage_subject_and_field() {
        let mut new = trace();
        let value = &mut new.steps[1].records[2].values[7];
        *value = value.next_up();
        let found = first_divergence(&trace(), &new).unwrap();
        assert_eq!((found.step, found.stage), (18, Stage::Integrate));
        assert_eq!(found.subject, Subject::Body(0));
        let up = 0.5f64.next_up();
        let expected = Difference::Value(FieldDifference {
            field: "center.y",
            old: 0.5,
            new: up,
        });
        assert_eq!(found.difference, expected);
        assert_eq!((found.differing, found.subjects), (1, 2));
        assert_eq!(found.largest, Some((Subject::Body(0), "center.y", 1)));
        assert!(found.to_string().contains("distance 1 ulp"), "{found}");
    }

    #[test]
    fn the_earlier_step_and_stage_count_first() {
        let mut new = trace();
        for (step, record, value) in [(1, 0, 0), (0, 4, 1), (0, 3, 0), (0, 1, 2)] {
            new.steps[step].records[record].values[value] += 1.0;
        }
        let found = first_divergence(&trace(), &new).unwrap();
        assert_eq!((found.step, found.stage), (17, Stage::Solve));
        let expected = Difference::Value(FieldDifference {
            field: "impulse.tangent2",
            old: 0.4,
            new: 1.4,
        });
        assert_eq!(found.difference, expected);
        assert_eq!(found.differing, 1);
    }

    #[test]
    fn a_point_that_only_one_run_has_is_a_difference() {
        let mut new = trace();
        new.steps[0].records.remove(0);
        let found = first_divergence(&trace(), &new).unwrap();
        assert_eq!((found.step, found.stage), (17, Stage::Detect));
        assert_eq!(found.difference, Difference::Vanished);
        let found = first_divergence(&new, &trace()).unwrap();
        assert_eq!(found.difference, Difference::Appeared);
    }

    #[test]
    fn the_furthest_number_of_the_stage_is_named() {
        let mut new = trace();
        new.steps[0].records[2].values[0] = 0.5f64.next_up();
        new.steps[0].records[3].values[5] = 0.5f64.next_up().next_up();
        let found = first_divergence(&trace(), &new).unwrap();
        assert_eq!((found.subject, found.differing), (Subject::Body(0), 2));
        let far = Some((Subject::Body(1 << 32), "velocity.angular.z", 2));
        assert_eq!(found.largest, far);
    }

    #[test]
    fn traces_survive_their_bytes() {
        let bytes = trace().to_bytes().unwrap();
        assert_eq!(Trace::from_bytes(&bytes), Ok(trace()));
        assert!(Trace::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        assert!(Trace::from_bytes(b"something else").is_err());
        let mut foreign = bytes;
        foreign[8] = 99;
        assert!(
            Trace::from_bytes(&foreign)
                .unwrap_err()
                .contains("version 99")
        );
    }
}
