//! Records a world in which bodies and a joint come, change and go, from its 20th step on, with steps of
//! two lengths and the contacts of every third: what a recording may hold, and scenes never do.
//!
//! ```sh
//! cargo run -p moreau-record --example coming_and_going -- out/changes.sqlite
//! cargo run -p moreau-cli -- view out/changes.sqlite
//! ```

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, Joint, World, WorldSettings};
use moreau_record::{Ending, Recorder, RecorderSettings, RunDescription};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [file] = &arguments[..] else {
        return Err("usage: coming_and_going FILE".into());
    };
    let mut world = World::new(WorldSettings::default())?;
    let floor = world.add(Body::fixed(Shape::half_space(Vec3::Y)))?;
    let ramp = Body::fixed(Shape::cuboid(1.0, 0.1, 1.0)).at(vec3(3.0, 1.0, 0.0));
    let ramp = world.add(ramp)?;
    let cube = || Shape::cuboid(0.5, 0.5, 0.5);
    let mut tower = Vec::new();
    for level in 0..4 {
        let height = 0.5 + f64::from(level);
        tower.push(world.add(Body::dynamic(cube()).at(vec3(0.0, height, 0.0)))?);
    }
    let bob = world.add(Body::dynamic(Shape::sphere(0.3)).at(vec3(-2.0, 3.0, 0.0)))?;
    let hinge = Joint::ball(floor, vec3(-3.5, 4.0, 0.0), bob, vec3(-1.5, 1.0, 0.0));
    let hinge = world.add_joint(hinge)?;
    let on_ramp = Body::dynamic(Shape::sphere(0.3)).at(vec3(3.0, 1.4, 0.0));
    world.add(on_ramp)?;
    let dt = |step: u64| {
        if step.is_multiple_of(2) {
            1.0 / 60.0
        } else {
            1.0 / 120.0
        }
    };
    for step in 0..20 {
        world.step(dt(step))?;
    }
    let about = RunDescription {
        scene: "coming and going".into(),
        names: vec![(floor, "floor".into()), (bob, "bob".into())],
        threads: 1,
        ..RunDescription::default()
    };
    let settings = RecorderSettings {
        contacts_every: 3,
        ..RecorderSettings::default()
    };
    let mut recorder = Recorder::create(file, &world, &about, settings)?;
    for step in 20..140 {
        match step {
            40 => {
                let thrown = Body::dynamic(Shape::sphere(0.4)).at(vec3(-4.0, 1.5, 0.2));
                world.add(thrown.moving(vec3(6.0, 1.0, 0.0), Vec3::ZERO))?;
            }
            60 => world.remove(tower[3])?,
            70 => world.remove_joint(hinge)?,
            80 => {
                let mut rougher = world.body(tower[0])?.material();
                rougher.friction = 0.9;
                world.set_material(tower[0], rougher)?;
            }
            100 => world.remove(ramp)?,
            _ => {}
        }
        let report = world.step(dt(step))?;
        recorder.record(&world, &report)?;
    }
    recorder.finish(Ending::Finished, None)?;
    Ok(())
}
