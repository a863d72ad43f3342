//! Queries of many shapes against looking at every one of them.

mod common;

use common::{Random, shapes};
use moreau_collision::{
    Aabb, Groups, Hit, Inside, QueryError, QueryFilter, Ray, Shape, ShapeSet, cast_shape,
    closest_points, overlaps, project_point,
};
use moreau_math::{Pose, Vec3, vec3};

/// A set and the same as a list.
fn filled(random: &mut Random, rounds: usize) -> (ShapeSet, Vec<(u32, Shape, Pose, Groups)>) {
    let mut set = ShapeSet::new();
    let mut list = Vec::new();
    for round in 0..rounds {
        for shape in shapes(random) {
            // One half-space is enough.
            if !shape.is_bounded() && round > 0 {
                continue;
            }
            let away = if shape.is_bounded() { 6.0 } else { 9.0 };
            let pose = random.pose(away);
            let groups = Groups::new(1 << (list.len() % 3), u32::MAX);
            let id = set.insert(shape.clone(), pose).unwrap();
            set.set_groups(id, groups).unwrap();
            list.push((id, shape, pose, groups));
        }
    }
    // Some leave, some move, some take the places of others.
    for k in (0..list.len()).rev().step_by(5) {
        set.remove(list[k].0).unwrap();
        list.remove(k);
    }
    for k in (0..list.len()).step_by(3) {
        list[k].2 = random.pose(6.0);
        set.set_pose(list[k].0, list[k].2).unwrap();
    }
    for _ in 0..4 {
        let (shape, pose) = (Shape::sphere(0.4), random.pose(5.0));
        let id = set.insert(shape.clone(), pose).unwrap();
        list.push((id, shape, pose, Groups::ALL));
    }
    list.sort_by_key(|item| item.0);
    assert_eq!(set.len(), list.len());
    (set, list)
}

fn first<T: Copy>(found: impl Iterator<Item = (f64, Hit<u32, T>)>) -> Option<Hit<u32, T>> {
    let least = found.reduce(|a, b| if b.0 < a.0 { b } else { a });
    least.map(|(_, hit)| hit)
}

#[test]
fn every_query_sees_what_a_look_at_all_sees() {
    let mut random = Random(11);
    let mut seen = [0; 6];
    for _ in 0..12 {
        let (set, list) = filled(&mut random, 20);
        for k in 0..20 {
            let excluded = [list[k % list.len()].0];
            let even = |id: u32| id.is_multiple_of(2);
            let filter = match k % 4 {
                0 => QueryFilter::default(),
                1 => QueryFilter {
                    groups: Groups::new(u32::MAX, 0b011),
                    ..QueryFilter::default()
                },
                2 => QueryFilter {
                    exclude: &excluded,
                    ..QueryFilter::default()
                },
                _ => QueryFilter {
                    accept: Some(&even),
                    ..QueryFilter::default()
                },
            };
            let items = || {
                list.iter().filter(|(id, _, _, groups)| match k % 4 {
                    0 => true,
                    1 => groups.member & 0b011 != 0,
                    2 => *id != excluded[0],
                    _ => id.is_multiple_of(2),
                })
            };

            let origin = random.vec(7.0);
            let ray = Ray::new(origin, random.vec(4.0) - origin).unwrap();
            let inside = [Inside::Solid, Inside::Hollow][k % 2];
            let hits = items().filter_map(|(id, shape, pose, _)| {
                let at = ray.cast(shape, pose, 8.0, inside)?;
                Some((at.distance, Hit { id: *id, at }))
            });
            let mut hits: Vec<_> = hits.collect();
            hits.sort_by(|a, b| a.0.total_cmp(&b.0));
            let all = set.cast_ray_all(&ray, 8.0, inside, &filter).unwrap();
            assert_eq!(all, hits.iter().map(|h| h.1).collect::<Vec<_>>());
            let one = set.cast_ray(&ray, 8.0, inside, &filter).unwrap();
            assert_eq!(one, all.first().copied());
            seen[0] += all.len();

            let pick = shapes(&mut random);
            let shape = pick.iter().filter(|s| s.is_bounded()).nth(k % 3).unwrap();
            let pose = random.pose(7.0);
            let way = random.vec(8.0);
            let hits = items().filter_map(|(id, other, at, _)| {
                let at = cast_shape(shape, &pose, way, other, at, 1.0).unwrap()?;
                Some((at.time, Hit { id: *id, at }))
            });
            let expected = first(hits);
            let found = set.cast_shape(shape, (&pose, way), 1.0, &filter).unwrap();
            assert_eq!(found.map(|h| h.id), expected.map(|h| h.id));
            if let (Some(f), Some(e)) = (found, expected) {
                assert!((f.at.time - e.at.time).abs() < 1e-12);
                seen[1] += 1;
            }

            let together = items().filter(|(_, other, at, _)| overlaps(other, at, shape, &pose));
            let together: Vec<u32> = together.map(|item| item.0).collect();
            assert_eq!(set.overlaps(shape, &pose, &filter).unwrap(), together);
            seen[2] += together.len();

            let aabb = Aabb::around(random.vec(6.0), Vec3::splat(random.range(0.1, 3.0)));
            let boxed = items().filter(|(_, other, at, _)| other.aabb(at).overlaps(&aabb));
            let boxed: Vec<u32> = boxed.map(|item| item.0).collect();
            assert_eq!(set.overlaps_aabb(&aabb, &filter), boxed);
            seen[3] += boxed.len();

            let point = random.vec(7.0);
            for most in [0.0, 0.8, f64::INFINITY] {
                let near = items().map(|(id, other, at, _)| {
                    let at = project_point(other, at, point).unwrap();
                    (at.distance, Hit { id: *id, at })
                });
                let expected = first(near.filter(|n| n.0 <= most));
                assert_eq!(set.closest_point(point, most, &filter).unwrap(), expected);
                seen[4] += usize::from(expected.is_some());

                let near = items().filter_map(|(id, other, at, _)| {
                    let at = closest_points(other, at, shape, &pose)?;
                    Some((at.separation, Hit { id: *id, at }))
                });
                let expected = first(near.filter(|n| n.0 <= most));
                let found = set.closest_shape(shape, &pose, most, &filter).unwrap();
                assert_eq!(found, expected);
                seen[5] += usize::from(expected.is_some());
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 150), "{seen:?}");
}

#[test]
fn of_equals_the_smaller_id_is_first() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    // Put in in both orders of place.
    for turn in [1.0, -1.0] {
        let mut set = ShapeSet::new();
        for i in 0..8 {
            let x = turn * (f64::from(i) - 3.5);
            set.insert(cube.clone(), Pose::from_translation(vec3(x, 0.0, 0.0)))
                .unwrap();
        }
        let all = QueryFilter::default();
        // Between the two in the middle, ids 3 and 4.
        let down = Ray::new(vec3(0.0, 2.0, 0.0), Vec3::NEG_Y).unwrap();
        let hit = set.cast_ray(&down, 9.0, Inside::Solid, &all).unwrap();
        assert_eq!(hit.unwrap().id, 3);
        let hits = set.cast_ray_all(&down, 9.0, Inside::Solid, &all).unwrap();
        assert_eq!(hits.iter().map(|h| h.id).collect::<Vec<_>>(), [3, 4]);
        let above = Pose::from_translation(vec3(0.0, 3.0, 0.0));
        let hit = set
            .cast_shape(&cube, (&above, Vec3::NEG_Y), 9.0, &all)
            .unwrap();
        assert_eq!(hit.unwrap().id, 3);
        let near = set.closest_shape(&cube, &above, 9.0, &all).unwrap();
        assert_eq!(near.unwrap().id, 3);
        let near = set.closest_point(vec3(0.0, 3.0, 0.0), 9.0, &all).unwrap();
        assert_eq!(near.unwrap().id, 3);
        let wide = Shape::cuboid(9.0, 0.5, 0.5);
        let all_of_them = set.overlaps(&wide, &Pose::IDENTITY, &all).unwrap();
        assert_eq!(all_of_them, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn nothing_there_and_nothing_meant() {
    let mut set = ShapeSet::new();
    let all = QueryFilter::default();
    let ray = Ray::new(Vec3::ZERO, Vec3::X).unwrap();
    let ball = Shape::sphere(1.0);
    let here = Pose::IDENTITY;
    assert_eq!(set.cast_ray(&ray, 1.0, Inside::Solid, &all), Ok(None));
    assert_eq!(set.closest_point(Vec3::ZERO, 1.0, &all), Ok(None));
    assert_eq!(set.overlaps(&ball, &here, &all), Ok(Vec::new()));
    let id = set.insert(ball.clone(), here).unwrap();
    set.remove(id).unwrap();
    assert_eq!(set.remove(id), Err(QueryError::NoSuchShape { id }));
    assert_eq!(
        set.set_pose(7, here),
        Err(QueryError::NoSuchShape { id: 7 })
    );
    assert!(set.get(id).is_none() && set.is_empty());
    set.insert(ball.clone(), here).unwrap();

    let nan = vec3(f64::NAN, 0.0, 0.0);
    let lost = Pose::from_translation(nan);
    let not_finite = |e: QueryError| matches!(e, QueryError::NotFinite { .. });
    let out_of_range = |e: QueryError| matches!(e, QueryError::OutOfRange { .. });
    assert!(not_finite(set.insert(ball.clone(), lost).unwrap_err()));
    assert!(not_finite(set.set_pose(0, lost).unwrap_err()));
    assert!(not_finite(set.closest_point(nan, 1.0, &all).unwrap_err()));
    assert!(not_finite(set.overlaps(&ball, &lost, &all).unwrap_err()));
    assert!(not_finite(
        set.cast_shape(&ball, (&here, nan), 1.0, &all).unwrap_err()
    ));
    for bad in [-1.0, f64::NAN] {
        let cast = set.cast_ray(&ray, bad, Inside::Solid, &all);
        assert!(out_of_range(cast.unwrap_err()));
        assert!(out_of_range(
            set.closest_point(Vec3::ZERO, bad, &all).unwrap_err()
        ));
        let cast = set.cast_shape(&ball, (&here, Vec3::X), bad, &all);
        assert!(out_of_range(cast.unwrap_err()));
    }
    let plane = Shape::half_space(Vec3::Y);
    let cast = set.cast_shape(&plane, (&here, Vec3::X), 1.0, &all);
    assert!(matches!(cast.unwrap_err(), QueryError::Unbounded { .. }));
    let none = Shape::sphere(0.0);
    assert!(matches!(
        set.overlaps(&none, &here, &all).unwrap_err(),
        QueryError::Shape(_)
    ));
    assert!(matches!(
        set.insert(none, here).unwrap_err(),
        QueryError::Shape(_)
    ));
    // A box without points.
    assert_eq!(set.overlaps_aabb(&Aabb::EMPTY, &all), []);
    // A cast that does not move is an overlap test.
    let hit = set.cast_shape(&ball, (&here, Vec3::ZERO), 1.0, &all);
    assert_eq!(hit.unwrap().unwrap().at.time, 0.0);
}
