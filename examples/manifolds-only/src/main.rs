//! Manifolds for a solver of one's own: a cube slides over a mesh and comes to rest.
//!
//! Its speed falls by mu g dt in each step, so that after n = floor(v / (mu g dt)) of them it stands at
//! x = dt (n v - mu g dt n (n + 1) / 2). `cargo run -p manifolds-only` prints both.

mod solver;

use moreau_collision::{CollideSettings, Shape, collide_all};
use moreau_math::{Pose, Quat, Vec3, Velocity, integrate_rotation, rotation_from_vector, vec3};
use solver::{Body, Point};

const DT: f64 = 1.0 / 60.0;
const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.4;
/// Of the start, m/s along x.
const SPEED: f64 = 3.0;

/// A level mesh of `count` by `count` squares of two triangles, 0.7 m wide, from `-x0` on both axes.
fn ground(count: u32, x0: f64) -> Result<Shape, moreau_collision::ShapeError> {
    let row = count + 1;
    let at = |i: u32| f64::from(i) * 0.7 - x0;
    let vertices: Vec<Vec3> = (0..row * row)
        .map(|k| vec3(at(k / row), 0.0, at(k % row)))
        .collect();
    let squares = (0..count).flat_map(|i| (0..count).map(move |j| i * row + j));
    let triangles: Vec<[u32; 3]> = squares
        .flat_map(|k| [[k, k + 1, k + row], [k + 1, k + row + 1, k + row]])
        .collect();
    Shape::mesh(&vertices, &triangles)
}

/// Where the cube is after two seconds.
fn slide() -> Result<Body, moreau_collision::ShapeError> {
    let (ground, cube) = (ground(10, 2.1)?, Shape::cuboid(0.5, 0.5, 0.5));
    let mass = 12.0;
    let mut body = Body {
        pose: Pose::new(vec3(0.0, 0.5, 0.0), rotation_from_vector(Vec3::Y * 0.3)),
        velocity: Velocity::new(Vec3::X * SPEED, Vec3::ZERO),
        inverse_mass: 1.0 / mass,
        // m a² / 6 about every axis.
        inverse_inertia: 6.0 / mass,
    };
    let settings = CollideSettings::default();
    let (mut manifolds, mut points) = (Vec::new(), Vec::new());
    for _ in 0..120 {
        let still = Pose::IDENTITY;
        collide_all(
            &ground,
            &still,
            &cube,
            &body.pose,
            &settings,
            &mut manifolds,
        );
        points.clear();
        for manifold in &manifolds {
            points.extend(manifold.points().iter().map(|point| Point {
                normal: manifold.normal(),
                lever: point.point_b - body.pose.translation,
                separation: point.separation,
                impulse: Vec3::ZERO,
            }));
        }
        body.velocity.linear.y -= GRAVITY * DT;
        solver::solve(&mut body, &mut points, FRICTION, DT);
        let v = body.velocity;
        body.pose.translation += v.linear * DT;
        body.pose.rotation = integrate_rotation(body.pose.rotation, v.angular, DT);
    }
    Ok(body)
}

fn exact_distance() -> f64 {
    let change = FRICTION * GRAVITY * DT;
    let steps = (SPEED / change).floor();
    DT * (steps * SPEED - change * steps * (steps + 1.0) / 2.0)
}

fn main() -> Result<(), moreau_collision::ShapeError> {
    let body = slide()?;
    let (x, exact) = (body.pose.translation.x, exact_distance());
    println!("at rest after {x:.9} m, exactly {exact:.9}");
    check(&body, exact);
    Ok(())
}

/// It stands where it must, at rest, flat and turned as it was.
fn check(body: &Body, distance: f64) {
    let start: Quat = rotation_from_vector(Vec3::Y * 0.3);
    let place = body.pose.translation - vec3(distance, 0.5, 0.0);
    let turn = moreau_math::rotation_difference(start, body.pose.rotation);
    assert!(place.length() < 1e-7, "off by {place}");
    assert!(turn.length() < 1e-7, "turned by {turn}");
    let speed = body.velocity.linear.length() + body.velocity.angular.length();
    assert!(speed < 1e-9, "still moves: {:?}", body.velocity);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_stops_where_friction_says() {
        check(&slide().expect("a sound mesh"), exact_distance());
    }
}
