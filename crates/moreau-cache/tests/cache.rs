//! The contact cache against what it promises.

use moreau_cache::{CacheSettings, CachedImpulse, ContactCache, PairKey};
use moreau_math::{Quat, Vec3, libm, vec3};

fn impulse(normal_impulse: f64) -> CachedImpulse {
    CachedImpulse {
        normal: Vec3::Y,
        normal_impulse,
        tangential: vec3(0.1 * normal_impulse, 0.0, -0.3),
    }
}

fn filled(keys: &[((u64, u64), u128)]) -> ContactCache {
    let mut cache = ContactCache::default();
    cache.begin();
    for (i, (bodies, feature)) in keys.iter().enumerate() {
        cache.push(*bodies, *feature, impulse(1.0 + i as f64));
    }
    cache.finish();
    cache
}

#[test]
fn entries_are_sorted_whatever_the_order_of_pushing() {
    let keys = [
        ((3, 9), 1),
        ((1, 2), 7),
        ((3, 9), 0),
        ((1, 2), 3),
        ((2, 3), 0),
    ];
    let cache = filled(&keys);
    let found: Vec<_> = cache
        .entries()
        .iter()
        .map(|e| (e.pair.a, e.pair.b, e.feature))
        .collect();
    assert_eq!(
        found,
        [(1, 2, 3), (1, 2, 7), (2, 3, 0), (3, 9, 0), (3, 9, 1)]
    );
    let impulses: Vec<_> = cache
        .entries()
        .iter()
        .map(|e| e.impulse.normal_impulse)
        .collect();
    assert_eq!(impulses, [4.0, 2.0, 5.0, 3.0, 1.0]);
    assert_eq!(cache.pair(PairKey { a: 3, b: 9 }).len(), 2);
    assert!(cache.pair(PairKey { a: 3, b: 10 }).is_empty());
}

#[test]
fn of_two_points_with_one_key_the_stronger_stays() {
    let one = filled(&[((1, 2), 0), ((1, 2), 0), ((0, 1), 0)]);
    assert_eq!(one.len(), 2);
    assert_eq!(one.entries()[1].impulse.normal_impulse, 2.0);
}

#[test]
fn a_round_trip_through_bytes_keeps_every_bit() {
    let mut cache = ContactCache::new(CacheSettings { max_turn: 0.1 });
    cache.begin();
    for i in 0..50_u32 {
        let x = f64::from(i) / 7.0;
        let normal = vec3(x, 1.0 / 3.0, -1.0).normalize();
        let tangential = vec3(1e-300 * x, -0.0, 0.1 + x);
        let normal_impulse = 1.0 / (3.0 + x);
        cache.push(
            (u64::from(i / 4), u64::MAX),
            u128::from(i % 4),
            CachedImpulse {
                normal,
                normal_impulse,
                tangential,
            },
        );
    }
    cache.finish();
    let bytes = postcard::to_stdvec(&cache).unwrap();
    let back: ContactCache = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, cache);
    assert_eq!(postcard::to_stdvec(&back).unwrap(), bytes);
    // The angle limit came back with it: 0.2 rad is too much.
    let mut back = back;
    let turned = Quat::from_axis_angle(Vec3::Y, 0.2) * back.entries()[0].impulse.normal;
    assert!(back.look_up((0, u64::MAX), 0, turned).is_none());
}

#[test]
fn unsorted_text_is_brought_into_order() {
    let cache = filled(&[((1, 2), 0), ((1, 2), 1)]);
    let mut value = serde_json::to_value(&cache).unwrap();
    value["entries"].as_array_mut().unwrap().reverse();
    let back: ContactCache = serde_json::from_value(value).unwrap();
    assert_eq!(back, cache);
}

#[test]
fn a_normal_may_turn_by_fifteen_degrees() {
    let mut cache = filled(&[((1, 2), 0)]);
    for (degrees, kept) in [
        (0.0, true),
        (14.9, true),
        (15.1, false),
        (90.0, false),
        (180.0, false),
    ] {
        let angle = f64::to_radians(degrees);
        let normal = vec3(libm::sin(angle), libm::cos(angle), 0.0);
        assert_eq!(
            cache.look_up((1, 2), 0, normal).is_some(),
            kept,
            "{degrees}"
        );
    }
    assert!(cache.look_up((1, 2), 0, Vec3::NAN).is_none());
    let counters = cache.counters();
    assert_eq!(
        (counters.hits, counters.misses, counters.dropped),
        (2, 0, 4)
    );
}

#[test]
fn friction_turns_with_the_contact_and_keeps_its_length() {
    let stored = impulse(2.0);
    let mut cache = filled(&[((1, 2), 0), ((1, 2), 1)]);
    for axis in [Vec3::X, Vec3::Z, vec3(1.0, 0.0, 2.0).normalize()] {
        let turn = Quat::from_axis_angle(axis, 0.25);
        let warm = cache.look_up((1, 2), 1, turn * Vec3::Y).unwrap();
        // The axis is orthogonal to the normal: the smallest rotation is this one.
        assert!((warm.tangential - turn * stored.tangential).length() < 1e-15);
        assert!((warm.tangential.length() - stored.tangential.length()).abs() < 1e-15);
        assert!(warm.tangential.dot(warm.normal).abs() < 1e-15);
    }
    // A turn about the normal itself leaves friction where the world wants it, bit for bit.
    let warm = cache.look_up((1, 2), 1, Vec3::Y).unwrap();
    assert_eq!(warm, stored);
}

#[test]
fn a_pair_named_the_other_way_round_gives_the_opposite_impulse() {
    let mut cache = filled(&[((7, 2), 5)]);
    let same = cache.look_up((7, 2), 5, Vec3::Y).unwrap();
    assert_eq!(same, impulse(1.0));
    let other = cache.look_up((2, 7), 5, -Vec3::Y).unwrap();
    assert_eq!(other, impulse(1.0).swapped());
    assert_eq!(other.normal_impulse, 1.0);
    // With the wrong sign of the normal it is another contact.
    assert!(cache.look_up((2, 7), 5, Vec3::Y).is_none());
}

#[test]
fn removing_a_body_removes_its_contacts_only() {
    let mut cache = filled(&[((1, 2), 0), ((2, 3), 0), ((3, 4), 0), ((2, 2), 1)]);
    cache.begin();
    cache.push((2, 9), 0, impulse(1.0));
    cache.push((8, 9), 0, impulse(1.0));
    cache.remove_body(2);
    let left: Vec<_> = cache
        .entries()
        .iter()
        .map(|e| (e.pair.a, e.pair.b))
        .collect();
    assert_eq!(left, [(3, 4)]);
    cache.finish();
    let left: Vec<_> = cache
        .entries()
        .iter()
        .map(|e| (e.pair.a, e.pair.b))
        .collect();
    assert_eq!(left, [(8, 9)]);
}

#[test]
fn what_a_step_does_not_push_is_forgotten() {
    let mut cache = filled(&[((1, 2), 0), ((3, 4), 0), ((5, 6), 0)]);
    cache.begin();
    cache.push((5, 6), 0, impulse(9.0));
    cache.finish();
    assert_eq!(cache.len(), 1);
    assert!(cache.look_up((3, 4), 0, Vec3::Y).is_none());
    assert_eq!(cache.counters().misses, 1);
    cache.begin();
    assert_eq!(cache.counters().misses, 0);
    cache.finish();
    assert!(cache.is_empty());
}

#[test]
fn pairs_can_be_put_aside_and_come_back() {
    let mut cache = filled(&[((1, 2), 0), ((1, 2), 1), ((3, 4), 0), ((5, 6), 0)]);
    let before = cache.clone();
    let aside: Vec<_> = cache
        .entries()
        .iter()
        .filter(|e| e.pair.contains(1) || e.pair.contains(5))
        .copied()
        .collect();
    cache.retain(|pair| !pair.contains(1) && !pair.contains(5));
    assert_eq!(cache.len(), 1);
    assert!(cache.look_up((1, 2), 0, Vec3::Y).is_none());
    // In any order, and named either way.
    cache.remember(aside.iter().rev().map(|e| {
        let swapped = CachedImpulse {
            normal: -e.impulse.normal,
            normal_impulse: e.impulse.normal_impulse,
            tangential: -e.impulse.tangential,
        };
        ((e.pair.b, e.pair.a), e.feature, swapped)
    }));
    assert_eq!(cache, before);
    // Of two the larger is kept.
    cache.remember([((1, 2), 0, impulse(0.5)), ((3, 4), 0, impulse(50.0))].into_iter());
    assert_eq!(cache.len(), 4);
    let mut normal = |pair| cache.look_up(pair, 0, Vec3::Y).unwrap().normal_impulse;
    assert_eq!((normal((1, 2)), normal((3, 4))), (1.0, 50.0));
}

#[test]
fn readers_find_what_the_cache_finds() {
    let keys: Vec<_> = (0..40_u64)
        .map(|i| ((i % 7, 7 + i % 5), u128::from(i)))
        .collect();
    let mut cache = filled(&keys);
    // What is there, in two orders, what is not, and what has turned too far.
    let mut asked: Vec<_> = keys.iter().map(|k| (*k, Vec3::Y)).collect();
    asked.extend(
        keys.iter()
            .rev()
            .map(|k| (*k, vec3(0.1, 1.0, 0.0).normalize())),
    );
    asked.push((((1, 2), 99), Vec3::Y));
    asked.push((keys[3], Vec3::X));
    let all: Vec<_> = asked
        .iter()
        .map(|((bodies, feature), normal)| cache.look_up(*bodies, *feature, *normal))
        .collect();
    assert_eq!(all.iter().flatten().count(), 80);
    let counted = cache.counters();
    assert_eq!((counted.hits, counted.misses, counted.dropped), (80, 1, 1));

    // The same from two threads, each with a part.
    type Asked = (((u64, u64), u128), Vec3);
    let part = |asked: &[Asked]| {
        let mut reader = cache.reader();
        let found: Vec<_> = asked
            .iter()
            .map(|((bodies, feature), normal)| reader.look_up(*bodies, *feature, *normal))
            .collect();
        (found, reader.counters())
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| part(&asked[..33]));
        let second = part(&asked[33..]);
        (first.join().unwrap(), second)
    });
    assert_eq!([first.0, second.0].concat(), all);
    assert_eq!(first.1 + second.1, counted);
    cache.begin();
    cache.count(first.1);
    cache.count(second.1);
    assert_eq!(cache.counters(), counted);
}

#[test]
fn a_list_given_in_parts_is_the_one_that_is_pushed() {
    let impulse = |x: f64| CachedImpulse {
        normal: Vec3::Y,
        normal_impulse: x,
        tangential: Vec3::ZERO,
    };
    // In order; with neighbours, across the parts too, that are not; with one that comes twice.
    let in_order: Vec<u64> = (0..10).collect();
    let across = vec![0, 1, 2, 4, 3, 5, 6, 7, 8, 9];
    let twice = vec![0, 1, 2, 3, 3, 5, 6, 9, 8, 7];
    for bodies in [in_order, across, twice] {
        let entry = |i: usize| ((bodies[i] + 1, bodies[i]), 7, impulse(i as f64));
        let mut pushed = ContactCache::default();
        pushed.begin();
        for i in 0..bodies.len() {
            let (pair, feature, impulse) = entry(i);
            pushed.push(pair, feature, impulse);
        }
        pushed.finish();
        let mut cache = ContactCache::default();
        // A longer list before it, and a shorter one.
        for count in [15, 3] {
            cache.replace_by(count, |places| {
                places.fill(|i| ((90, 80 + i as u64), 0, impulse(1.0)));
            });
        }
        let said = cache.replace_by(bodies.len(), |places| {
            let (first, second) = places.split_at(4);
            assert_eq!((first.len(), second.len()), (4, 6));
            second.fill(entry);
            first.fill(entry);
            "both"
        });
        assert_eq!((said, &cache), ("both", &pushed));
        // What was there before is not written again.
        cache.push((1, 2), 3, impulse(4.0));
        cache.finish();
        assert_eq!(cache.len(), 1);
    }
}

#[test]
fn a_list_with_places_left_out_is_forgotten() {
    let mut cache = ContactCache::default();
    let impulse = CachedImpulse {
        normal: Vec3::Y,
        normal_impulse: 1.0,
        tangential: Vec3::ZERO,
    };
    for (filled, kept) in [(5, 5), (4, 0)] {
        cache.replace_by(5, |places| {
            let (first, _) = places.split_at(filled);
            first.fill(|i| ((1, 2 + i as u64), 0, impulse));
        });
        assert_eq!(cache.len(), kept);
    }
}
