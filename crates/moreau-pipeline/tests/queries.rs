//! Queries of a world: the bodies where they are, whatever happened before.

use moreau_collision::{Aabb, Groups, Inside, QueryError, Ray, Shape};
use moreau_math::{Pose, Vec3, vec3};
use moreau_pipeline::{Body, BodyFilter, BodyId, World, WorldSettings};

fn row() -> (World, Vec<BodyId>) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let floor = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let mut ids = vec![floor];
    for i in 0..4 {
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
        let cube = cube.at(vec3(2.0 * f64::from(i), 0.5, 0.0));
        ids.push(world.add(cube).unwrap());
    }
    (world, ids)
}

fn first(world: &World, ray: &Ray, filter: &BodyFilter<'_>) -> Option<(BodyId, f64)> {
    let hit = world.cast_ray(ray, 100.0, Inside::Solid, filter).unwrap();
    hit.map(|hit| (hit.id, hit.at.distance))
}

#[test]
fn every_kind_of_query() {
    let (world, ids) = row();
    let all = BodyFilter::default();
    let along = Ray::new(vec3(-3.0, 0.25, 0.0), Vec3::X).unwrap();
    assert_eq!(first(&world, &along, &all), Some((ids[1], 2.5)));
    let hits = world
        .cast_ray_all(&along, 7.0, Inside::Solid, &all)
        .unwrap();
    let hits: Vec<_> = hits.iter().map(|h| (h.id, h.at.distance)).collect();
    assert_eq!(hits, [(ids[1], 2.5), (ids[2], 4.5), (ids[3], 6.5)]);

    let ball = Shape::sphere(0.25);
    let above = Pose::from_translation(vec3(2.0, 5.0, 0.0));
    let fall = world.cast_shape(&ball, (&above, -Vec3::Y), 10.0, &all);
    let fall = fall.unwrap().unwrap();
    assert_eq!(fall.id, ids[2]);
    assert!((fall.at.time - 3.75).abs() < 1e-9);
    assert!((fall.at.normal - Vec3::Y).length() < 1e-12);

    let wide = Shape::cuboid(1.6, 0.2, 0.2);
    let middle = Pose::from_translation(vec3(3.0, 0.1, 0.0));
    assert_eq!(
        world.overlaps(&wide, &middle, &all).unwrap(),
        [ids[0], ids[2], ids[3]]
    );
    let aabb = Aabb::around(vec3(6.0, 1.4, 0.0), Vec3::splat(0.5));
    assert_eq!(world.overlaps_aabb(&aabb, &all), [ids[4]]);

    let near = world.closest_point(vec3(4.0, 3.0, 0.0), 5.0, &all);
    let near = near.unwrap().unwrap();
    assert_eq!((near.id, near.at.distance), (ids[3], 2.0));
    assert_eq!(near.at.point, vec3(4.0, 1.0, 0.0));
    let body = world.closest_body(&ball, &above, 10.0, &all).unwrap();
    let body = body.unwrap();
    assert_eq!(body.id, ids[2]);
    assert!((body.at.separation - 3.75).abs() < 1e-12);
    let close = world.closest_body(&ball, &above, 3.0, &all).unwrap();
    assert_eq!(close, None);
}

#[test]
fn filters() {
    let (mut world, ids) = row();
    let sensor = Body::fixed(Shape::sphere(0.1)).at(vec3(-2.0, 0.25, 0.0));
    let sensor = world.add(sensor.sensor()).unwrap();
    world
        .set_groups(ids[2], Groups::new(0b10, u32::MAX))
        .unwrap();
    let along = Ray::new(vec3(-3.0, 0.25, 0.0), Vec3::X).unwrap();
    let with = |filter: BodyFilter<'_>| first(&world, &along, &filter).map(|f| f.0);
    let default = BodyFilter::default();
    assert_eq!(with(default), Some(ids[1]));
    assert_eq!(
        with(BodyFilter {
            sensors: true,
            ..default
        }),
        Some(sensor)
    );
    let exclude = [ids[1]];
    assert_eq!(
        with(BodyFilter {
            exclude: &exclude,
            ..default
        }),
        Some(ids[2])
    );
    assert_eq!(
        with(BodyFilter {
            groups: Groups::new(u32::MAX, 0b01),
            exclude: &exclude,
            ..default
        }),
        Some(ids[3])
    );
    assert_eq!(
        with(BodyFilter {
            accept: Some(&|body| body.position().x > 5.0),
            ..default
        }),
        Some(ids[4])
    );
}

#[test]
fn answers_follow_every_change() {
    let (mut world, ids) = row();
    let all = BodyFilter::default();
    let along = Ray::new(vec3(-3.0, 0.25, 0.0), Vec3::X).unwrap();
    assert_eq!(first(&world, &along, &all), Some((ids[1], 2.5)));
    world.remove(ids[1]).unwrap();
    assert_eq!(first(&world, &along, &all), Some((ids[2], 4.5)));
    let to = Pose::from_translation(vec3(2.5, 0.5, 0.0));
    world.set_pose(ids[2], to).unwrap();
    assert_eq!(first(&world, &along, &all), Some((ids[2], 5.0)));
    let again = Body::dynamic(Shape::sphere(0.5)).at(vec3(0.0, 0.5, 0.0));
    let again = world.add(again.moving(vec3(60.0, 0.0, 0.0), Vec3::ZERO));
    let again = again.unwrap();
    assert_eq!((again.index, again.generation), (ids[1].index, 1));
    assert_eq!(first(&world, &along, &all).unwrap().0, again);
    let before = world.snapshot();
    world.remove(again).unwrap();
    world.step(1.0 / 60.0).unwrap();
    assert_eq!(first(&world, &along, &all).unwrap().0, ids[2]);
    world.restore(&before).unwrap();
    assert_eq!(first(&world, &along, &all).unwrap().0, again);
    // A ball a metre further after a step.
    let fly = Body::fixed(Shape::sphere(0.5)).at(vec3(0.0, 9.0, 0.0));
    world.add(fly).unwrap();
    let high = Ray::new(vec3(-3.0, 9.0, 0.0), Vec3::X).unwrap();
    assert_eq!(first(&world, &high, &all).unwrap().1, 2.5);
    let shot = Body::kinematic(Shape::sphere(0.5)).at(vec3(0.0, 20.0, 0.0));
    let shot = shot.moving(vec3(60.0, 0.0, 0.0), Vec3::ZERO);
    let shot = world.add(shot).unwrap();
    let higher = Ray::new(vec3(-3.0, 20.0, 0.0), Vec3::X).unwrap();
    for k in 0..3 {
        let (id, distance) = first(&world, &higher, &all).unwrap();
        assert_eq!(id, shot);
        assert!((distance - 2.5 - f64::from(k)).abs() < 1e-12);
        world.step(1.0 / 60.0).unwrap();
    }
}

#[test]
fn questions_without_meaning() {
    let (world, _) = row();
    let all = BodyFilter::default();
    let nan = vec3(f64::NAN, 0.0, 0.0);
    let lost = Pose::from_translation(nan);
    let ball = Shape::sphere(1.0);
    let ray = Ray::new(Vec3::ZERO, Vec3::X).unwrap();
    let not_finite = |e: QueryError| matches!(e, QueryError::NotFinite { .. });
    assert!(not_finite(world.closest_point(nan, 1.0, &all).unwrap_err()));
    assert!(not_finite(world.overlaps(&ball, &lost, &all).unwrap_err()));
    assert!(not_finite(
        world.closest_body(&ball, &lost, 1.0, &all).unwrap_err()
    ));
    assert!(not_finite(
        world
            .cast_shape(&ball, (&lost, Vec3::X), 1.0, &all)
            .unwrap_err()
    ));
    let cast = world.cast_ray(&ray, f64::NAN, Inside::Solid, &all);
    assert!(matches!(cast.unwrap_err(), QueryError::OutOfRange { .. }));
    let empty = World::new(WorldSettings::default()).unwrap();
    assert_eq!(first(&empty, &ray, &all), None);
}
