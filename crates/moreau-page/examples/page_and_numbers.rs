//! Writes the page of a scene, and numbers of some of its steps taken straight from the world, so that
//! the tests in `web/tests` can compare what a browser shows with them.
//!
//! `cargo run -p moreau-page --example page_and_numbers -- fixtures/scenes/pendulum.json FOLDER`

use moreau::scene::{Run, RunOptions, Scene};
use moreau::{StepReport, World};
use moreau_page::{About, Recording, html};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder] = arguments.as_slice() else {
        return Err("give a scene file and a folder".into());
    };
    let scene = Scene::from_json(&std::fs::read_to_string(file)?)?;
    let options = RunOptions {
        profile: true,
        ..RunOptions::default()
    };
    let mut run = Run::new(&scene, options)?;
    let names = run.built().names.iter().cloned();
    let names: Vec<_> = names.map(Option::unwrap_or_default).collect();
    let last = run.steps();
    let wanted = [1, last / 7, last / 7 + 1, last / 2, last];
    let mut recording = Recording::start(run.world(), &names, last);
    let mut steps = serde_json::Map::new();
    while !run.finished() {
        let report = run.step()?;
        recording.step(run.world(), &report);
        // Others too: a page of a large run shows the nearest step that it keeps, one in a power of two.
        if wanted.contains(&report.step) || report.step.is_multiple_of(16) {
            steps.insert(report.step.to_string(), numbers(run.world(), &report));
        }
    }
    let name = &scene.name;
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let about = About {
        description: scene.description.clone(),
        ..About::named(name, run.dt())
    };
    std::fs::write(
        folder.join(format!("{name}.html")),
        html(&recording, &about),
    )?;
    let numbers = json!({ "wanted": wanted, "steps": steps });
    std::fs::write(
        folder.join(format!("{name}.json")),
        serde_json::to_string(&numbers)?,
    )?;
    Ok(())
}

fn islands(world: &World) -> Vec<Value> {
    let islands = world.island_reports().iter();
    let value = |r: &moreau::IslandReport| {
        json!({
            "first": r.first_body.index, "bodies": r.bodies, "contact_points": r.contact_points,
            "joints": r.joints, "solver": r.solver.name(), "stop": r.solve.stop.to_string(),
            "sweeps": r.solve.sweeps, "factorizations": r.solve.factorizations,
            "residual": r.solve.residual, "worst": r.solve.worst_contact,
        })
    };
    islands.map(value).collect()
}

/// Figures, bodies, contacts and islands under the names that the page uses.
fn numbers(world: &World, report: &StepReport) -> Value {
    let times = report.profile.map(|p| p.times).unwrap_or_default();
    let bodies: Vec<Value> = world
        .bodies()
        .map(|body| {
            let (p, q, v) = (body.position(), body.rotation(), body.velocity());
            let (l, w) = (v.linear, v.angular);
            json!({
                "x": p.x, "y": p.y, "z": p.z, "qx": q.x, "qy": q.y, "qz": q.z, "qw": q.w,
                "vx": l.x, "vy": l.y, "vz": l.z, "wx": w.x, "wy": w.y, "wz": w.z,
                "mass_kg": body.mass_properties().mass,
                "friction": body.material().friction, "restitution": body.material().restitution,
            })
        })
        .collect();
    let contacts: Vec<Value> = world
        .contacts()
        .iter()
        .map(|c| {
            json!({
                "a": c.a.index, "b": c.b.index,
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
        })
        .collect();
    json!({
        "figures": {
            "kinetic_j": report.kinetic_energy, "potential_j": report.potential_energy,
            "contact_points": report.contact_points, "residual_m_s": report.residual,
            "max_penetration_m": report.max_penetration, "sweeps": report.sweeps,
            "islands": report.islands, "total_s": report.seconds, "solve_s": times.solve,
            "narrow_s": times.narrow_phase, "broad_s": times.broad_phase,
        },
        "bodies": bodies,
        "contacts": contacts,
        "islands": islands(world),
    })
}
