//! Snapshots: what comes back, and what is refused.

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, Joint, SnapshotError, World, WorldError, WorldSettings};

/// A small world with all that a snapshot holds: contacts, a joint, free slots, every kind of body.
fn world() -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 0.5, 0.0));
    let cube = world.add(cube).unwrap();
    let gone = world
        .add(Body::dynamic(Shape::sphere(0.5)).at(vec3(5.0, 5.0, 0.0)))
        .unwrap();
    let ball = Body::dynamic(Shape::sphere(0.3))
        .at(vec3(1.5, 0.3, 0.2))
        .restitution(0.5);
    let ball = world
        .add(ball.pushed(vec3(0.1, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    let moving = Body::kinematic(Shape::capsule(0.3, 0.2)).at(vec3(-3.0, 1.0, 0.0));
    world
        .add(moving.moving(vec3(0.1, 0.0, 0.0), Vec3::Y))
        .unwrap();
    world
        .add_joint(Joint::distance(cube, Vec3::ZERO, ball, Vec3::ZERO, 1.6))
        .unwrap();
    world.remove(gone).unwrap();
    for _ in 0..10 {
        world.step(0.01).unwrap();
    }
    world
}

fn refused(bytes: &[u8]) -> SnapshotError {
    let mut other = world();
    let before = other.snapshot();
    let Err(WorldError::Snapshot(error)) = other.restore(bytes) else {
        panic!("these bytes must be refused");
    };
    assert!(other.snapshot() == before, "the world has changed");
    assert!(World::from_snapshot(bytes).is_err());
    error
}

#[test]
fn a_snapshot_comes_back_to_the_bit() {
    let mut world = world();
    let bytes = world.snapshot();
    let mut twin = World::from_snapshot(&bytes).unwrap();
    assert_eq!(twin.snapshot(), bytes);
    assert_eq!(twin.hash(), world.hash());
    assert_eq!((twin.steps(), twin.time()), (world.steps(), world.time()));
    assert_eq!(twin.contacts(), world.contacts());
    for _ in 0..20 {
        assert_eq!(
            world.step(0.01).unwrap().kinetic_energy,
            twin.step(0.01).unwrap().kinetic_energy
        );
        assert_eq!(twin.hash(), world.hash());
    }
    // New bodies get the same ids in both.
    let body = Body::dynamic(Shape::sphere(0.1)).at(vec3(9.0, 9.0, 9.0));
    assert_eq!(world.add(body.clone()).unwrap(), twin.add(body).unwrap());
}

#[test]
fn foreign_bytes() {
    assert_eq!(refused(b""), SnapshotError::Foreign);
    assert_eq!(refused(b"not a snapshot at all"), SnapshotError::Foreign);
    let bytes = world().snapshot();
    assert_eq!(refused(&bytes[1..]), SnapshotError::Foreign);
    let mut version = bytes.clone();
    version[8] ^= 0x40;
    assert!(matches!(refused(&version), SnapshotError::Version { .. }));
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(refused(&longer), SnapshotError::Damaged { .. }));
}

#[test]
fn truncated_bytes() {
    let bytes = world().snapshot();
    let mut other = world();
    let before = other.snapshot();
    for length in 0..bytes.len() {
        assert!(
            other.restore(&bytes[..length]).is_err(),
            "cut to {length} bytes"
        );
    }
    assert!(other.snapshot() == before, "the world has changed");
}

#[test]
fn flipped_bytes() {
    // A flip that leaves a usable state is a different world; it must step or say why not.
    let bytes = world().snapshot();
    let sound = *world().settings();
    let (mut refusals, mut stepped) = (0, 0);
    for index in 0..bytes.len() {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[index] ^= flip;
            let Ok(mut world) = World::from_snapshot(&damaged) else {
                refusals += 1;
                continue;
            };
            // Other settings may ask for any amount of work.
            if *world.settings() != sound {
                continue;
            }
            for _ in 0..2 {
                let before = world.snapshot();
                match world.step(0.01) {
                    Ok(_) => stepped += 1,
                    Err(_) => assert!(world.snapshot() == before, "byte {index} ^ {flip:#x}"),
                }
            }
            for body in world.bodies() {
                assert!(body.pose().is_finite(), "byte {index} ^ {flip:#x}");
            }
        }
    }
    assert!(
        refusals > 500 && stepped > 500,
        "{refusals} refused, {stepped} stepped"
    );
}

#[test]
fn ids_that_do_not_fit_are_damage() {
    // Bytes of ids and lists, changed together, are caught by the check of the whole state: a body
    // that vanishes must leave a free slot, joints and contacts must name bodies that are there.
    let world = world();
    let mut smaller = World::from_snapshot(&world.snapshot()).unwrap();
    let last = smaller.bodies().last().unwrap().id();
    smaller.remove(last).unwrap();
    let again = World::from_snapshot(&smaller.snapshot()).unwrap();
    assert!(again.body(last).is_err());
    assert_eq!(again.body_count(), world.body_count() - 1);
}

/// A body and itself are no pair to ignore, and a snapshot that holds one is refused.
#[test]
fn a_body_that_is_to_ignore_itself_comes_back() {
    let mut world = world();
    let ids: Vec<_> = world.bodies().map(|body| body.id()).collect();
    world.ignore_pair(ids[1], ids[2], true).unwrap();
    let right = world.snapshot();
    world.ignore_pair(ids[1], ids[1], true).unwrap();
    let bytes = world.snapshot();
    assert!(bytes == right);
    assert!(World::from_snapshot(&bytes).is_ok());
}
