//! Two runs side by side.

use crate::replay::{STATE_FIELDS, contact_difference};
use crate::{BodyState, Difference, RecordError, RecordedRun};
use moreau_pipeline::BodyId;

/// How two runs differ, frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Where the bits of both first differ; `recorded` is the first run's value, `replayed` the
    /// second's. Contacts count only where both runs kept them.
    pub first_difference: Option<Difference>,
    /// How far apart bodies are, for each frame that both have.
    pub distances: Vec<Distance>,
}

/// How far apart the bodies of two runs are in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The frame.
    pub frame: u64,
    /// The largest distance between a body's centres of mass in the two, m.
    pub largest: f64,
    /// Which body that is; `None` where none is apart.
    pub body: Option<BodyId>,
}

impl Comparison {
    /// Compares the frames that both runs have; bodies are told by their ids.
    ///
    /// # Errors
    /// Where a recording cannot be read.
    pub fn of(first: &RecordedRun<'_>, second: &RecordedRun<'_>) -> Result<Self, RecordError> {
        Self::watched(first, second, || {})
    }

    /// The same; calls `done` after each frame.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn watched(
        first: &RecordedRun<'_>,
        second: &RecordedRun<'_>,
        mut done: impl FnMut(),
    ) -> Result<Self, RecordError> {
        let mut out = Self {
            first_difference: None,
            distances: Vec::new(),
        };
        let start = first.first_frame().max(second.first_frame());
        let end = first.last_frame().min(second.last_frame());
        for frame in start..=end {
            out.frame(first, second, frame)?;
            done();
        }
        Ok(out)
    }

    fn frame(
        &mut self,
        first: &RecordedRun<'_>,
        second: &RecordedRun<'_>,
        frame: u64,
    ) -> Result<(), RecordError> {
        let states = |run: &RecordedRun<'_>| -> Result<Vec<(BodyId, BodyState)>, RecordError> {
            let states = run.frame(frame)?.states.into_iter();
            Ok(states
                .map(|(i, state)| (run.bodies()[i].id, state))
                .collect())
        };
        let (x, y) = (states(first)?, states(second)?);
        let mut distance = Distance {
            frame,
            largest: 0.0,
            body: None,
        };
        let mut others = y.iter().peekable();
        for (id, state) in &x {
            while others.next_if(|(other, _)| other < id).is_some() {}
            let Some((_, other)) = others.next_if(|(other, _)| other == id) else {
                continue;
            };
            let apart = (state.center_of_mass - other.center_of_mass).length();
            if apart > distance.largest {
                distance.largest = apart;
                distance.body = Some(*id);
            }
            if self.first_difference.is_none() {
                self.first_difference = state_difference(frame, first, *id, state, other);
            }
        }
        self.distances.push(distance);
        if self.first_difference.is_none() && x.len() != y.len() {
            self.first_difference = Some(Difference {
                frame,
                at: String::new(),
                field: "number of bodies that move",
                recorded: x.len() as f64,
                replayed: y.len() as f64,
            });
        }
        if self.first_difference.is_none()
            && first.keeps_contacts(frame)
            && second.keeps_contacts(frame)
        {
            let contacts = second.contacts(frame)?;
            let contacts: Vec<_> = contacts.iter().map(|c| c.contact).collect();
            self.first_difference = contact_difference(first, frame, &contacts)?;
        }
        Ok(())
    }
}

fn state_difference(
    frame: u64,
    run: &RecordedRun<'_>,
    id: BodyId,
    x: &BodyState,
    y: &BodyState,
) -> Option<Difference> {
    let (x, y) = (x.to_array(), y.to_array());
    let i = (0..x.len()).find(|i| x[*i].to_bits() != y[*i].to_bits())?;
    Some(Difference {
        frame,
        at: format!("body {}", run.title(id)),
        field: STATE_FIELDS[i],
        recorded: x[i],
        replayed: y[i],
    })
}
