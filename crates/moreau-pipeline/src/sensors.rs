//! Bodies that report what overlaps them.
//!
//! A sensor sees bodies that are not sensors, whose groups meet its own, and of which, or of itself,
//! something can move. What counts are the poses at the end of a step; a body that passes through a
//! sensor within a step, and is in it neither before nor after, begins and ends in that step.

use crate::body::BodyState;
use crate::crossings::way;
use crate::{BodyFilter, BodyId, BodyKind, World};
use moreau_collision::{ImpactSettings, time_of_impact};
use moreau_math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// What happened to an overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SensorEventKind {
    /// There is one, and before the step there was none.
    Begin,
    /// There is one, as before the step.
    Stay,
    /// There is none any more.
    End,
}

/// What a sensor saw in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SensorEvent {
    /// The sensor.
    pub sensor: BodyId,
    /// What overlaps it, or did.
    pub body: BodyId,
    /// What happened. A body that only passed through has a `Begin` and an `End`.
    pub kind: SensorEventKind,
}

/// Memory that steps reuse.
#[derive(Default)]
pub(crate) struct Sensors {
    /// Pairs of sensor and body that met on their way through the step, sorted.
    passing: Vec<(BodyId, BodyId)>,
    before: Vec<(BodyId, BodyId)>,
    after: Vec<(BodyId, BodyId)>,
}

impl World {
    /// Before the bodies move: which meet a sensor on the way.
    pub(crate) fn watch_passing(
        &self,
        sensors: &mut Sensors,
        moved: &[(Vec3, Quat, Vec3)],
        dt: f64,
    ) {
        sensors.passing.clear();
        for &(sensor, body) in &self.detection.sensor_pairs {
            let motion = |index: u32| {
                let slot = &self.state.bodies[index as usize];
                let body = slot.value.as_ref()?;
                Some((body, way(body, &moved[index as usize], dt)))
            };
            let (Some((a, way_a)), Some((b, way_b))) = (motion(sensor), motion(body)) else {
                continue;
            };
            if !concerns(a, b) {
                continue;
            }
            let settings = ImpactSettings::default();
            let impact = time_of_impact(&a.shape, &way_a, &b.shape, &way_b, dt, &settings);
            // A half-space that turns sees what is in it at the end of the step.
            if matches!(impact, Ok(Some(_))) {
                let id = |index: u32| BodyId {
                    index,
                    generation: self.state.bodies[index as usize].generation,
                };
                sensors.passing.push((id(sensor), id(body)));
            }
        }
    }

    /// After the bodies moved: what overlaps which sensor, and what did.
    pub(crate) fn report_sensors(&mut self, sensors: &mut Sensors) {
        if self.state.sensor_events.is_empty() && !self.activity.sensors {
            return;
        }
        let Sensors {
            passing,
            before,
            after,
        } = sensors;
        before.clear();
        let there = |e: &&SensorEvent| e.kind != SensorEventKind::End;
        let events = self.state.sensor_events.iter();
        before.extend(events.filter(there).map(|e| (e.sensor, e.body)));
        // One that only passed through has ended, although it also began.
        let ended = |pair: &(BodyId, BodyId)| {
            let end = SensorEvent {
                sensor: pair.0,
                body: pair.1,
                kind: SensorEventKind::End,
            };
            self.state.sensor_events.binary_search(&end).is_ok()
        };
        before.retain(|pair| !ended(pair));
        after.clear();
        for sensor in self.bodies().filter(|b| b.is_sensor()) {
            let filter = BodyFilter {
                groups: sensor.groups(),
                accept: Some(&|body| concerns(sensor.state, body.state)),
                ..BodyFilter::default()
            };
            let inside = self.overlaps(sensor.shape(), &sensor.pose(), &filter);
            // A sensor in the world has a usable shape and a finite pose.
            let inside = inside.unwrap_or_default();
            after.extend(inside.into_iter().map(|body| (sensor.id(), body)));
        }
        let events = &mut self.state.sensor_events;
        events.clear();
        let has = |list: &[(BodyId, BodyId)], pair| list.binary_search(pair).is_ok();
        let mut push = |&(sensor, body): &(BodyId, BodyId), kind| {
            events.push(SensorEvent { sensor, body, kind });
        };
        for pair in after.iter() {
            let kind = if has(before, pair) {
                SensorEventKind::Stay
            } else {
                SensorEventKind::Begin
            };
            push(pair, kind);
        }
        for pair in before.iter().filter(|pair| !has(after, pair)) {
            push(pair, SensorEventKind::End);
        }
        for pair in passing.iter() {
            if !has(before, pair) && !has(after, pair) {
                push(pair, SensorEventKind::Begin);
                push(pair, SensorEventKind::End);
            }
        }
        events.sort_unstable();
    }
}

/// Whether a sensor looks at that body.
fn concerns(sensor: &BodyState, body: &BodyState) -> bool {
    !body.sensor && (sensor.kind != BodyKind::Static || body.kind != BodyKind::Static)
}
