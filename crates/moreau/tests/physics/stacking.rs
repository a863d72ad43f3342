//! Things that stand.

use crate::friction::prism;
use crate::harness::{G, Placed, Placement, STEPS, Scene, everywhere, near};
use moreau::{Body, Quat, Shape, Vec3, vec3};

fn cube(half: f64, mass: f64) -> Body {
    Body::dynamic(Shape::cuboid(half, half, half))
        .mass(mass)
        .friction(0.5)
}

/// Cubes of edge 1 m on top of each other on the floor.
pub(crate) fn tower(masses: &[f64]) -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    for (i, mass) in masses.iter().enumerate() {
        scene.add(cube(0.5, *mass).at(vec3(0.0, i as f64 + 0.5, 0.0)));
    }
    scene
}

/// Rows of `base`, base - 1, ... 1 unit cubes.
pub(crate) fn pyramid(base: usize) -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    for row in 0..base {
        for i in 0..base - row {
            let x = i as f64 - 0.5 * (base - row - 1) as f64;
            scene.add(cube(0.5, 1.0).at(vec3(1.05 * x, row as f64 + 0.5, 0.0)));
        }
    }
    scene
}

/// `nx` x `nz` columns of `height` cubes each.
pub(crate) fn columns(nx: usize, nz: usize, height: usize) -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    for x in 0..nx {
        for z in 0..nz {
            for y in 0..height {
                let at = vec3(2.0 * x as f64, y as f64 + 0.5, 2.0 * z as f64);
                scene.add(cube(0.5, 1.0).at(at));
            }
        }
    }
    scene
}

/// Runs and returns the largest distance of any body from its start.
pub(crate) fn drift(placed: &mut Placed, scene: &Scene, dt: f64, seconds: f64) -> f64 {
    let count = scene.bodies.len();
    let start: Vec<Vec3> = (0..count).map(|i| placed.position(i)).collect();
    let mut farthest: f64 = 0.0;
    placed.run(scene, dt, seconds, |placed, _| {
        for (i, start) in start.iter().enumerate() {
            farthest = farthest.max((placed.position(i) - *start).length());
        }
    });
    farthest
}

#[test]
fn b41_five_boxes_stand() {
    let scene = tower(&[1.0; 5]);
    for placement in [Placement::HOME, Placement::random(1, 100.0)] {
        let mut placed = scene.place(&placement);
        let moved = drift(&mut placed, &scene, 1.0 / 60.0, 60.0);
        near("drift in a minute", moved, 0.0, 1e-6);
        near("energy", placed.world.kinetic_energy(), 0.0, 1e-12);
    }
}

#[test]
fn towers_stand() {
    for (count, seconds) in [(10, 60.0), (30, 60.0), (100, 10.0)] {
        let scene = tower(&vec![1.0; count]);
        let mut placed = scene.place(&Placement::HOME);
        let moved = drift(&mut placed, &scene, 1.0 / 60.0, seconds);
        near(&format!("drift of {count}"), moved, 0.0, 1e-6);
    }
}

/// What is off at each contact adds up over a tower as a lean does: its top goes by half the square of their number
/// times as fast.
#[test]
fn tall_towers_come_to_rest() {
    for count in [40, 50, 60, 100] {
        let scene = tower(&vec![1.0; count]);
        for placement in [Placement::HOME, Placement::random(count as u64, 10.0)] {
            for dt in [1.0 / 60.0, 1.0 / 240.0] {
                let mut placed = scene.place(&placement);
                let moved = drift(&mut placed, &scene, dt, 600.0 * dt);
                let (mut factorizations, mut sweeps) = (0, 0);
                let mut energy = 0.0_f64;
                placed.run(&scene, dt, 60.0 * dt, |placed, report| {
                    factorizations += report.factorizations;
                    sweeps += report.total_sweeps;
                    energy = energy.max(placed.world.kinetic_energy());
                });
                let what = format!("{count} at {dt:.4} s");
                near(&format!("drift of {what}"), moved, 0.0, 2e-8);
                near(&format!("energy of {what}"), energy, 0.0, 1e-14);
                assert!(
                    factorizations <= 60 && sweeps <= 300,
                    "{what}: {factorizations} factorisations, {sweeps} sweeps in 60 steps"
                );
            }
        }
    }
}

#[test]
fn heavy_on_light_stands() {
    let alternating: Vec<f64> = (0..10)
        .map(|i| if i % 2 == 0 { 1.0 } else { 1e6 })
        .collect();
    let rows = [
        vec![1.0, 10.0],
        vec![1.0, 1e3],
        vec![1.0, 1e6],
        vec![1.0, 1.0, 1.0, 1.0, 1.0, 1e3],
        vec![1.0, 1e3, 1.0, 1e3, 1.0, 1e3],
        alternating,
    ];
    for masses in rows {
        let mut scene = tower(&masses);
        // The last one is at the floor of what f64 resolves.
        scene.residual = 1e-9;
        let mut placed = scene.place(&Placement::HOME);
        let moved = drift(&mut placed, &scene, 1.0 / 60.0, 10.0);
        near(&format!("drift of {masses:?}"), moved, 0.0, 1e-7);
        // Four corners are one support too many, so that their shares are not unique.
        let quarter = masses.iter().sum::<f64>() * G / 240.0;
        for c in placed
            .world
            .contacts()
            .iter()
            .filter(|c| c.a == placed.ids[0])
        {
            near(
                &format!("{masses:?}: a corner"),
                c.impulse.x,
                quarter,
                0.05 * quarter,
            );
        }
    }
}

#[test]
fn a_tower_of_30_is_exact_in_every_step() {
    let scene = tower(&[1.0; 30]);
    for (dt, seconds) in [(STEPS[0], 60.0), (STEPS[1], 10.0), (STEPS[2], 2.0)] {
        let mut placed = scene.place(&Placement::HOME);
        let (mut residual, mut deepest, mut farthest): (f64, f64, f64) = (0.0, 0.0, 0.0);
        placed.run(&scene, dt, seconds, |placed, report| {
            residual = residual.max(report.residual);
            deepest = deepest.max(report.max_penetration);
            for i in 1..=30 {
                let start = vec3(0.0, i as f64 - 0.5, 0.0);
                farthest = farthest.max((placed.position(i) - start).length());
            }
        });
        near(&format!("residual, dt {dt}"), residual, 0.0, 1e-9);
        near(&format!("overlap, dt {dt}"), deepest, 0.0, 1e-6);
        near(&format!("drift, dt {dt}"), farthest, 0.0, 1e-6);
    }
}

#[test]
fn four_cubes_stand_at_any_mass_ratio() {
    for ratio in [1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6] {
        for masses in [
            [1.0, 1.0, 1.0, ratio],
            [1.0, ratio, 1.0, ratio],
            [ratio, 1.0, 1.0, 1.0],
        ] {
            let scene = tower(&masses);
            for dt in STEPS {
                let mut placed = scene.place(&Placement::HOME);
                let moved = drift(&mut placed, &scene, dt, 2.0);
                near(&format!("{masses:?}, dt {dt}: drift"), moved, 0.0, 1e-7);
            }
        }
    }
}

#[test]
fn b40_resting_cube_does_not_wander() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::cuboid(0.5, 0.5, 0.5)).friction(0.5));
    scene.add(cube(0.25, 1.0).at(vec3(0.0, 0.75, 0.0)));
    // Ten minutes.
    let mut placed = scene.place(&Placement::random(7, 10.0));
    let (start, turn) = (placed.position(1), placed.rotation(1));
    placed.run(&scene, 1.0 / 240.0, 600.0, |_, _| {});
    near("moved", (placed.position(1) - start).length(), 0.0, 1e-6);
    near("turned", (placed.rotation(1) - turn).length(), 0.0, 1e-6);
}

#[test]
fn b43_peg_across_a_smaller_cube_rests() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::cuboid(0.025, 0.025, 0.025)).at(vec3(0.0, 0.025, 0.0)));
    let peg = Body::dynamic(Shape::cuboid(0.048, 0.01, 0.01)).density(1000.0);
    scene.add(peg.at(vec3(0.0, 0.06, 0.0)));
    everywhere(&[0.002, 1.0 / 60.0], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 2.0, |placed, _| {
            near("height", placed.position(1).y, 0.06, 1e-9);
            near("speed", placed.linear(1).length(), 0.0, 1e-8);
            near("spin", placed.angular(1).length(), 0.0, 1e-7);
        });
    });
}

#[test]
fn b21_contact_does_not_depend_on_the_size_of_the_floor() {
    for size in [1.0, 10.0, 25.0, 50.0, 100.0] {
        let mut scene = Scene::new();
        let floor = Shape::cuboid(size, 0.25, size);
        scene.add(Body::fixed(floor).at(vec3(0.0, 0.25, 0.0)).friction(0.5));
        scene.add(cube(0.1, 10.0).at(vec3(0.0, 0.6, 0.0)));
        for placement in [Placement::HOME, Placement::random(2, 100.0)] {
            let mut placed = scene.place(&placement);
            placed.run(&scene, 0.002, 3.0, |placed, report| {
                near(
                    &format!("height, size {size}"),
                    placed.position(1).y,
                    0.6,
                    1e-9,
                );
                assert_eq!(report.contact_points, 4, "size {size}");
            });
        }
    }
}

#[test]
fn b03_heavy_box_on_a_light_one() {
    for ratio in [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6] {
        let mut scene = Scene::new();
        scene.floor(0.5, 0.0);
        scene.add(cube(0.1, 1.0).at(vec3(0.0, 0.1, 0.0)));
        scene.add(cube(0.1, ratio).at(vec3(0.0, 0.3, 0.0)));
        for dt in [0.001, 1.0 / 60.0] {
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, dt, 5.0, |placed, _| {
                near(
                    &format!("lower, ratio {ratio}"),
                    placed.position(1).y,
                    0.1,
                    1e-4,
                );
                near(
                    &format!("upper, ratio {ratio}"),
                    placed.position(2).y,
                    0.3,
                    1e-4,
                );
            });
            let what = format!("ratio {ratio}, dt {dt}");
            let (top, ground) = (placed.impulse(1, 2).y / dt, placed.impulse(0, 1).y / dt);
            near(&format!("{what}: top"), top, ratio * G, 1e-5 * ratio * G);
            near(
                &format!("{what}: ground"),
                ground,
                (1.0 + ratio) * G,
                1e-5 * ratio * G,
            );
        }
    }
}

#[test]
fn pyramid_stands() {
    let scene = pyramid(20);
    let mut placed = scene.place(&Placement::HOME);
    let moved = drift(&mut placed, &scene, 1.0 / 60.0, 60.0);
    near("drift in a minute", moved, 0.0, 1e-6);
}

#[test]
fn columns_stand() {
    let scene = columns(4, 4, 8);
    let mut placed = scene.place(&Placement::HOME);
    let moved = drift(&mut placed, &scene, 1.0 / 60.0, 60.0);
    near("drift in a minute", moved, 0.0, 1e-6);
}

/// `count` blocks of length 1 on a table that ends at x = 0; each block from the top reaches
/// 1/(2k) over the one below, all together `more` farther.
fn overhang(count: usize, more: f64) -> Scene {
    let mut scene = Scene::new();
    let table = Body::fixed(Shape::cuboid(2.0, 0.5, 1.0)).friction(0.5);
    scene.add(table.at(vec3(-2.0, -0.5, 0.0)));
    // Right ends: of the top block at the sum of all steps.
    let mut end: f64 = (1..=count)
        .map(|k| 0.5 / k as f64 + more / count as f64)
        .sum();
    for k in 1..=count {
        let block = Body::dynamic(Shape::cuboid(0.5, 0.1, 0.25))
            .mass(1.0)
            .friction(0.5);
        let level = count - k;
        scene.add(block.at(vec3(end - 0.5, 0.1 + 0.2 * level as f64, 0.0)));
        end -= 0.5 / k as f64 + more / count as f64;
    }
    scene
}

#[test]
fn overhanging_blocks() {
    let listed = [0.5, 0.75, 0.916667, 1.041667, 1.141667];
    for (count, reach) in (1..=5).zip(listed) {
        let sum: f64 = (1..=count).map(|k| 0.5 / k as f64).sum();
        near("the listed reach", sum, reach, 1e-6);
        let stands = overhang(count, -1e-6);
        let mut placed = stands.place(&Placement::HOME);
        let moved = drift(&mut placed, &stands, 1.0 / 60.0, 10.0);
        near(&format!("{count} blocks a little inside"), moved, 0.0, 1e-6);
        let mut falls = overhang(count, 1e-6);
        falls.energy_slack = 1e-2;
        let mut placed = falls.place(&Placement::HOME);
        placed.run(&falls, 1.0 / 60.0, 10.0, |_, _| {});
        let height = placed.position(1).y;
        assert!(
            height < -0.5,
            "{count} blocks a little outside: the top one is at {height}"
        );
    }
}

#[test]
fn b67_two_boxes_come_to_rest() {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    scene.add(cube(0.1, 1.0).at(vec3(0.0, 0.15, 0.0)));
    scene.add(cube(0.1, 1.0).at(vec3(0.02, 0.42, 0.01)));
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 5.0, |placed, report| {
            if report.step as f64 * dt > 1.0 {
                let energy = placed.world.kinetic_energy();
                near(&format!("energy, dt {dt}"), energy, 0.0, 1e-12);
            }
        });
        near("upper", placed.position(2).y, 0.3, 1e-3);
    });
}

#[test]
fn b45_upright_cylinder_and_prism_land_flat_anywhere_on_a_table() {
    let places = [(0.0, 0.2), (0.0, 0.0), (0.2, -0.5), (0.11, 0.37)];
    let shapes = [prism(32, 0.06, 0.06), Shape::cylinder(0.06, 0.06)];
    for ((x, z), shape) in places
        .into_iter()
        .flat_map(|p| shapes.clone().map(|s| (p, s)))
    {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::cuboid(0.3, 0.3, 0.6)).friction(0.5));
        let prism = Body::dynamic(shape).density(1000.0).friction(0.5);
        scene.add(prism.at(vec3(x, 0.6, z)));
        everywhere(&STEPS[..2], |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 3.0, |_, _| {});
            let what = format!("({x}, {z}), dt {dt}");
            let off = placed.position(1) - vec3(x, 0.36, z);
            near(&format!("{what}: place"), off.length(), 0.0, 1e-4);
            let turn = (placed.rotation(1) - Quat::IDENTITY).length();
            near(&format!("{what}: turn"), turn.min(2.0 - turn), 0.0, 1e-4);
        });
    }
}
