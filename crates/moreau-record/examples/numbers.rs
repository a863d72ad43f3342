//! Frames of a recorded run as JSON: figures, bodies and contacts of each, read by [`moreau_record`].
//! The tests in `web/tests` compare what the page of the recording shows with them.
//!
//! ```sh
//! cargo run -p moreau-record --example numbers -- out/tower_30.sqlite > tower.json
//! ```

use moreau_pipeline::{BodyId, Contact, World};
use moreau_record::{BodyRecord, BodyState, FrameReport, IslandRecord, RecordedRun, Recording};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [file] = &arguments[..] else {
        return Err("usage: numbers FILE".into());
    };
    let recording = Recording::open(file)?;
    let run = recording.last_run()?;
    let (first, last) = (run.first_frame(), run.last_frame());
    let reports = run.reports()?;
    let mut states: BTreeMap<usize, BodyState> = BTreeMap::new();
    let mut steps = Map::new();
    for frame in run.frames() {
        let frame = frame?;
        states.extend(frame.states.iter().copied());
        let report = reports.iter().find(|report| report.frame == frame.frame);
        let value = json!({
            "figures": match report {
                Some(report) => figures(report),
                None => of_start(&run)?,
            },
            "bodies": bodies(&run, frame.frame, &states, &frame.asleep),
            "contacts": contacts(&run, frame.frame)?,
            "islands": islands(&run, frame.frame)?,
            "contacts_kept": run.keeps_contacts(frame.frame),
        });
        steps.insert(frame.frame.to_string(), value);
    }
    let length = last - first;
    let wanted =
        [1, length / 7, length / 7 + 1, length / 2, length].map(|step| first + step.max(1));
    println!(
        "{}",
        json!({ "first": first, "wanted": wanted, "steps": steps })
    );
    Ok(())
}

/// What is known of the first state.
fn of_start(run: &RecordedRun<'_>) -> Result<Value, Box<dyn Error>> {
    let world = World::from_snapshot(&run.start()?)?;
    Ok(json!({ "kinetic_j": world.kinetic_energy(), "potential_j": world.potential_energy() }))
}

fn figures(r: &FrameReport) -> Value {
    let t = &r.times;
    let mut figures = json!({
        "kinetic_j": r.kinetic_energy, "potential_j": r.potential_energy,
        "contact_points": r.contact_points, "residual_m_s": r.residual,
        "max_penetration_m": r.max_penetration, "sweeps": r.sweeps, "islands": r.islands,
        "sleeping_bodies": r.sleeping_bodies, "bodies": r.bodies, "total_s": t.total,
    });
    // All are zero where the world did not measure them.
    if t.stages().iter().any(|seconds| *seconds > 0.0) {
        figures["solve_s"] = t.solve.into();
        figures["narrow_s"] = t.narrow_phase.into();
        figures["broad_s"] = t.broad_phase.into();
    }
    figures
}

/// All bodies of the run; `null` for those that are not there.
fn bodies(
    run: &RecordedRun<'_>,
    frame: u64,
    states: &BTreeMap<usize, BodyState>,
    asleep: &[usize],
) -> Vec<Value> {
    let value = |body: &BodyRecord| {
        let state = states.get(&body.body);
        let pose = state.map_or(body.pose, |state| body.pose_of(state));
        let (p, q) = (pose.translation, pose.rotation);
        let v = state.map(|state| state.velocity).unwrap_or_default();
        let (l, w) = (v.linear, v.angular);
        body.is_in(frame).then(|| {
            json!({
                "x": p.x, "y": p.y, "z": p.z, "qx": q.x, "qy": q.y, "qz": q.z, "qw": q.w,
                "vx": l.x, "vy": l.y, "vz": l.z, "wx": w.x, "wy": w.y, "wz": w.z,
                "mass_kg": body.mass.mass, "friction": body.material.friction,
                "restitution": body.material.restitution, "asleep": asleep.contains(&body.body),
            })
        })
    };
    let bodies = run.bodies().iter().map(value);
    bodies.map(Option::unwrap_or_default).collect()
}

/// The index of a body.
fn index(run: &RecordedRun<'_>, frame: u64, id: BodyId) -> Option<usize> {
    let mut bodies = run.bodies().iter();
    bodies.position(|body| body.id == id && body.is_in(frame))
}

fn islands(run: &RecordedRun<'_>, frame: u64) -> Result<Vec<Value>, Box<dyn Error>> {
    let value = |r: IslandRecord| {
        json!({
            "first": index(run, frame, r.first_body), "bodies": r.bodies,
            "contact_points": r.contact_points, "joints": r.joints, "solver": r.solver,
            "stop": r.stop, "sweeps": r.sweeps, "factorizations": r.factorizations,
            "residual": r.residual, "worst": r.worst_contact,
        })
    };
    Ok(run.islands(frame)?.into_iter().map(value).collect())
}

fn contacts(run: &RecordedRun<'_>, frame: u64) -> Result<Vec<Value>, Box<dyn Error>> {
    let index = |id: BodyId| index(run, frame, id);
    let value = |c: Contact| {
        json!({
            "a": index(c.a), "b": index(c.b),
            "impulse_normal": c.impulse.x, "impulse_tangent1": c.impulse.y,
            "impulse_tangent2": c.impulse.z, "separation": c.separation,
            "approach_velocity": c.approach_velocity, "friction": c.friction,
            "restitution": c.restitution,
            "normal_x": c.normal.x, "normal_y": c.normal.y, "normal_z": c.normal.z,
            "tangent1_x": c.tangent1.x, "tangent1_y": c.tangent1.y, "tangent1_z": c.tangent1.z,
            "tangent2_x": c.tangent2.x, "tangent2_y": c.tangent2.y, "tangent2_z": c.tangent2.z,
            "lever_a_x": c.lever_a.x, "lever_a_y": c.lever_a.y, "lever_a_z": c.lever_a.z,
            "lever_b_x": c.lever_b.x, "lever_b_y": c.lever_b.y, "lever_b_z": c.lever_b.z,
        })
    };
    let contacts = run.contacts(frame)?.into_iter();
    Ok(contacts.map(|record| value(record.contact)).collect())
}
