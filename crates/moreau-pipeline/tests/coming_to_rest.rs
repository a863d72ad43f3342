//! What bounces on several points, or on several bodies, in one step: it gains no energy, and comes to rest when it
//! should.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, BodyKind, Joint, JointKind, StepReport, World, WorldSettings};
use random::Random;

const G: f64 = 9.81;

/// A world with ground.
fn ground(restitution: f64) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let ground = Body::fixed(Shape::half_space(Vec3::Y)).friction(0.5);
    world.add(ground.restitution(restitution)).unwrap();
    world
}

fn body(shape: Shape, restitution: f64) -> Body {
    Body::dynamic(shape).friction(0.5).restitution(restitution)
}

/// By how much the energy may have grown in a step, J: overlaps are lifted out, and bodies on a contact go straight
/// where the way is an arc.
fn allowed(world: &World, report: &StepReport) -> f64 {
    let slop = world.settings().position_correction.slop;
    let lift = 0.2 * (report.max_penetration - slop).max(0.0);
    let dynamic = world.bodies().filter(|b| b.kind() == BodyKind::Dynamic);
    let lifted = dynamic.map(|body| {
        let turn = body.velocity().angular.length() * report.dt;
        let arc = 0.5 * body.shape().bounding_radius() * turn * turn;
        body.mass_properties().mass * G * (lift + arc)
    });
    let rounding = 1e-12 * (report.kinetic_energy + report.potential_energy.abs());
    lifted.sum::<f64>() + rounding + 1e-9
}

/// Steps for `seconds`; returns the last time (s) at which anything moved, and by how much the energy grew in all steps
/// in which it did.
fn run(world: &mut World, dt: f64, seconds: f64, what: &str) -> (f64, f64) {
    let (mut moved, mut grown, mut before) = (0.0, 0.0, f64::INFINITY);
    while world.time() < seconds {
        let report = world.step(dt).unwrap();
        let energy = report.kinetic_energy + report.potential_energy;
        let most = before + allowed(world, &report);
        assert!(
            energy <= most,
            "{what}, {:.3} s: {before} to {energy} J, {most} allowed",
            world.time()
        );
        grown += (energy - before).max(0.0);
        before = energy;
        let fastest = world.bodies().map(|b| {
            let v = b.velocity();
            v.linear.length().max(v.angular.length())
        });
        if fastest.fold(0.0, f64::max) > 1e-5 {
            moved = world.time();
        }
    }
    (moved, grown)
}

/// A face that lands on all of its corners at once is as a ball: the sum of all flights from the height d is
/// sqrt(2 d/g)(1 + e)/(1 - e). Where the corners land by turns some energy becomes that of rocking, and back; that takes
/// up to half as long again.
#[test]
fn faces_come_to_rest_in_the_time_of_a_ball() {
    let shapes = [
        ("box", Shape::cuboid(0.1, 0.1, 0.1), 0.1),
        ("plate", Shape::cuboid(0.2, 0.03, 0.15), 0.03),
        ("cylinder", Shape::cylinder(0.1, 0.1), 0.1),
    ];
    for (name, shape, half) in shapes {
        for e in [0.5, 0.8, 0.9] {
            for dt in [1.0 / 60.0, 1.0 / 240.0] {
                for (tilt, yaw) in [(0.0, 0.0), (0.001, 1.0), (0.02, 2.0), (0.1, 0.3)] {
                    let what = format!("{name}, e {e}, dt {dt:.4}, tilt {tilt}");
                    let mut world = ground(e);
                    let turned = rotation_from_vector(vec3(0.0, yaw, 0.0))
                        * rotation_from_vector(vec3(tilt, 0.0, 0.0));
                    let falling = body(shape.clone(), e).rotated(turned);
                    world.add(falling.at(Vec3::Y * (1.0 + half))).unwrap();
                    let flights = (2.0 / G).sqrt() * (1.0 + e) / (1.0 - e);
                    let (moved, _) = run(&mut world, dt, 2.0 * flights, &what);
                    assert!(
                        moved < 1.5 * flights,
                        "{what}: {moved:.2} for {flights:.2} s"
                    );
                    if tilt == 0.0 {
                        let part = moved / flights;
                        assert!(
                            (0.95..1.02).contains(&part),
                            "{what}: {moved:.2} for {flights:.2} s"
                        );
                    }
                }
            }
        }
    }
}

/// Any shape at any angle; all that bounces alone, a stack that is taken impact by impact and one that is not.
#[test]
fn nothing_that_bounces_gains_energy() {
    let mut random = Random(5);
    for e in [0.5, 0.8, 0.95, 1.0] {
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let mut world = ground(e);
            for i in 0..24 {
                let shape = match i % 4 {
                    0 => Shape::cuboid(0.1, 0.1, 0.1),
                    1 => Shape::cuboid(0.1, 0.05, 0.2),
                    2 => Shape::cylinder(0.1, 0.1),
                    _ => Shape::capsule(0.07, 0.1),
                };
                let at = vec3(f64::from(i % 6), 1.0 + random.unit(), f64::from(i / 6));
                let turned = random.rotation();
                world.add(body(shape, e).at(at).rotated(turned)).unwrap();
            }
            run(&mut world, dt, 4.0, &format!("alone, e {e}, dt {dt:.4}"));
            for count in [6, 20] {
                let mut world = ground(e);
                for i in 0..count {
                    let at = vec3(0.0, 0.5 + 0.202 * f64::from(i), 0.0);
                    let shape = Shape::cuboid(0.1, 0.1, 0.1);
                    world.add(body(shape, e).at(at)).unwrap();
                }
                let what = format!("stack of {count}, e {e}, dt {dt:.4}");
                run(&mut world, dt, 2.0, &what);
            }
        }
    }
}

/// A pile too large for its impacts to be taken one by one; heaps of balls gain nothing at all.
#[test]
fn piles_that_bounce_come_to_rest() {
    let mut random = Random(1);
    for (e, most) in [(0.3, 3.0), (0.5, 4.0), (0.8, 7.0)] {
        let mut world = ground(e);
        for i in 0..27 {
            let (x, y, z) = (i % 3, i / 9, i / 3 % 3);
            let at = vec3(
                0.22 * f64::from(x),
                0.3 + 0.3 * f64::from(y),
                0.22 * f64::from(z),
            );
            let shape = Shape::cuboid(0.1, 0.1, 0.1);
            let turned = random.rotation();
            world.add(body(shape, e).at(at).rotated(turned)).unwrap();
        }
        let what = format!("pile, e {e}");
        let (moved, grown) = run(&mut world, 1.0 / 60.0, most + 1.0, &what);
        assert!(moved < most, "{what}: {moved} s");
        assert!(grown < 0.05, "{what}: {grown} J");
    }
}

/// Each bounce of a box on its face goes e² as high as the one before, whatever the step, and so does one that lands on
/// a corner below its centre.
#[test]
fn apexes_of_boxes_follow_the_square_of_the_restitution() {
    let diagonal = Quat::from_rotation_arc(vec3(1.0, 1.0, 1.0).normalize(), Vec3::Y);
    for (turned, half) in [(Quat::IDENTITY, 0.1), (diagonal, 0.1 * 3f64.sqrt())] {
        for e in [0.5, 0.8, 1.0] {
            for dt in [1.0 / 60.0, 1.0 / 144.0] {
                let mut world = ground(e);
                let shape = Shape::cuboid(0.1, 0.1, 0.1);
                let at = Vec3::Y * (1.0 + half);
                let id = world.add(body(shape, e).at(at).rotated(turned)).unwrap();
                let mut bounces = 0;
                let mut height = 1.0;
                let mut down = false;
                while bounces < 3 {
                    world.step(dt).unwrap();
                    let view = world.body(id).unwrap();
                    let v = view.velocity().linear.y;
                    if down && v > 0.0 {
                        bounces += 1;
                        height *= e * e;
                        let apex = view.center_of_mass().y - half + 0.5 * v * v / G;
                        assert!(
                            (apex - height).abs() < 1e-9,
                            "e {e}, dt {dt}, bounce {bounces}: {apex} for {height} m"
                        );
                    }
                    down = v < 0.0;
                }
            }
        }
    }
}

/// A row of balls on rods, with gaps, the first of which swings into the others: where impacts follow one another in
/// what is jointed, too, nothing comes to be in another.
#[test]
fn hanging_balls_that_bounce_do_not_overlap() {
    for (e, gap) in [(1.0, 1e-3), (1.0, 3e-3), (0.8, 1e-3), (0.5, 2e-3)] {
        for dt in [1.0 / 60.0, 1.0 / 120.0] {
            let mut world = World::new(WorldSettings::default()).unwrap();
            let hook = world.add(Body::fixed(Shape::sphere(0.05)).at(Vec3::Y * 9.0));
            let hook = hook.unwrap();
            for i in 0..5 {
                let anchor = vec3(f64::from(i) * (1.0 + gap), 9.0, 0.0);
                let down = if i == 0 {
                    vec3(-0.5, -0.75f64.sqrt(), 0.0)
                } else {
                    Vec3::NEG_Y
                };
                let ball = Body::dynamic(Shape::sphere(0.5)).mass(1.0).restitution(e);
                let ball = world
                    .add(ball.friction(0.0).at(anchor + down * 4.0))
                    .unwrap();
                let anchor_a = anchor - Vec3::Y * 9.0;
                let rod = Joint {
                    a: hook,
                    b: ball,
                    anchor_a,
                    anchor_b: Vec3::ZERO,
                    collide: false,
                    kind: JointKind::Distance { length: 4.0 },
                };
                world.add_joint(rod).unwrap();
            }
            let mut impacts = 0;
            while world.time() < 25.0 {
                let report = world.step(dt).unwrap();
                impacts += report.ordered_impacts;
                assert!(
                    report.max_penetration < 1e-5,
                    "e {e}, gap {gap}, dt {dt:.4}, {:.2} s: {} m",
                    world.time(),
                    report.max_penetration
                );
            }
            assert!(impacts > 5, "{impacts} impacts in their order");
        }
    }
}

/// What spins and lands on a corner, an edge or a cap leaves the ground the same way, however long the steps are: an
/// impact is that of the pose which the body has then.
#[test]
fn bounces_of_what_spins_do_not_depend_on_the_step() {
    let mut random = Random(8);
    for spin in [0.5, 5.0, 20.0] {
        for e in [0.3, 0.8, 1.0] {
            let (mut off, count) = (Vec::new(), 24);
            for case in 0..count {
                let shape = match case % 4 {
                    0 => Shape::cuboid(0.1, 0.1, 0.1),
                    1 => Shape::cuboid(0.3, 0.03, 0.04),
                    2 => Shape::capsule(0.04, 0.25),
                    _ => Shape::cylinder(0.1, 0.2),
                };
                let turned = random.rotation();
                let spin = random.vec(1.0).normalize() * spin;
                let height = 0.8 + 0.3 * random.unit();
                let after = |steps: u32| {
                    let mut world = ground(e);
                    let falling = body(shape.clone(), e).mass(1.0).at(Vec3::Y * height);
                    let falling = falling.rotated(turned).moving(Vec3::X, spin);
                    let id = world.add(falling).unwrap();
                    for _ in 0..steps {
                        world.step(0.4 / f64::from(steps)).unwrap();
                    }
                    world.body(id).unwrap().velocity()
                };
                let fine = after(400);
                for steps in [24, 60] {
                    let v = after(steps) - fine;
                    off.push(v.linear.length().max(0.1 * v.angular.length()));
                }
            }
            off.sort_by(f64::total_cmp);
            // In a few the next corner follows so soon that the last bit of the first impact counts.
            let (half, most) = (off[off.len() / 2], off[off.len() * 9 / 10]);
            assert!(
                half < 3e-4,
                "spin {spin}, e {e}: half are off by {half} m/s"
            );
            assert!(
                most < 5e-3,
                "spin {spin}, e {e}: a tenth is off by {most} m/s"
            );
        }
    }
}

/// Several bodies that do not move are one ground: a box that lands flat across their seams is, in each step, where it
/// is on one slab, whichever of them has the smaller id, and comes to rest on them.
#[test]
fn flush_tiles_are_one_ground_to_what_bounces() {
    for (e, friction) in [(0.3, 0.5), (0.8, 0.0), (0.8, 0.5), (1.0, 0.5)] {
        for (seam, dt) in [(0.0, 1.0 / 60.0), (0.13, 1.0 / 60.0), (0.13, 1.0 / 100.0)] {
            let run = |tiles: &[Vec3]| {
                let mut world = World::new(WorldSettings::default()).unwrap();
                for at in tiles {
                    let tile = Body::fixed(Shape::cuboid(4.0, 0.5, 4.0)).friction(friction);
                    let at = *at + vec3(seam, -0.5, seam);
                    world.add(tile.restitution(e).at(at)).unwrap();
                }
                let falling = Body::dynamic(Shape::cuboid(0.5, 0.4, 0.45)).friction(friction);
                let falling = falling.restitution(e).at(Vec3::Y * 1.7);
                let id = world.add(falling).unwrap();
                let mut heights = Vec::new();
                while world.time() < 4.0 {
                    world.step(dt).unwrap();
                    heights.push(world.body(id).unwrap().center_of_mass().y);
                }
                heights
            };
            let corners = [(-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0)];
            let mut tiles = corners.map(|(x, z)| vec3(x, 0.0, z));
            let slab = run(&[Vec3::ZERO]);
            for order in 0..3 {
                let heights = run(&tiles);
                for (step, (y, on_slab)) in heights.iter().zip(&slab).enumerate() {
                    // What is left of the last bounces, below 2 mm, may end in another step.
                    let most = if e < 0.5 && step as f64 * dt > 1.3 {
                        2e-3
                    } else {
                        1e-6
                    };
                    assert!(
                        (y - on_slab).abs() < most,
                        "e {e}, mu {friction}, seam {seam}, dt {dt}, order {order}, step {step}: {y} for {on_slab} m"
                    );
                }
                if e < 0.5 {
                    let rest = heights[heights.len() - 1];
                    assert!((rest - 0.4).abs() < 1e-6, "rests at {rest} m");
                }
                tiles.rotate_left(1);
            }
        }
    }
}

/// A plate that lies on three of four pins, and over the fourth by less than it would fall in a step, lies still and
/// costs no more than one on all: nothing bounces that others hold up.
#[test]
fn what_is_held_up_does_not_bounce_on_what_is_below() {
    for gap in [1e-5, 1e-4, 1e-3] {
        let mut world = World::new(WorldSettings::default()).unwrap();
        for (x, z, low) in [
            (-0.4, -0.4, 0.0),
            (0.4, -0.4, 0.0),
            (-0.4, 0.4, 0.0),
            (0.4, 0.4, gap),
        ] {
            let pin = Body::fixed(Shape::cuboid(0.05, 0.1, 0.05)).restitution(0.8);
            world.add(pin.at(vec3(x, -0.1 - low, z))).unwrap();
        }
        let plate = Body::dynamic(Shape::cuboid(0.5, 0.05, 0.5)).restitution(0.8);
        let id = world.add(plate.at(vec3(-0.05, 0.05, -0.05))).unwrap();
        for step in 0..120 {
            let report = world.step(1.0 / 60.0).unwrap();
            assert_eq!(report.guarded_islands, 0, "gap {gap}, step {step}");
            assert_eq!(report.ordered_impacts, 0, "gap {gap}, step {step}");
            let v = world.body(id).unwrap().velocity();
            assert!(v.linear.length() < 1e-8, "gap {gap}, step {step}: {v:?}");
        }
    }
}
