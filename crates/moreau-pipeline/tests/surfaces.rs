//! Worlds with meshes, heightfields and compounds.

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};

const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

const TILES: usize = 20;

/// A level mesh of `cells` by 2 cells of 1 m about the x axis, at height zero.
fn strip_mesh(cells: u32) -> Shape {
    let vertex = |i: u32, k: u32| i * 3 + k;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..=cells {
        vertices.extend([-1.0, 0.0, 1.0].map(|z| vec3(f64::from(i), 0.0, z)));
    }
    for i in 0..cells {
        for k in 0..2 {
            let (a, b) = (vertex(i, k), vertex(i + 1, k));
            // Diagonals of both kinds.
            if (i + k) % 2 == 0 {
                triangles.extend([[a, a + 1, b], [b, a + 1, b + 1]]);
            } else {
                triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
            }
        }
    }
    Shape::mesh(&vertices, &triangles).unwrap()
}

/// Level ground along x from 0 to 20 m in several pieces, by name.
fn grounds() -> Vec<(&'static str, Vec<Body>)> {
    let tile = Shape::cuboid(0.5, 0.5, 1.0);
    let places = || (0..TILES).map(|i| vec3(i as f64 + 0.5, -0.5, 0.0));
    let tiles = places().map(|p| Body::fixed(tile.clone()).at(p)).collect();
    let children: Vec<_> = places()
        .map(|p| (tile.clone(), Pose::from_translation(p)))
        .collect();
    let compound = Shape::compound(&children).unwrap();
    let half = || Shape::heightfield(3, 11, vec![0.0; 33], [1.0, 1.0]).unwrap();
    let field = |x: f64| Body::fixed(half()).at(vec3(x, 0.0, -1.0));
    vec![
        ("tiles", tiles),
        ("compound", vec![Body::fixed(compound)]),
        ("mesh", vec![Body::fixed(strip_mesh(TILES as u32))]),
        (
            "two meshes",
            vec![
                Body::fixed(strip_mesh(10)),
                Body::fixed(strip_mesh(10)).at(vec3(10.0, 0.0, 0.0)),
            ],
        ),
        ("two heightfields", vec![field(0.0), field(10.0)]),
    ]
}

fn quarter(axis: Vec3) -> Quat {
    let s = 0.5_f64.sqrt();
    Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, s)
}

/// Bodies 0.5 m high that rest on the ground.
fn sliders() -> Vec<(&'static str, Body)> {
    let up = |shape: Shape| Body::dynamic(shape).at(vec3(1.3, 0.25, 0.05));
    let turn = Quat::from_xyzw(0.0, libm::sin(0.35), 0.0, libm::cos(0.35));
    let hull: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |k: i32| if i >> k & 1 == 1 { 0.25 } else { -0.25 };
            vec3(side(0), side(1), side(2))
        })
        .collect();
    vec![
        ("box", up(Shape::cuboid(0.25, 0.25, 0.25))),
        (
            "turned box",
            up(Shape::cuboid(0.25, 0.25, 0.25)).rotated(turn),
        ),
        ("hull", up(Shape::hull(&hull).unwrap()).rotated(turn)),
        ("sphere", up(Shape::sphere(0.25))),
        (
            "capsule along",
            up(Shape::capsule(0.3, 0.25)).rotated(quarter(Vec3::Z)),
        ),
        (
            "capsule across",
            up(Shape::capsule(0.3, 0.25)).rotated(quarter(Vec3::X)),
        ),
        ("cylinder", up(Shape::cylinder(0.25, 0.3))),
        ("cone", up(Shape::cone(0.25, 0.3))),
        (
            "lying cylinder",
            up(Shape::cylinder(0.3, 0.25)).rotated(quarter(Vec3::X)),
        ),
    ]
}

#[test]
fn nothing_feels_the_seams_of_level_ground() {
    for dt in STEPS {
        for (ground, pieces) in grounds() {
            for (name, body) in sliders() {
                let mut world = World::new(WorldSettings::default()).unwrap();
                for piece in &pieces {
                    world.add(piece.clone().friction(0.0)).unwrap();
                }
                let body = body.friction(0.0).moving(vec3(5.0, 0.0, 0.0), Vec3::ZERO);
                let id = world.add(body).unwrap();
                // From 1.3 m to 18.3 m.
                let steps = (3.4 / dt).round() as u32;
                for step in 0..steps {
                    world.step(dt).unwrap();
                    let view = world.body(id).unwrap();
                    let v = view.velocity();
                    let off = [
                        (v.linear - vec3(5.0, 0.0, 0.0)).length(),
                        v.angular.length(),
                        (view.position().y - 0.25).abs(),
                        (view.position().z - 0.05).abs(),
                    ];
                    let worst = off.iter().copied().fold(0.0, f64::max);
                    assert!(
                        worst < 1e-6,
                        "{name} on {ground}, dt {dt}, step {step}, x {}: {off:?} {:?}",
                        view.position().x,
                        world.contacts()
                    );
                }
                let x = world.body(id).unwrap().position().x;
                assert!((x - 18.3).abs() < 0.05, "{name} on {ground}: {x}");
            }
        }
    }
}

fn rest(world: &World, id: BodyId) -> (Vec3, f64) {
    let view = world.body(id).unwrap();
    let v = view.velocity();
    (view.position(), v.linear.length() + v.angular.length())
}

#[test]
fn a_cube_on_a_mesh_keeps_its_four_points() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(Body::fixed(strip_mesh(20))).unwrap();
    let turn = Quat::from_xyzw(0.0, 0.6, 0.0, 0.8);
    let cube = Body::dynamic(Shape::cuboid(0.7, 0.7, 0.7))
        .at(vec3(4.1, 0.7, 0.1))
        .rotated(turn);
    let id = world.add(cube).unwrap();
    world.step(1.0 / 60.0).unwrap();
    let keys: Vec<_> = world.contacts().iter().map(|c| c.key()).collect();
    assert_eq!(keys.len(), 4);
    for _ in 0..120 {
        let report = world.step(1.0 / 60.0).unwrap();
        assert_eq!(report.warm_started, 4);
        let found: Vec<_> = world.contacts().iter().map(|c| c.key()).collect();
        assert_eq!(found, keys);
    }
    let (place, speed) = rest(&world, id);
    assert!((place - vec3(4.1, 0.7, 0.1)).length() < 1e-9 && speed < 1e-9);
}

/// Steps 1 mm high, up or down, between tiles, meshes and the children of a compound.
#[test]
fn a_step_that_is_there_is_felt() {
    let tile = Shape::cuboid(0.5, 0.5, 1.0);
    let places = [vec3(0.5, -0.5, 0.0), vec3(1.5, -0.499, 0.0)];
    let children = places.map(|p| (tile.clone(), Pose::from_translation(p)));
    let flat = || Shape::heightfield(3, 2, vec![0.0; 6], [1.0, 1.0]).unwrap();
    let grounds = [
        places.map(|p| Body::fixed(tile.clone()).at(p)).to_vec(),
        vec![Body::fixed(Shape::compound(&children).unwrap())],
        vec![
            Body::fixed(flat()).at(vec3(0.0, 0.0, -1.0)),
            Body::fixed(flat()).at(vec3(1.0, 1e-3, -1.0)),
        ],
    ];
    for (i, ground) in grounds.into_iter().enumerate() {
        for dt in STEPS {
            let mut world = World::new(WorldSettings::default()).unwrap();
            for piece in &ground {
                world.add(piece.clone().friction(0.0)).unwrap();
            }
            let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
                .at(vec3(0.5, 0.1, 0.0))
                .moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO)
                .friction(0.0)
                .without_rotation();
            let id = world.add(cube).unwrap();
            for _ in 0..(0.5 / dt) as u32 {
                world.step(dt).unwrap();
            }
            let (place, speed) = rest(&world, id);
            assert!(
                speed < 1e-6 && (place.x - 0.9).abs() < 2e-4,
                "{i} {dt}: {place} {speed}"
            );
        }
    }
}

#[test]
fn a_slope_at_a_seam_is_met_on_its_face() {
    // Level to x = 2, then up at 45 degrees, in two heightfields.
    let level = Shape::heightfield(2, 3, vec![0.0; 6], [1.0, 2.0]).unwrap();
    let slope = Shape::heightfield(2, 3, [[0.0, 1.0, 2.0]; 2].concat(), [1.0, 2.0]).unwrap();
    let one = [[0.0, 0.0, 0.0, 1.0, 2.0]; 2].concat();
    let one = Shape::heightfield(2, 5, one, [1.0, 2.0]).unwrap();
    for dt in STEPS {
        let run = |pieces: &[(&Shape, f64)]| {
            let mut world = World::new(WorldSettings::default()).unwrap();
            for (shape, x) in pieces {
                let piece = Body::fixed((*shape).clone()).at(vec3(*x, 0.0, -1.0));
                world.add(piece.friction(0.0)).unwrap();
            }
            let ball = Body::dynamic(Shape::sphere(0.2))
                .at(vec3(1.0, 0.2, 0.0))
                .moving(vec3(4.0, 0.0, 0.0), Vec3::ZERO)
                .friction(0.0);
            let id = world.add(ball).unwrap();
            for _ in 0..(0.4 / dt).round() as u32 {
                world.step(dt).unwrap();
            }
            let view = world.body(id).unwrap();
            (view.position(), view.velocity().linear)
        };
        let two = run(&[(&level, 0.0), (&slope, 2.0)]);
        let whole = run(&[(&one, 0.0)]);
        assert!((two.0 - whole.0).length() < 1e-9, "{dt}: {two:?} {whole:?}");
        assert!((two.1 - whole.1).length() < 1e-9, "{dt}: {two:?} {whole:?}");
        // The impact leaves the part of the velocity along the slope.
        let s = 0.5_f64.sqrt();
        let along = two.1.dot(vec3(s, s, 0.0));
        let (before, hit) = (4.0 * s, 1.0 - 0.2 * (2.0_f64.sqrt() - 1.0));
        let expected = before - 9.81 * s * (0.4 - hit / 4.0);
        assert!(
            (along - expected).abs() < 9.81 * s * dt,
            "{dt}: {along} {expected}"
        );
    }
}

/// The surface of a box about the origin.
fn box_mesh(hx: f64, hy: f64, hz: f64) -> Shape {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |k: i32, h: f64| if i >> k & 1 == 1 { h } else { -h };
            vec3(side(0, hx), side(1, hy), side(2, hz))
        })
        .collect();
    let Shape::Hull(hull) = Shape::hull(&corners).unwrap() else {
        unreachable!()
    };
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    Shape::mesh(hull.vertices(), &triangles).unwrap()
}

#[test]
fn a_closed_mesh_falls_and_rests_as_the_solid_does() {
    for floor in [Shape::half_space(Vec3::Y), Shape::cuboid(5.0, 1.0, 5.0)] {
        let y = if floor.is_bounded() { -1.0 } else { 0.0 };
        for dt in STEPS {
            let run = |shape: Shape| {
                let mut world = World::new(WorldSettings::default()).unwrap();
                world
                    .add(Body::fixed(floor.clone()).at(vec3(0.0, y, 0.0)))
                    .unwrap();
                let body = Body::dynamic(shape).at(vec3(0.0, 1.0, 0.0));
                let id = world.add(body).unwrap();
                for _ in 0..(1.5 / dt).round() as u32 {
                    world.step(dt).unwrap();
                }
                rest(&world, id)
            };
            let solid = run(Shape::cuboid(0.5, 0.3, 0.4));
            let mesh = run(box_mesh(0.5, 0.3, 0.4));
            assert!((solid.0 - mesh.0).length() < 1e-9, "{solid:?} {mesh:?}");
            assert!(mesh.1 < 1e-9 && (mesh.0.y - 0.3).abs() < 2e-4, "{mesh:?}");
        }
    }
}

/// Grounds of triangles, level at height zero about the origin.
fn triangle_grounds() -> Vec<Body> {
    let field = Shape::heightfield(11, 11, vec![0.0; 121], [1.0, 1.0]).unwrap();
    let strip = strip_mesh(10);
    vec![
        Body::fixed(field).at(vec3(-5.0, 0.0, -5.0)),
        Body::fixed(strip).at(vec3(-5.0, 0.0, 0.0)),
        Body::fixed(box_mesh(5.0, 1.0, 5.0)).at(vec3(0.0, -1.0, 0.0)),
    ]
}

#[test]
fn a_box_of_triangles_falls_on_triangles_and_slides_as_the_solid_does() {
    for ground in triangle_grounds() {
        for dt in STEPS {
            let run = |shape: Shape, height: f64, speed: f64| {
                let mut world = World::new(WorldSettings::default()).unwrap();
                world.add(ground.clone()).unwrap();
                let turn = Quat::from_xyzw(0.0, libm::sin(0.2), 0.0, libm::cos(0.2));
                let body = Body::dynamic(shape)
                    .at(vec3(-2.0, height, 0.05))
                    .rotated(turn)
                    .moving(vec3(speed, 0.0, 0.0), Vec3::ZERO);
                let id = world.add(body).unwrap();
                for _ in 0..(1.5 / dt).round() as u32 {
                    world.step(dt).unwrap();
                }
                assert_eq!(world.contacts().len(), 4);
                rest(&world, id)
            };
            let mesh = || box_mesh(0.5, 0.3, 0.4);
            for (height, speed) in [(0.3, 0.0), (1.0, 0.0), (0.3, 4.0)] {
                let solid = run(Shape::cuboid(0.5, 0.3, 0.4), height, speed);
                let found = run(mesh(), height, speed);
                assert!((solid.0 - found.0).length() < 1e-6, "{solid:?} {found:?}");
                assert!(found.1 < 1e-9, "{found:?}");
                assert!((found.0.y - 0.3).abs() < 2e-4, "{found:?}");
                // v²/(2 mu g).
                let way = speed * speed / (2.0 * 0.5 * 9.81);
                assert!((found.0.x + 2.0 - way).abs() < 2.0 * speed * dt + 1e-9);
            }
        }
    }
}

#[test]
fn boxes_of_triangles_stand_on_each_other() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(triangle_grounds().remove(0)).unwrap();
    let mut ids = Vec::new();
    for i in 0..5 {
        let place = vec3(0.02 * f64::from(i), 0.3 + 0.6 * f64::from(i), 0.0);
        let turn = Quat::from_xyzw(
            0.0,
            libm::sin(0.1 * f64::from(i)),
            0.0,
            libm::cos(0.1 * f64::from(i)),
        );
        let body = Body::dynamic(box_mesh(0.5, 0.3, 0.4))
            .at(place)
            .rotated(turn);
        ids.push((world.add(body).unwrap(), place));
    }
    for _ in 0..300 {
        world.step(1.0 / 60.0).unwrap();
    }
    for (id, place) in ids {
        let (found, speed) = rest(&world, id);
        assert!(
            (found - place).length() < 2e-3 && speed < 1e-9,
            "{found} {place}"
        );
    }
}

/// A mesh that has come through the ground in one step comes up again.
#[test]
fn fast_meshes_do_not_stay_below_bumpy_ground() {
    let heights = (0..441).map(|i| 0.2 * libm::sin(0.7 * f64::from(i % 21)));
    let ground = Shape::heightfield(21, 21, heights.collect(), [0.5, 0.5]).unwrap();
    for speed in [5.0, 50.0, 300.0] {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world
            .add(Body::fixed(ground.clone()).at(vec3(-5.0, 0.0, -5.0)))
            .unwrap();
        let body = Body::dynamic(box_mesh(0.3, 0.2, 0.25))
            .at(vec3(0.1, 2.0, 0.2))
            .moving(vec3(0.0, -speed, 0.0), vec3(1.0, 2.0, 3.0));
        let id = world.add(body).unwrap();
        for _ in 0..240 {
            world.step(1.0 / 60.0).unwrap();
        }
        let (place, _) = rest(&world, id);
        assert!(place.y > -0.2 && place.y < 3.0, "{speed}: {place}");
    }
}

/// After the first impact of a step a body goes on in a straight line to its end, at 300 m/s through
/// the next hill; it comes up again.
#[test]
fn fast_balls_do_not_stay_below_bumpy_ground() {
    let n = 41;
    let height = |x: f64, z: f64| 0.3 * libm::sin(2.6 * z) * libm::cos(1.8 * x);
    let heights: Vec<f64> = (0..n * n)
        .map(|i| height((i % n) as f64 * 0.5 - 10.0, (i / n) as f64 * 0.5 - 10.0))
        .collect();
    let ground = Shape::heightfield(n, n, heights, [0.5, 0.5]).unwrap();
    for dt in STEPS {
        for i in 0..24 {
            let angle = 0.26 * f64::from(i);
            let (s, c) = (libm::sin(angle), libm::cos(angle));
            for speed in [30.0, 300.0] {
                let mut world = World::new(WorldSettings::default()).unwrap();
                let place = vec3(-10.0, 0.0, -10.0);
                world.add(Body::fixed(ground.clone()).at(place)).unwrap();
                let ball = Body::dynamic(Shape::sphere(0.1))
                    .at(vec3(-2.0 * c, 2.0, -2.0 * s))
                    .moving(vec3(c, -0.8, s) * speed, Vec3::ZERO);
                let id = world.add(ball).unwrap();
                let (mut hit, mut deepest) = (false, 0.0_f64);
                for _ in 0..(1.5 / dt) as u32 {
                    world.step(dt).unwrap();
                    let p = world.body(id).unwrap().position();
                    hit |= world.contacts().iter().any(|c| c.impulse.x > 0.0);
                    if p.x.abs().max(p.z.abs()) > 9.0 {
                        deepest = 0.0;
                        break;
                    }
                    // The facets lie up to 0.1 m below the smooth ground.
                    deepest = height(p.x, p.z) - p.y;
                }
                assert!(hit && deepest < 0.1, "{speed} {i} {dt}: {deepest}");
            }
        }
    }
}

#[test]
fn a_restored_world_goes_on_to_the_bit() {
    let heights: Vec<f64> = (0..25)
        .map(|i| 0.1 * libm::sin(f64::from(i) * 1.7))
        .collect();
    let ground = Shape::heightfield(5, 5, heights, [1.0, 1.0]).unwrap();
    let bent = Shape::compound(&[
        (
            Shape::cuboid(0.3, 0.1, 0.1),
            Pose::from_translation(vec3(0.2, 0.0, 0.0)),
        ),
        (
            Shape::sphere(0.15),
            Pose::from_translation(vec3(-0.2, 0.1, 0.0)),
        ),
    ])
    .unwrap();
    let mut world = World::new(WorldSettings::default()).unwrap();
    world
        .add(Body::fixed(ground).at(vec3(-2.0, 0.0, -2.0)))
        .unwrap();
    for i in 0..6 {
        let at = vec3(
            0.1 * f64::from(i),
            0.5 + 0.4 * f64::from(i),
            -0.05 * f64::from(i),
        );
        let shape = if i % 2 == 0 {
            bent.clone()
        } else {
            box_mesh(0.2, 0.15, 0.1)
        };
        world.add(Body::dynamic(shape).at(at)).unwrap();
    }
    for _ in 0..60 {
        world.step(1.0 / 120.0).unwrap();
    }
    let bytes = world.snapshot();
    let mut other = World::new(WorldSettings::default()).unwrap();
    other.restore(&bytes).unwrap();
    assert!(world.contacts().len() > 3);
    for _ in 0..120 {
        world.step(1.0 / 120.0).unwrap();
        other.step(1.0 / 120.0).unwrap();
        assert_eq!(world.hash(), other.hash());
    }
    assert_eq!(world.snapshot(), other.snapshot());
}

#[test]
fn ground_cannot_be_dynamic() {
    let ground = strip_mesh(2);
    let mut world = World::new(WorldSettings::default()).unwrap();
    let error = world.add(Body::dynamic(ground.clone())).unwrap_err();
    assert!(error.to_string().contains("open mesh"), "{error}");
    let mass = Shape::sphere(1.0).mass_properties(1.0).unwrap();
    let heavy = Body::dynamic(ground.clone()).mass_properties(mass);
    assert!(world.add(heavy).is_err());
    let error = world
        .add(Body::dynamic(
            Shape::heightfield(2, 2, vec![0.0; 4], [1.0; 2]).unwrap(),
        ))
        .unwrap_err();
    assert!(error.to_string().contains("heightfield"), "{error}");
    assert!(world.add(Body::kinematic(ground)).is_ok());
}
