//! A pile of every kind of shape stays in its container.

use moreau::math::libm;
use moreau::{Body, BodyId, Pose, Quat, Shape, Vec3, World, WorldSettings, vec3};

const DT: f64 = 1.0 / 60.0;
/// Half the inner width of the container, m.
const HALF: f64 = 1.6;
/// Height of its walls, m.
const HEIGHT: f64 = 8.0;

/// One of each kind that moves, about 0.5 m in size.
fn shapes(size: f64) -> Vec<(&'static str, Shape)> {
    let tip = size / 3.0_f64.sqrt();
    let corners = [
        vec3(tip, tip, tip),
        vec3(tip, -tip, -tip),
        vec3(-tip, tip, -tip),
        vec3(-tip, -tip, tip),
    ];
    let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    let lump: Vec<Vec3> = (0..14)
        .map(|i| {
            let (a, y) = (2.4 * f64::from(i), f64::from(i) / 6.5 - 1.0);
            let r = (1.0 - y * y).max(0.0).sqrt();
            vec3(r * libm::cos(a), y, r * libm::sin(a)) * size
        })
        .collect();
    let bar = |x: f64, y: f64| Pose::from_translation(vec3(x, y, 0.0));
    let tee = Shape::compound(&[
        (
            Shape::cuboid(size, 0.3 * size, 0.3 * size),
            bar(0.0, 0.5 * size),
        ),
        (
            Shape::capsule(0.6 * size, 0.25 * size),
            bar(0.0, -0.4 * size),
        ),
    ]);
    vec![
        ("sphere", Shape::sphere(0.8 * size)),
        ("box", Shape::cuboid(0.9 * size, 0.6 * size, 0.7 * size)),
        ("capsule", Shape::capsule(0.6 * size, 0.5 * size)),
        ("cylinder", Shape::cylinder(0.6 * size, 0.7 * size)),
        ("cone", Shape::cone(0.8 * size, 0.8 * size)),
        ("hull", Shape::hull(&lump).unwrap()),
        ("mesh", Shape::mesh(&corners, &faces).unwrap()),
        ("compound", tee.unwrap()),
    ]
}

/// Ground of every kind that can be one: a half-space, a mesh or a heightfield; walls of boxes.
fn container(ground: usize) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let w = HALF + 0.5;
    let floor = match ground {
        0 => Body::fixed(Shape::half_space(Vec3::Y)),
        1 => {
            let corners = [
                vec3(-w, 0.0, -w),
                vec3(w, 0.0, -w),
                vec3(w, 0.0, w),
                vec3(-w, 0.0, w),
            ];
            Body::fixed(Shape::mesh(&corners, &[[0, 2, 1], [0, 3, 2]]).unwrap())
        }
        _ => {
            let heights = (0..49).map(|i| 0.1 * f64::from(i % 3)).collect();
            let field = Shape::heightfield(7, 7, heights, [2.0 * w / 6.0, 2.0 * w / 6.0]);
            Body::fixed(field.unwrap()).at(vec3(-w, 0.0, -w))
        }
    };
    world.add(floor).unwrap();
    for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let far = HALF + 0.25;
        let size = vec3(0.25 + 2.0 * z * z, 0.5 * HEIGHT + 1.0, 0.25 + 2.0 * x * x);
        let wall = Shape::cuboid(size.x, size.y, size.z);
        let at = vec3(x * far, 0.5 * HEIGHT - 1.0, z * far);
        world.add(Body::fixed(wall).at(at)).unwrap();
    }
    world
}

fn inside(at: Vec3) -> bool {
    at.is_finite() && at.x.abs() < HALF && at.z.abs() < HALF && at.y > 0.0 && at.y < HEIGHT
}

#[test]
fn a_pile_of_all_shapes_stays_in_its_container() {
    for ground in 0..3 {
        let mut world = container(ground);
        let mut bodies: Vec<(BodyId, &str)> = Vec::new();
        for layer in 0..8 {
            let kinds = shapes(0.2 + 0.02 * f64::from(layer));
            for (i, (name, shape)) in kinds.into_iter().enumerate() {
                let (column, row) = ((i % 3) as f64 - 1.0, (i / 3) as f64 - 1.0);
                let at = vec3(column, 1.0 + 0.8 * f64::from(layer), row);
                let turn = vec3(0.7 * i as f64, 0.3 * f64::from(layer), 1.1);
                let body = Body::dynamic(shape)
                    .at(at)
                    .rotated(Quat::from_scaled_axis(turn));
                let speed = vec3(-column, -2.0, row);
                bodies.push((world.add(body.moving(speed, turn)).unwrap(), name));
            }
        }
        let mut deepest = 0.0_f64;
        let mut least = f64::INFINITY;
        // A step of a body that tips or rolls up may gain m a · a h²/2 with a at most g: now and then one does
        // in the settling pile, and which depends on the last digits.
        let masses = world.bodies().map(|b| b.mass_properties().mass);
        let slack = 0.5 * masses.fold(0.0, f64::max) * (9.81 * DT) * (9.81 * DT);
        let steps = 600;
        for step in 0..steps {
            let report = world.step(DT).unwrap();
            for (id, name) in &bodies {
                let at = world.body(*id).unwrap().center_of_mass();
                assert!(
                    inside(at),
                    "ground {ground}, step {step}: a {name} at {at:?}"
                );
            }
            let energy = report.kinetic_energy + report.potential_energy;
            assert!(
                energy <= least + slack,
                "ground {ground}, step {step}: {energy} J, {least} before"
            );
            least = least.min(energy);
            if step >= steps - 60 {
                deepest = deepest.max(report.max_penetration);
            }
        }
        assert!(deepest < 2e-3, "ground {ground}: {deepest:e}");
    }
}
