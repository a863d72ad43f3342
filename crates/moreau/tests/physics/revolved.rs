//! Cylinders and cones: they roll on their sides, stand on their ends, and tip where their centre of
//! mass leaves what they stand on.

use crate::harness::{G, Placement, STEPS, Scene, degrees, everywhere, near, tilt};
use moreau::math::libm;
use moreau::{Body, Quat, Shape, Vec3, vec3};

/// The body's y axis along z.
fn lying() -> Quat {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    Quat::from_xyzw(half, 0.0, 0.0, half)
}

#[test]
fn cylinder_rolls_down_a_slope() {
    // a = 2/3 g sin, friction 1/3 m g sin, for a solid cylinder of any radius.
    let (angle, r) = (degrees(15.0), 0.1);
    let turn = tilt(-angle);
    let mut scene = Scene::new();
    let slope = Body::fixed(Shape::half_space(Vec3::Y)).rotated(turn);
    scene.add(slope.friction(0.5));
    let drum = Body::dynamic(Shape::cylinder(0.2, r))
        .mass(1.0)
        .friction(0.5);
    scene.add(drum.at(turn * vec3(0.0, r, 0.0)).rotated(turn * lying()));
    let a = 2.0 / 3.0 * G * libm::sin(angle);
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 2.0, |placed, _| {
            let force = (turn.conjugate() * placed.impulse(0, 1)) / dt;
            near("friction", -force.x, 0.5 * a, 1e-7);
        });
        near("speed", placed.linear(1).length(), 2.0 * a, 1e-7);
        near("spin", placed.angular(1).length(), 2.0 * a / r, 1e-6);
    });
}

#[test]
fn cylinders_and_cones_stand_still() {
    for ground in [
        Body::fixed(Shape::half_space(Vec3::Y)),
        Body::fixed(Shape::cuboid(2.0, 0.5, 2.0)).at(vec3(0.0, -0.5, 0.0)),
        Body::fixed(Shape::cylinder(0.5, 2.0)).at(vec3(0.0, -0.5, 0.0)),
    ] {
        let mut scene = Scene::new();
        scene.add(ground.friction(0.5));
        let body = |shape: Shape, x: f64| Body::dynamic(shape).friction(0.5).at(vec3(x, 0.3, 0.2));
        scene.add(body(Shape::cylinder(0.3, 0.1), 0.0));
        scene.add(body(Shape::cone(0.3, 0.1), 0.5));
        let side = Body::dynamic(Shape::cylinder(0.3, 0.1)).friction(0.5);
        scene.add(side.at(vec3(-0.5, 0.1, 0.2)).rotated(lying()));
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            let start = [1, 2, 3].map(|i| placed.position(i));
            placed.run(&scene, dt, 1.0, |_, _| {});
            for (i, at) in [1, 2, 3].into_iter().zip(start) {
                near("moved", (placed.position(i) - at).length(), 0.0, 1e-6);
                near("spin", placed.angular(i).length(), 0.0, 1e-6);
            }
        });
    }
}

/// On a rough slope a body tips where the plumb line through its centre of mass leaves its base: a
/// cylinder of half height h and radius r beyond tan = r/h, a cone, whose centre of mass is a quarter
/// of its height up, beyond tan = 2 r/h.
#[test]
fn they_tip_beyond_the_angle_of_their_centre_of_mass() {
    let (h, r) = (0.3, 0.1);
    for (shape, tangent) in [
        (Shape::cylinder(h, r), r / h),
        (Shape::cone(h, r), 2.0 * r / h),
    ] {
        for (part, tips) in [(0.95, false), (1.05, true)] {
            let turn = tilt(-libm::atan2(part * tangent, 1.0));
            let mut scene = Scene::new();
            let slope = Body::fixed(Shape::half_space(Vec3::Y)).rotated(turn);
            scene.add(slope.friction(2.0));
            let body = Body::dynamic(shape.clone())
                .mass(1.0)
                .friction(2.0)
                .rotated(turn);
            scene.add(body.at(turn * vec3(0.0, h, 0.0)));
            for dt in STEPS {
                // It turns about its rim, which the scheme follows to first order.
                scene.energy_slack = 0.6 * dt;
                let mut placed = scene.place(&Placement::HOME);
                placed.run(&scene, dt, 1.0, |_, _| {});
                let upright = (placed.rotation(1) * Vec3::Y).dot(turn * Vec3::Y);
                assert_eq!(
                    upright < 0.9,
                    tips,
                    "{shape:?} at {part}, dt {dt}: {upright}"
                );
            }
        }
    }
}

/// A cone's origin is not its centre of mass: thrown with a spin, the latter flies as a ball does.
#[test]
fn a_spinning_cone_flies_about_its_centre_of_mass() {
    let mut scene = Scene::new();
    let (start, velocity) = (vec3(1.0, 5.0, 0.0), vec3(2.0, 3.0, -1.0));
    let turn = Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize();
    let cone = Body::dynamic(Shape::cone(0.4, 0.3)).mass(2.0);
    let origin = start + turn * vec3(0.0, 0.2, 0.0);
    scene.add(
        cone.at(origin)
            .rotated(turn)
            .moving(velocity, vec3(5.0, -7.0, 3.0)),
    );
    let ball = Body::dynamic(Shape::sphere(0.1)).mass(2.0);
    scene.add(
        ball.at(start + vec3(10.0, 0.0, 0.0))
            .moving(velocity, Vec3::ZERO),
    );
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 0.5, |placed, _| {
            let center = placed.position(0) - placed.rotation(0) * vec3(0.0, 0.2, 0.0);
            let apart = placed.position(1) - center;
            near("apart", (apart - vec3(10.0, 0.0, 0.0)).length(), 0.0, 1e-9);
        });
    });
}
