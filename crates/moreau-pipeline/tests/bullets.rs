//! Bullets take their impacts one after the other, each where and when it happens.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, vec3};
use moreau_pipeline::{Body, BodyId, Joint, Sleeping, World, WorldSettings};
use random::Random;

const STEPS: [f64; 2] = [1.0 / 60.0, 1.0 / 240.0];

fn weightless() -> World {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    World::new(settings).unwrap()
}

fn position(world: &World, id: BodyId) -> Vec3 {
    world.body(id).unwrap().position()
}

fn linear(world: &World, id: BodyId) -> Vec3 {
    world.body(id).unwrap().velocity().linear
}

fn momentum(world: &World) -> Vec3 {
    let dynamic = world.bodies().filter(|b| b.mass_properties().mass > 0.0);
    let each = dynamic.map(|b| b.velocity().linear * b.mass_properties().mass);
    each.fold(Vec3::ZERO, |sum, p| sum + p)
}

/// About the origin.
fn angular_momentum(world: &World) -> Vec3 {
    let dynamic = world.bodies().filter(|b| b.mass_properties().mass > 0.0);
    let each = dynamic.map(|b| {
        let (m, v) = (b.mass_properties(), b.velocity());
        let q = b.rotation();
        let spin = q * m.inertia.mul_vec(q.conjugate() * v.angular);
        b.center_of_mass().cross(v.linear * m.mass) + spin
    });
    each.fold(Vec3::ZERO, |sum, l| sum + l)
}

/// Balls on a line, moved by what follows from one impact of two after the other.
struct Line {
    /// Centres and velocities.
    x: Vec<f64>,
    v: Vec<f64>,
    m: Vec<f64>,
    radius: f64,
    e: f64,
    /// Whether not only the first is a bullet.
    all: bool,
}

impl Line {
    /// Moves on by `t`; returns how many impacts there were.
    fn advance(&mut self, mut t: f64) -> usize {
        let mut impacts = 0;
        loop {
            let next = (0..self.x.len() - 1).filter_map(|i| {
                let gap = self.x[i + 1] - self.x[i] - 2.0 * self.radius;
                let close = self.v[i] - self.v[i + 1];
                (close > 0.0).then(|| ((gap / close).max(0.0), i))
            });
            let next = next.reduce(|a, b| if b.0 < a.0 { b } else { a });
            let wait = next.map_or(t, |n| n.0.min(t));
            self.x
                .iter_mut()
                .zip(&self.v)
                .for_each(|(x, v)| *x += v * wait);
            t -= wait;
            let Some((_, i)) = next.filter(|_| t > 0.0) else {
                return impacts;
            };
            let (a, b) = (self.m[i], self.m[i + 1]);
            let impulse = (1.0 + self.e) * (self.v[i] - self.v[i + 1]) * a * b / (a + b);
            self.v[i] -= impulse / a;
            self.v[i + 1] += impulse / b;
            impacts += 1;
        }
    }

    /// The same in a world: placed by `pose`, added in the order `order`, ball 0 a bullet.
    fn world(&self, pose: &Pose, order: &[usize]) -> (World, Vec<BodyId>) {
        let mut world = weightless();
        let mut ids = vec![BodyId::default(); self.x.len()];
        for &i in order {
            let mut ball = Body::dynamic(Shape::sphere(self.radius))
                .mass(self.m[i])
                .friction(0.0)
                .restitution(self.e)
                .at(pose.transform_point(Vec3::X * self.x[i]))
                .moving(pose.rotation * Vec3::X * self.v[i], Vec3::ZERO);
            ball.bullet = i == 0 || self.all;
            ids[i] = world.add(ball).unwrap();
        }
        (world, ids)
    }
}

/// Balls in a row, the first of which strikes: with small gaps and equal masses the speed goes through.
#[test]
fn a_row_with_gaps_passes_the_speed_on() {
    let mut random = Random(1);
    for dt in STEPS {
        for (count, gap, speed) in [
            (3, 1e-3, 5.0),
            (3, 1e-3, 1.0),
            (5, 1e-3, 1.0),
            (8, 2e-4, 3.0),
            (4, 5e-3, 30.0),
            (2, 1e-3, 200.0),
        ] {
            let radius = random.range(0.01, 0.5);
            let pitch = 2.0 * radius + gap;
            let mut line = Line {
                x: (0..count).map(|i| pitch * i as f64).collect(),
                v: vec![0.0; count],
                m: vec![random.range(0.1, 10.0); count],
                radius,
                e: 1.0,
                all: false,
            };
            line.v[0] = speed;
            let pose = random.pose();
            let (mut world, ids) = line.world(&pose, &random.order(count));
            for _ in 0..(0.2 / dt) as u32 {
                world.step(dt).unwrap();
            }
            for (i, id) in ids.iter().enumerate() {
                let right = if i + 1 == count { speed } else { 0.0 };
                let v = pose.rotation.conjugate() * linear(&world, *id);
                let off = (v - Vec3::X * right).length();
                assert!(off < 1e-7 * speed, "ball {i} of {count}: {v}, {dt} s");
            }
        }
    }
}

/// Rows of any masses and restitution against impacts worked out one by one.
#[test]
fn rows_go_as_impacts_one_by_one() {
    let mut random = Random(2);
    let mut most = 0;
    for dt in STEPS {
        for case in 0..60 {
            let count = 2 + (random.unit() * 5.0) as usize;
            let radius = random.range(0.02, 0.3);
            let speed = random.range(1.0, 100.0);
            let mut x = Vec::new();
            let mut at = 0.0;
            for _ in 0..count {
                x.push(at);
                at += 2.0 * radius + random.range(0.02, 1.0) * speed * dt;
            }
            let mut line = Line {
                x,
                v: (0..count)
                    .map(|_| random.range(-0.3, 0.3) * speed)
                    .collect(),
                m: (0..count).map(|_| random.range(0.3, 3.0)).collect(),
                radius,
                e: random.range(0.4, 1.0),
                all: true,
            };
            line.v[0] = speed;
            let pose = random.pose();
            let (mut world, ids) = line.world(&pose, &random.order(count));
            let before = momentum(&world);
            for step in 0..8 {
                // Beyond this many a step takes the rest at once.
                let impacts = line.advance(dt);
                most = most.max(impacts);
                let report = world.step(dt).unwrap();
                assert!(
                    report.ordered_impacts < 32,
                    "{} impacts",
                    report.ordered_impacts
                );
                for (i, id) in ids.iter().enumerate() {
                    let x = pose.inverse().transform_point(position(&world, *id));
                    let v = pose.rotation.conjugate() * linear(&world, *id);
                    let off = (x - Vec3::X * line.x[i]).length();
                    let wrong = (v - Vec3::X * line.v[i]).length();
                    assert!(
                        off < 1e-6 * speed * dt && wrong < 1e-6 * speed,
                        "case {case}, step {step} of {dt} s, ball {i} of {count}: off {off} m, {wrong} m/s"
                    );
                }
                let lost = (momentum(&world) - before).length();
                assert!(lost < 1e-10 * before.length(), "momentum off by {lost}");
            }
        }
    }
    assert!(most >= 4, "no step had more than {most} impacts");
}

/// A ball between two walls, several bounces a step: a triangle wave.
#[test]
fn a_ball_between_walls_bounces_many_times_a_step() {
    let mut random = Random(3);
    for dt in STEPS {
        for (speed, width) in [(30.0, 0.6), (100.0, 0.7), (300.0, 1.1), (300.0, 40.0)] {
            let pose = random.pose();
            let mut world = weightless();
            let radius = 0.05;
            for side in [-1.0, 1.0] {
                let wall = Body::fixed(Shape::cuboid(0.01, 30.0, 30.0)).restitution(1.0);
                let x = side * (0.5 * width + radius + 0.01);
                let wall = wall
                    .at(pose.transform_point(Vec3::X * x))
                    .rotated(pose.rotation);
                world.add(wall.friction(0.0)).unwrap();
            }
            let slant = vec3(speed, 0.1 * speed, 0.0);
            let ball = Body::dynamic(Shape::sphere(radius))
                .restitution(1.0)
                .friction(0.0);
            let ball = ball.at(pose.translation).bullet();
            let id = world
                .add(ball.moving(pose.rotation * slant, Vec3::ZERO))
                .unwrap();
            let mut impacts = 0;
            for step in 1..=10 {
                impacts += world.step(dt).unwrap().ordered_impacts;
                let t = dt * f64::from(step);
                // From the left wall, there and back.
                let way = (speed * t + 0.5 * width) % (2.0 * width);
                let right = if way < width { way } else { 2.0 * width - way } - 0.5 * width;
                let right = vec3(right, slant.y * t, 0.0);
                let at = pose.inverse().transform_point(position(&world, id));
                let off = (at - right).length();
                assert!(off < 1e-6, "{speed} m/s, {dt} s, step {step}: off {off}");
                let v = pose.rotation.conjugate() * linear(&world, id);
                assert!((v.abs() - slant.abs()).length() < 1e-9 * speed, "{v}");
            }
            let bounces = (10.0 * dt * speed / width) as usize;
            assert!(impacts >= bounces, "{impacts} of {bounces} impacts");
        }
    }
}

/// Off a wall into a ball that no free path comes near: the law of reflection, then the elastic impact
/// of equal balls, in which the velocity along the line of centres goes over.
#[test]
fn a_ricochet_strikes_what_the_free_path_misses() {
    let mut random = Random(4);
    for dt in STEPS {
        for sleeps in [false, true] {
            for _ in 0..10 {
                let speed = random.range(50.0, 300.0);
                let way = speed * dt;
                let radius = 0.02;
                let settings = WorldSettings {
                    gravity: Vec3::ZERO,
                    sleeping: sleeps.then(Sleeping::default),
                    ..WorldSettings::default()
                };
                let mut world = World::new(settings).unwrap();
                let pose = random.pose();
                let place = |p: Vec3| pose.transform_point(p);
                let wall = Body::fixed(Shape::cuboid(100.0, 0.1, 100.0)).restitution(1.0);
                let wall = wall.at(place(vec3(0.0, -0.1, 0.0))).rotated(pose.rotation);
                let ball = || {
                    Body::dynamic(Shape::sphere(radius))
                        .restitution(1.0)
                        .friction(0.0)
                };
                let d = vec3(0.6, -0.8, 0.0);
                let up = vec3(0.6, 0.8, 0.0);
                // Touches the wall after 0.3 steps at x = 0, and the other after 0.7 steps, off centre.
                let foot = vec3(0.0, radius, 0.0);
                let start = foot - d * (0.3 * way);
                let met = foot + up * (0.4 * way);
                let turn = random.range(-0.9, 0.9);
                let line = Quat::from_axis_angle(Vec3::Z, turn) * up;
                let target = ball().at(place(met + line * (2.0 * radius)));
                let bullet = ball().at(place(start)).bullet();
                let bullet = bullet.moving(pose.rotation * d * speed, Vec3::ZERO);
                let mut ids = Vec::new();
                let mut bodies = vec![(0, wall.friction(0.0)), (1, bullet), (2, target)];
                if random.unit() < 0.5 {
                    bodies.reverse();
                }
                for (k, body) in bodies {
                    ids.push((k, world.add(body).unwrap()));
                }
                ids.sort_by_key(|(k, _)| *k);
                let (bullet, target) = (ids[1].1, ids[2].1);
                if sleeps {
                    world.put_to_sleep(target).unwrap();
                }
                world.step(dt).unwrap();
                let v = [bullet, target].map(|id| pose.rotation.conjugate() * linear(&world, id));
                let given = line * (speed * line.dot(up));
                let off = (v[1] - given)
                    .length()
                    .max((v[0] - (up * speed - given)).length());
                assert!(
                    off < 1e-5 * speed,
                    "{speed} m/s, {dt} s: {v:?}, right {given}"
                );
                let x =
                    [bullet, target].map(|id| pose.inverse().transform_point(position(&world, id)));
                let right = [
                    met + v[0] * (0.3 * dt),
                    met + line * (2.0 * radius) + v[1] * (0.3 * dt),
                ];
                for (x, right) in x.iter().zip(right) {
                    assert!((*x - right).length() < 1e-5 * way, "{x}, right {right}");
                }
                assert!(!world.is_sleeping(target).unwrap());
            }
        }
    }
}

/// Two balls head on at 200 m/s: velocities swap, and so do the ways that are left.
#[test]
fn two_bullets_head_on_swap_their_velocities() {
    let mut random = Random(5);
    for dt in STEPS {
        for count in 1..=2 {
            let pose = random.pose();
            let (radius, speed) = (random.range(0.01, 0.3), 200.0);
            let apart = 2.0 * radius + speed * dt * random.range(0.3, 3.0);
            let mut world = weightless();
            let ids = [-1.0, 1.0].map(|side| {
                let mut ball = Body::dynamic(Shape::sphere(radius)).restitution(1.0);
                ball.bullet = side < 0.0 || count == 2;
                let ball = ball.at(pose.transform_point(Vec3::X * (0.5 * side * apart)));
                let v = pose.rotation * Vec3::X * (-side * speed);
                world.add(ball.moving(v, Vec3::ZERO)).unwrap()
            });
            for _ in 0..4 {
                world.step(dt).unwrap();
            }
            for (id, side) in ids.into_iter().zip([-1.0, 1.0]) {
                let v = pose.rotation.conjugate() * linear(&world, id);
                assert!((v - Vec3::X * side * speed).length() < 1e-11 * speed, "{v}");
                // There and back.
                let x = pose.inverse().transform_point(position(&world, id)).x;
                let right = side * (4.0 * dt * speed - 0.5 * apart + 2.0 * radius);
                assert!((x - right).abs() < 1e-7, "{x}, right {right}");
            }
        }
    }
}

/// A bullet through the middle of a free thin plate that comes towards it, with walls behind either:
/// the impact of two masses on a line, then each alone.
#[test]
fn a_bullet_meets_a_thin_plate_that_moves() {
    let mut random = Random(6);
    for dt in STEPS {
        for case in 0..20 {
            let pose = random.pose();
            let (m, plate_mass) = (random.range(0.01, 0.1), random.range(0.2, 2.0));
            let (speed, against) = (random.range(50.0, 400.0), random.range(-40.0, 100.0));
            let e = random.range(0.0, 1.0);
            let half = random.range(5e-4, 2e-3);
            let mut world = weightless();
            let plate = Body::dynamic(Shape::cuboid(half, 0.3, 0.3)).mass(plate_mass);
            let plate = plate.restitution(e).friction(0.3).at(pose.translation);
            let plate = plate.rotated(pose.rotation);
            let plate = plate.moving(pose.rotation * Vec3::X * -against, Vec3::ZERO);
            let radius = 0.01;
            let start = -half - radius - (speed + against) * dt * random.range(0.1, 0.9);
            let ball = Body::dynamic(Shape::sphere(radius)).mass(m).restitution(e);
            let ball = ball
                .friction(0.3)
                .bullet()
                .at(pose.transform_point(Vec3::X * start));
            let ball = ball.moving(pose.rotation * Vec3::X * speed, Vec3::ZERO);
            let (ball, plate) = if case % 2 == 0 {
                (world.add(ball).unwrap(), world.add(plate).unwrap())
            } else {
                let plate = world.add(plate).unwrap();
                (world.add(ball).unwrap(), plate)
            };
            world.step(dt).unwrap();
            let common = (m * speed - plate_mass * against) / (m + plate_mass);
            let apart = e * (speed + against) / (m + plate_mass);
            let right = [common - apart * plate_mass, common + apart * m];
            let t = (-half - radius - start) / (speed + against);
            let meet = -against * t;
            let places = [meet - half - radius, meet];
            for ((id, v), x) in [ball, plate].into_iter().zip(right).zip(places) {
                let got = pose.rotation.conjugate() * linear(&world, id);
                assert!(
                    (got - Vec3::X * v).length() < 1e-8 * speed,
                    "case {case}: {got}, right {v}"
                );
                let at = pose.inverse().transform_point(position(&world, id));
                let x = x + v * (dt - t);
                assert!(
                    (at - Vec3::X * x).length() < 1e-6,
                    "case {case}: {at}, right {x}"
                );
            }
        }
    }
}

/// A rod that spins in place and strikes balls in its way, elastic and smooth: all that is kept is kept.
#[test]
fn a_spinning_rod_strikes_and_nothing_is_lost() {
    let mut random = Random(7);
    for dt in STEPS {
        for spin in [10.0, 60.0, 100.0] {
            let pose = random.pose();
            let mut world = weightless();
            let rod = Body::dynamic(Shape::cuboid(1.0, 0.02, 0.02))
                .mass(2.0)
                .restitution(1.0);
            let rod = rod
                .friction(0.0)
                .bullet()
                .at(pose.translation)
                .rotated(pose.rotation);
            let turn = pose.rotation * Vec3::Z * spin;
            let rod = world.add(rod.moving(Vec3::ZERO, turn)).unwrap();
            let ids = [0.4, 0.7, 1.1].map(|angle: f64| {
                let at = Quat::from_axis_angle(Vec3::Z, angle) * (Vec3::X * random.range(0.5, 0.9));
                let ball = Body::dynamic(Shape::sphere(0.05))
                    .mass(0.2)
                    .restitution(1.0);
                let ball = ball.friction(0.0).bullet().at(pose.transform_point(at));
                (world.add(ball).unwrap(), at)
            });
            let (energy, l) = (world.kinetic_energy(), angular_momentum(&world));
            let steps = (1.5 / spin / dt).ceil() as u32 + 1;
            for _ in 0..steps {
                world.step(dt).unwrap();
            }
            for (id, _) in ids.iter().take(1) {
                assert!(
                    linear(&world, *id).length() > 0.1 * spin,
                    "the first was not struck"
                );
            }
            let lost = (world.kinetic_energy() / energy - 1.0).abs();
            assert!(lost < 1e-6, "{spin} rad/s, {dt} s: energy off by {lost}");
            assert!(
                momentum(&world).length() < 1e-9 * spin,
                "{}",
                momentum(&world)
            );
            let off = (angular_momentum(&world) - l).length() / l.length();
            assert!(
                off < 1e-6,
                "{spin} rad/s, {dt} s: angular momentum off by {off}"
            );
            assert!(world.body(rod).unwrap().is_bullet());
        }
    }
}

/// The row as a cradle: balls on strings, the first of which is let go.
#[test]
fn a_cradle_on_strings_passes_the_swing_on() {
    for dt in STEPS {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let (radius, gap, length) = (0.05, 1e-4, 1.0);
        let hook = world
            .add(Body::fixed(Shape::sphere(0.001)).at(vec3(0.0, 5.0, 0.0)))
            .unwrap();
        let mut ids = Vec::new();
        for i in 0..5 {
            let top = vec3((2.0 * radius + gap) * f64::from(i), 0.0, 0.0);
            let angle: f64 = if i == 0 { -0.3 } else { 0.0 };
            let swing = Quat::from_axis_angle(Vec3::Z, angle) * (Vec3::NEG_Y * length);
            let mut ball = Body::dynamic(Shape::sphere(radius))
                .restitution(1.0)
                .friction(0.0);
            ball.bullet = i == 0 || i == 4;
            let ball = world.add(ball.at(top + swing)).unwrap();
            let anchor = top - vec3(0.0, 5.0, 0.0);
            world
                .add_joint(Joint::distance(hook, anchor, ball, Vec3::ZERO, length))
                .unwrap();
            ids.push((ball, top));
        }
        // The first ball is down after a quarter of the period, and the last one up after half of it.
        let mut highest: f64 = 0.0;
        for _ in 0..(1.1 / dt) as u32 {
            world.step(dt).unwrap();
            let (last, top) = ids[4];
            let out = (position(&world, last) - top).x;
            highest = highest.max(out);
            for (id, top) in &ids[1..4] {
                let out = (position(&world, *id) - *top).x.abs();
                assert!(out < 2e-3, "{dt} s: a ball between swings out by {out}");
            }
        }
        let right = 0.295520;
        assert!(
            (highest - right).abs() < 0.01 * right,
            "{dt} s: {highest}, right {right}"
        );
    }
}

/// Where nothing strikes the flag changes no bit; and a step after a restore has the bits of one without.
#[test]
fn the_flag_costs_nothing_at_rest_and_is_restored() {
    let build = |bullet: bool| {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for i in 0..4 {
            let mut body = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
            body.bullet = bullet;
            world
                .add(body.at(vec3(0.0, 0.5 + f64::from(i), 0.0)))
                .unwrap();
        }
        world
    };
    let (mut with, mut without) = (build(true), build(false));
    assert_ne!(
        with.hash().poses,
        without.hash().poses,
        "the flag is hashed"
    );
    for _ in 0..30 {
        assert_eq!(with.step(1.0 / 60.0).unwrap().ordered_impacts, 0);
        without.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(with.hash().contacts, without.hash().contacts);
    for (a, b) in with.bodies().zip(without.bodies()) {
        assert_eq!(a.pose(), b.pose());
        assert_eq!(a.velocity(), b.velocity());
    }
    // A shot into the pile, restored before every step.
    let shot = Body::dynamic(Shape::sphere(0.1))
        .at(vec3(-6.0, 1.3, 0.1))
        .bullet();
    let id = with
        .add(shot.moving(vec3(120.0, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    let mut other = World::from_snapshot(&with.snapshot()).unwrap();
    assert!(other.body(id).unwrap().is_bullet());
    let mut parts = 0;
    for _ in 0..30 {
        other = World::from_snapshot(&other.snapshot()).unwrap();
        let report = with.step(1.0 / 60.0).unwrap();
        let again = other.step(1.0 / 60.0).unwrap();
        parts += report.ordered_impacts;
        assert_eq!(report.ordered_impacts, again.ordered_impacts);
        assert_eq!(with.hash(), other.hash());
    }
    assert!(parts > 0, "the shot met nothing");
    with.set_bullet(id, false).unwrap();
    assert!(!with.body(id).unwrap().is_bullet());
}
