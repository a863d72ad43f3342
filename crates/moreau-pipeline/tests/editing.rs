//! Worlds that are changed between steps.

use moreau_collision::Shape;
use moreau_math::{MassProperties, Pose, Quat, SymMat3, Vec3, Velocity, vec3};
use moreau_pipeline::{
    Body, BodyId, BodyKind, Joint, Mass, Material, World, WorldError, WorldSettings,
};

const DT: f64 = 1.0 / 60.0;

fn world() -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world
        .add(Body::fixed(Shape::half_space(Vec3::Y)).friction(0.5))
        .unwrap();
    world
}

fn cube(y: f64) -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .friction(0.5)
        .at(vec3(0.0, y, 0.0))
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / DT).round() as u32 {
        world.step(DT).unwrap();
    }
}

fn height(world: &World, id: BodyId) -> f64 {
    world.body(id).unwrap().position().y
}

#[test]
fn removing_a_body_lets_what_it_carried_fall() {
    let mut world = world();
    let ids: Vec<BodyId> = (0..4)
        .map(|i| world.add(cube(f64::from(i) + 0.5)).unwrap())
        .collect();
    run(&mut world, 0.5);
    world.remove(ids[1]).unwrap();
    assert!(
        world
            .contacts()
            .iter()
            .all(|c| c.a != ids[1] && c.b != ids[1])
    );
    assert_eq!(world.body_count(), 4);
    run(&mut world, 2.0);
    for (id, right) in [(ids[0], 0.5), (ids[2], 1.5), (ids[3], 2.5)] {
        assert!(
            (height(&world, id) - right).abs() < 2e-4,
            "{id} at {}",
            height(&world, id)
        );
    }
    // The floor goes: everything falls freely, and the energy of the fall is exact.
    let floor = world.bodies().next().unwrap().id();
    world.remove(floor).unwrap();
    let start = height(&world, ids[0]);
    run(&mut world, 1.0);
    let fall = start - height(&world, ids[0]);
    assert!((fall - 0.5 * 9.81).abs() < 1e-6, "{fall}");
}

#[test]
fn a_slot_is_used_again_under_a_new_name() {
    let mut world = world();
    let first = world.add(cube(0.5)).unwrap();
    run(&mut world, 0.2);
    world.remove(first).unwrap();
    let second = world.add(cube(3.0)).unwrap();
    assert_eq!(
        (second.index, second.generation),
        (first.index, first.generation + 1)
    );
    let report = world.step(DT).unwrap();
    assert_eq!(report.contact_points, 0);
    assert_eq!(report.warm_started, 0);
    assert!(world.body(first).is_err());
    run(&mut world, 1.5);
    assert!((height(&world, second) - 0.5).abs() < 2e-4);
}

#[test]
fn bodies_can_come_between_steps() {
    let mut world = world();
    let mut ids = Vec::new();
    for i in 0..6 {
        ids.push(world.add(cube(0.5 + f64::from(i))).unwrap());
        run(&mut world, 0.3);
    }
    for (i, id) in ids.iter().enumerate() {
        assert!((height(&world, *id) - (0.5 + i as f64)).abs() < 1e-6);
    }
}

#[test]
fn a_kinematic_platform_carries_a_box() {
    let mut world = world();
    let v = vec3(0.7, 0.3, 0.0);
    let platform = Body::kinematic(Shape::cuboid(2.0, 0.25, 2.0)).at(vec3(0.0, 1.0, 0.0));
    let platform = world
        .add(platform.friction(0.5).moving(v, Vec3::ZERO))
        .unwrap();
    let rider = world.add(cube(1.75).moving(v, Vec3::ZERO)).unwrap();
    for _ in 0..180 {
        world.step(DT).unwrap();
        let off = world.body(rider).unwrap().position() - world.body(platform).unwrap().position();
        assert!((off - vec3(0.0, 0.75, 0.0)).length() < 1e-8, "{off}");
    }
    let at = world.body(platform).unwrap().position();
    assert!((at - (vec3(0.0, 1.0, 0.0) + v * 3.0)).length() < 1e-12);
    // It stops at once: the rider slides on, v²/(2 mu g), first order in the step.
    world.set_velocity(platform, Velocity::ZERO).unwrap();
    run(&mut world, 0.02);
    world
        .set_velocity(rider, Velocity::new(vec3(0.7, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    let start = world.body(rider).unwrap().position().x;
    run(&mut world, 1.0);
    let way = world.body(rider).unwrap().position().x - start;
    assert!(
        (way - 0.49 / (2.0 * 0.5 * 9.81)).abs() < 0.35 * DT + 1e-9,
        "{way}"
    );
}

#[test]
fn a_turning_platform_carries_a_box_round() {
    // The turn is exact for the platform; mu g > w² r holds the rider.
    let mut world = world();
    let w = 1.0;
    let disc = Body::kinematic(Shape::cuboid(3.0, 0.25, 3.0)).at(vec3(0.0, 1.0, 0.0));
    let disc = world
        .add(disc.friction(0.5).moving(Vec3::ZERO, vec3(0.0, w, 0.0)))
        .unwrap();
    let start = vec3(2.0, 1.5, 0.0);
    let velocity = vec3(0.0, w, 0.0).cross(vec3(2.0, 0.0, 0.0));
    let rider = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25))
        .friction(0.5)
        .at(start);
    let rider = world
        .add(rider.moving(velocity, vec3(0.0, w, 0.0)))
        .unwrap();
    run(&mut world, 2.0);
    let turn = world.body(disc).unwrap().rotation();
    let right = turn * vec3(2.0, 0.0, 0.0) + vec3(0.0, 1.5, 0.0);
    let off = (world.body(rider).unwrap().position() - right).length();
    // A step along the tangent leaves the circle by (w h)² r/2, 120 times; the larger circle adds
    // as much again of that.
    assert!(
        off < 1.02 * 120.0 * (w * DT) * (w * DT) * 2.0 / 2.0,
        "{off}"
    );
    let spin = world.body(rider).unwrap().velocity().angular;
    assert!((spin - vec3(0.0, w, 0.0)).length() < 1e-6);
}

#[test]
fn kinds_can_change() {
    let mut world = world();
    let lower = world.add(cube(2.0)).unwrap();
    let upper = world.add(cube(3.0)).unwrap();
    // A static lower body holds the upper one in the air.
    world
        .set_kind(lower, BodyKind::Static, Mass::Total(1.0))
        .unwrap();
    run(&mut world, 1.0);
    assert_eq!(height(&world, lower), 2.0);
    assert!((height(&world, upper) - 3.0).abs() < 1e-8);
    assert_eq!(world.body(lower).unwrap().kind(), BodyKind::Static);
    assert_eq!(world.body(lower).unwrap().mass_properties().mass, 0.0);
    // Kinematic: it moves with its velocity.
    world
        .set_kind(lower, BodyKind::Kinematic, Mass::Total(1.0))
        .unwrap();
    world
        .set_velocity(lower, Velocity::new(vec3(0.0, -0.5, 0.0), Vec3::ZERO))
        .unwrap();
    run(&mut world, 1.0);
    assert!((height(&world, lower) - 1.5).abs() < 1e-12);
    assert!((height(&world, upper) - 2.5).abs() < 1e-3);
    // Dynamic again: both fall on the floor.
    world
        .set_kind(lower, BodyKind::Dynamic, Mass::Density(500.0))
        .unwrap();
    assert!((world.body(lower).unwrap().mass_properties().mass - 500.0).abs() < 1e-9);
    run(&mut world, 2.0);
    assert!((height(&world, lower) - 0.5).abs() < 2e-4);
    assert!((height(&world, upper) - 1.5).abs() < 4e-4);
}

#[test]
fn a_joint_may_lose_its_last_moving_body() {
    let mut world = world();
    let anchor = world
        .add(Body::fixed(Shape::sphere(0.1)).at(vec3(0.0, 5.0, 0.0)))
        .unwrap();
    let bob = world
        .add(Body::dynamic(Shape::sphere(0.1)).at(vec3(1.0, 5.0, 0.0)))
        .unwrap();
    world
        .add_joint(Joint::distance(anchor, Vec3::ZERO, bob, Vec3::ZERO, 1.0))
        .unwrap();
    run(&mut world, 0.2);
    world
        .set_kind(bob, BodyKind::Static, Mass::Total(1.0))
        .unwrap();
    let held = world.body(bob).unwrap().position();
    run(&mut world, 0.2);
    assert_eq!(world.body(bob).unwrap().position(), held);
    // Such a world can be saved, and goes on when the body moves again.
    let mut restored = World::from_snapshot(&world.snapshot()).unwrap();
    restored
        .set_kind(bob, BodyKind::Dynamic, Mass::Total(1.0))
        .unwrap();
    run(&mut restored, 1.0);
    let span = (restored.body(bob).unwrap().position() - vec3(0.0, 5.0, 0.0)).length();
    assert!((span - 1.0).abs() < 0.01, "{span}");
}

#[test]
fn shapes_and_masses_can_change() {
    let mut world = world();
    let body = world.add(cube(0.5)).unwrap();
    run(&mut world, 0.2);
    // A ball half as big, its lowest point in the air: it falls and rests.
    world
        .set_shape(body, Shape::sphere(0.25), Mass::Total(3.0))
        .unwrap();
    assert_eq!(world.body(body).unwrap().mass_properties().mass, 3.0);
    assert_eq!(world.body(body).unwrap().shape().kind(), "sphere");
    run(&mut world, 1.0);
    assert!((height(&world, body) - 0.25).abs() < 2e-4);
    let impulse: f64 = world.contacts().iter().map(|c| c.impulse.x).sum();
    assert!((impulse - 3.0 * 9.81 * DT).abs() < 1e-8);
    world.set_mass(body, Mass::Total(5.0)).unwrap();
    run(&mut world, 0.2);
    let impulse: f64 = world.contacts().iter().map(|c| c.impulse.x).sum();
    assert!((impulse - 5.0 * 9.81 * DT).abs() < 1e-8);
}

#[test]
fn a_new_centre_of_mass_leaves_the_frame_where_it_is() {
    let mut world = world();
    let turn = Quat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize();
    let body = world.add(cube(5.0).rotated(turn)).unwrap();
    let before = world.body(body).unwrap().pose();
    let properties = MassProperties {
        mass: 2.0,
        center_of_mass: vec3(0.1, -0.2, 0.05),
        inertia: SymMat3::from_diagonal(vec3(1.0, 1.2, 0.8)),
    };
    world.set_mass(body, Mass::Properties(properties)).unwrap();
    let view = world.body(body).unwrap();
    assert!((view.position() - before.translation).length() < 1e-15);
    let center = before.transform_point(properties.center_of_mass);
    assert!((view.center_of_mass() - center).length() < 1e-15);
    let fall = center - vec3(0.0, 0.5 * 9.81, 0.0) * 0.25;
    run(&mut world, 0.5);
    assert!((world.body(body).unwrap().center_of_mass() - fall).length() < 1e-12);
}

#[test]
fn materials_can_change() {
    let mut world = world();
    let body = world
        .add(cube(0.5).moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    let ice = Material {
        friction: 0.0,
        ..Material::default()
    };
    world.set_material(body, ice).unwrap();
    run(&mut world, 1.0);
    assert!((world.body(body).unwrap().velocity().linear.x - 2.0).abs() < 1e-9);
    world
        .set_material(
            body,
            Material {
                friction: 0.5,
                ..ice
            },
        )
        .unwrap();
    run(&mut world, 0.2);
    let v = world.body(body).unwrap().velocity().linear.x;
    assert!((v - (2.0 - 0.5 * 9.81 * 0.2)).abs() < 1e-8, "{v}");
    assert_eq!(world.body(body).unwrap().material().friction, 0.5);
}

#[test]
fn forces_act_for_one_step_and_constant_ones_for_all() {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    })
    .unwrap();
    let body = world
        .add(Body::dynamic(Shape::sphere(0.5)).mass(2.0))
        .unwrap();
    world.add_force(body, vec3(3.0, 0.0, 0.0)).unwrap();
    world.add_force(body, vec3(1.0, 0.0, 0.0)).unwrap();
    world.add_torque(body, vec3(0.0, 0.2, 0.0)).unwrap();
    run(&mut world, 10.0 * DT);
    let v = world.body(body).unwrap().velocity();
    assert!((v.linear - vec3(2.0 * DT, 0.0, 0.0)).length() < 1e-15);
    assert!((v.angular - vec3(0.0, 0.2 * DT / 0.2, 0.0)).length() < 1e-14);
    world
        .set_constant_force(body, vec3(0.0, 2.0, 0.0), Vec3::ZERO)
        .unwrap();
    run(&mut world, 10.0 * DT);
    let v = world.body(body).unwrap().velocity();
    assert!((v.linear - vec3(2.0 * DT, 10.0 * DT, 0.0)).length() < 1e-14);
    // A force at a point is a force and its torque; an impulse likewise.
    world.set_velocity(body, Velocity::ZERO).unwrap();
    world
        .set_constant_force(body, Vec3::ZERO, Vec3::ZERO)
        .unwrap();
    let point = world.body(body).unwrap().position() + vec3(0.0, 0.5, 0.0);
    let mut other = World::from_snapshot(&world.snapshot()).unwrap();
    world
        .add_force_at(body, vec3(6.0, 0.0, 0.0), point)
        .unwrap();
    world.step(DT).unwrap();
    other
        .apply_impulse(body, vec3(6.0 * DT, 0.0, 0.0), point)
        .unwrap();
    let (a, b) = (
        world.body(body).unwrap().velocity(),
        other.body(body).unwrap().velocity(),
    );
    assert!((a.linear - b.linear).length() < 1e-15);
    assert!((a.angular - b.angular).length() < 1e-14);
    assert!((a.angular.z + 3.0 * DT / 0.2).abs() < 1e-14);
}

#[test]
fn a_body_that_is_moved_by_hand_forgets_its_contacts() {
    let mut world = world();
    let body = world.add(cube(0.5)).unwrap();
    run(&mut world, 0.2);
    assert_eq!(world.contacts().len(), 4);
    world
        .set_pose(body, Pose::from_translation(vec3(10.0, 4.0, 0.0)))
        .unwrap();
    assert!(world.contacts().is_empty());
    let report = world.step(DT).unwrap();
    assert_eq!((report.contact_points, report.warm_started), (0, 0));
    run(&mut world, 2.0);
    let at = world.body(body).unwrap().position();
    assert!((at - vec3(10.0, 0.5, 0.0)).length() < 2e-4, "{at}");
}

#[test]
fn joints_come_and_go() {
    let mut world = world();
    let anchor = world
        .add(Body::fixed(Shape::sphere(0.1)).at(vec3(0.0, 5.0, 0.0)))
        .unwrap();
    let body = world
        .add(
            Body::dynamic(Shape::sphere(0.2))
                .mass(1.0)
                .at(vec3(0.0, 4.0, 0.0)),
        )
        .unwrap();
    let joint = world
        .add_joint(Joint::ball(anchor, Vec3::ZERO, body, Vec3::Y))
        .unwrap();
    run(&mut world, 1.0);
    assert!((height(&world, body) - 4.0).abs() < 1e-8);
    let pull = world.joint_impulse(joint).unwrap();
    assert!((pull[1] - 9.81 * DT).abs() < 1e-8, "{pull:?}");
    world.remove_joint(joint).unwrap();
    assert_eq!(world.joints().count(), 0);
    assert!(matches!(
        world.joint(joint),
        Err(WorldError::NoSuchJoint { .. })
    ));
    run(&mut world, 0.5);
    assert!((height(&world, body) - (4.0 - 0.5 * 9.81 * 0.25)).abs() < 1e-8);
    let again = world
        .add_joint(Joint::distance(anchor, Vec3::ZERO, body, Vec3::ZERO, 2.5))
        .unwrap();
    assert_eq!(
        (again.index, again.generation),
        (joint.index, joint.generation + 1)
    );
}
