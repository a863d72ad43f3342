//! Bullets over bumpy ground: several impacts a step, each where and when it happens.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};
use random::Random;

/// Two plates of bumps that face each other, 1 m apart, 60 m long: as a heightfield or as a mesh.
struct Gully {
    ground: Shape,
    size: [f64; 2],
}

impl Gully {
    fn new(random: &mut Random, as_mesh: bool) -> Self {
        let (rows, columns, spacing) = (25, 25, 2.5);
        let heights = (0..rows * columns)
            .map(|_| random.range(0.0, 0.3))
            .collect();
        let field = Shape::heightfield(rows, columns, heights, [spacing, spacing]).unwrap();
        let Shape::Heightfield(tables) = &field else {
            unreachable!()
        };
        let triangles: Vec<[u32; 3]> = tables.triangles().collect();
        let mesh = Shape::mesh(tables.vertices(), &triangles).unwrap();
        let size = [(columns - 1) as f64 * spacing, (rows - 1) as f64 * spacing];
        Self {
            ground: if as_mesh { mesh } else { field },
            size,
        }
    }

    fn world(&self, turn: Quat, bullet: Option<(Vec3, Vec3)>) -> (World, Option<BodyId>) {
        let settings = WorldSettings {
            gravity: Vec3::ZERO,
            ..WorldSettings::default()
        };
        let mut world = World::new(settings).unwrap();
        let [x, z] = self.size.map(|s| 0.5 * s);
        let below = Body::fixed(self.ground.clone()).at(turn * vec3(-x, 0.0, -z));
        let below = below.rotated(turn).restitution(1.0).friction(0.0);
        world.add(below).unwrap();
        let over = turn * Quat::from_rotation_x(std::f64::consts::PI);
        let above = Body::fixed(self.ground.clone()).at(turn * vec3(-x, 1.0, z));
        let above = above.rotated(over).restitution(1.0).friction(0.0);
        world.add(above).unwrap();
        let id = bullet.map(|(at, velocity)| {
            let ball = Body::dynamic(Shape::sphere(0.03))
                .restitution(1.0)
                .friction(0.0);
            let ball = ball.at(turn * at).moving(turn * velocity, Vec3::ZERO);
            world.add(ball.bullet()).unwrap()
        });
        (world, id)
    }
}

/// A smooth elastic ball between bumps: steps of 1/60 and 1/240 s against steps in which it has one
/// impact at most, which are right without bullets.
#[test]
fn a_ball_between_bumps_goes_as_in_fine_steps() {
    let mut random = Random(11);
    let (mut impacts, mut most) = (0, 0);
    for case in 0..24 {
        let gully = Gully::new(&mut random, case % 2 == 0);
        let turn = Quat::from_axis_angle(
            vec3(random.unit(), random.unit(), 1.0).normalize(),
            random.range(-2.0, 2.0),
        );
        let speed = [30.0, 100.0, 300.0][case % 3];
        let dt = [1.0 / 60.0, 1.0 / 240.0][case / 3 % 2];
        let way = vec3(random.range(-0.6, 0.6), -1.0, random.range(-0.6, 0.6)).normalize();
        let start = vec3(random.range(-3.0, 3.0), 0.5, random.range(-3.0, 3.0));
        let (mut world, id) = gully.world(turn, Some((start, way * speed)));
        let (mut fine, _) = gully.world(turn, Some((start, way * speed)));
        fine.set_bullet(id.unwrap(), false).unwrap();
        let id = id.unwrap();
        let parts = (speed * dt / 2e-3).ceil();
        let steps = (4.0 / (speed * dt)).ceil() as usize;
        for step in 0..steps {
            let report = world.step(dt).unwrap();
            impacts += report.ordered_impacts;
            for _ in 0..parts as usize {
                fine.step(dt / parts).unwrap();
            }
            let [a, b] = [&world, &fine].map(|w| {
                let body = w.body(id).unwrap();
                (body.position(), body.velocity().linear)
            });
            let energy = (a.1.length() / speed - 1.0).abs();
            assert!(energy < 1e-9, "case {case}: speed off by {energy}");
            let height = (turn.conjugate() * a.0).y;
            assert!(
                (0.0..1.0).contains(&height),
                "case {case}, step {step}: at {height} m"
            );
            let off = (a.0 - b.0).length();
            let wrong = (a.1 - b.1).length() / speed;
            assert!(
                off < 1e-9 && wrong < 1e-9,
                "case {case}, step {step}: off {off} m, {wrong} of the speed"
            );
            most = most.max(report.ordered_impacts);
        }
    }
    assert!(
        impacts > 100 && most > 5,
        "{impacts} impacts, {most} in a step"
    );
}
