//! Pairs against all pairs compared one by one, and the order of the trees.

use super::*;
use moreau_math::vec3;
use std::collections::BTreeMap;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn vec(&mut self, low: f64, high: f64) -> Vec3 {
        vec3(
            self.range(low, high),
            self.range(low, high),
            self.range(low, high),
        )
    }

    /// A box of the kinds that scenes hold, now and then an odd one.
    fn aabb(&mut self) -> Aabb {
        let center = self.vec(-5.0, 5.0);
        match self.below(40) {
            0 => Aabb::new(
                Vec3::NEG_INFINITY,
                vec3(f64::INFINITY, center.y, f64::INFINITY),
            ),
            1 => Aabb::INFINITE,
            2 => Aabb::new(Vec3::NAN, center),
            3 => Aabb::new(center, vec3(center.x + 1.0, f64::NAN, center.z + 1.0)),
            4 => Aabb::new(center, center - Vec3::X),
            5 => Aabb::around(center, Vec3::splat(1e200)),
            6 => Aabb::around(center, Vec3::ZERO),
            7 => Aabb::around(center.round(), Vec3::splat(0.5)),
            8 => Aabb::around(center, vec3(20.0, 0.01, 20.0)),
            9 => Aabb::EMPTY,
            _ => Aabb::around(center, self.vec(0.05, 0.8)),
        }
    }
}

type Model = BTreeMap<u32, (Aabb, bool)>;

fn brute_force(model: &Model) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (a, (box_a, static_a)) in model {
        for (b, (box_b, static_b)) in model.range(a + 1..) {
            let solid = !box_a.is_empty() && !box_b.is_empty();
            if solid && !(*static_a && *static_b) && box_a.overlaps(box_b) {
                pairs.push((*a, *b));
            }
        }
    }
    pairs
}

fn check(broad_phase: &mut BroadPhase, model: &Model, buffer: &mut Vec<(u32, u32)>) {
    broad_phase.pairs(buffer);
    assert_eq!(*buffer, brute_force(model));
    broad_phase.static_tree.check();
    broad_phase.moving_tree.check();
    assert_eq!(broad_phase.len(), model.len());
}

#[test]
fn pairs_are_those_of_brute_force_after_any_history() {
    let everything = [
        BroadPhaseSettings::default(),
        BroadPhaseSettings {
            margin: 0.0,
            lookahead: 0.0,
        },
        BroadPhaseSettings {
            margin: 1.0,
            lookahead: 50.0,
        },
        BroadPhaseSettings {
            margin: f64::NAN,
            lookahead: -1.0,
        },
    ];
    for (seed, settings) in everything.into_iter().enumerate() {
        let mut random = Random(seed as u64);
        let mut broad_phase = BroadPhase::with_settings(settings);
        let mut model = Model::new();
        let mut pairs = Vec::new();
        let mut found = 0;
        for step in 0..400 {
            for _ in 0..random.below(if step % 50 == 0 { 80 } else { 6 }) {
                // Ids far apart as well.
                let id =
                    random.below(120) as u32 * if random.below(9) == 0 { 30_000_000 } else { 1 };
                match random.below(5) {
                    0 => {
                        broad_phase.remove(id);
                        model.remove(&id);
                    }
                    _ => {
                        let entry = (random.aabb(), random.below(4) == 0);
                        broad_phase.set(id, entry.0, entry.1);
                        model.insert(id, entry);
                    }
                }
            }
            // Some of the rest drift or fly.
            for (id, (aabb, is_static)) in &mut model {
                if !*is_static && random.below(3) > 0 {
                    let reach = if random.below(20) == 0 { 1.0 } else { 0.02 };
                    let shift = random.vec(-reach, reach);
                    *aabb = Aabb::new(aabb.min + shift, aabb.max + shift);
                    broad_phase.set(*id, *aabb, false);
                }
            }
            if step % 3 == 0 {
                check_queries(&mut broad_phase, &model, &mut random);
            }
            if step % 7 != 0 {
                check(&mut broad_phase, &model, &mut pairs);
                found += pairs.len();
            }
            if step % 60 == 0 {
                // From scratch, in another order.
                let mut fresh = BroadPhase::new();
                for (id, (aabb, is_static)) in model.iter().rev() {
                    fresh.set(*id, *aabb, *is_static);
                }
                broad_phase.pairs(&mut pairs);
                let mut again = Vec::new();
                fresh.pairs(&mut again);
                assert_eq!(again, pairs);
            }
            if step == 350 {
                broad_phase.clear();
                model.clear();
            }
        }
        assert!(found > 10_000, "only {found} pairs met");
    }
}

fn check_queries(broad_phase: &mut BroadPhase, model: &Model, random: &mut Random) {
    let all = |wanted: &dyn Fn(&Aabb) -> bool| -> Vec<u32> {
        let hits = model
            .iter()
            .filter(|(_, (b, _))| !b.is_empty() && wanted(b));
        hits.map(|(id, _)| *id).collect()
    };
    let mut ids = Vec::new();
    let region = random.aabb();
    broad_phase.query_aabb(&region, &mut ids);
    assert_eq!(ids, all(&|b| !region.is_empty() && b.overlaps(&region)));

    let mut ends = [random.vec(-6.0, 6.0), random.vec(-6.0, 6.0)];
    if random.below(3) == 0 {
        ends[1].x = ends[0].x;
    }
    broad_phase.query_segment(ends[0], ends[1], &mut ids);
    // Clip the segment by every face, with no division by a component of the direction.
    let clipped = |b: &Aabb| {
        let d = ends[1] - ends[0];
        let (mut near, mut far) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            for (bound, sign) in [(b.min[axis], -1.0), (b.max[axis], 1.0)] {
                let (outside, rate) = (sign * (ends[0][axis] - bound), sign * d[axis]);
                if rate > 0.0 {
                    far = far.min(-outside / rate);
                } else if rate < 0.0 {
                    near = near.max(outside / -rate);
                } else if outside > 0.0 {
                    return false;
                }
            }
        }
        near <= far
    };
    assert_eq!(ids, all(&clipped));
}

#[test]
fn a_moving_pile_is_seldom_looked_up_again() {
    let mut broad_phase = BroadPhase::new();
    let mut random = Random(5);
    let mut boxes: Vec<Aabb> = (0..500)
        .map(|_| Aabb::around(random.vec(-4.0, 4.0), Vec3::splat(0.4)))
        .collect();
    let mut pairs = Vec::new();
    let mut changed = 0;
    for step in 0..100 {
        for (id, aabb) in boxes.iter_mut().enumerate() {
            let shift = random.vec(-1e-3, 1e-3);
            *aabb = Aabb::new(aabb.min + shift, aabb.max + shift);
            broad_phase.set(id as u32, *aabb, false);
        }
        broad_phase.pairs(&mut pairs);
        let counters = broad_phase.counters();
        assert_eq!(counters.proxies, 500);
        if step == 0 {
            assert_eq!((counters.changed, counters.rebuilds), (500, 1));
        } else {
            changed += counters.changed;
        }
        assert!(counters.candidates >= pairs.len());
        assert!(counters.height < 30, "height {}", counters.height);
    }
    assert!(changed < 500, "{changed} look-ups in 99 steps");
}

#[test]
fn equal_and_ordered_boxes_do_not_make_a_deep_tree() {
    // Boxes of which each is twice as far as the last make a long branch whatever one does.
    let rows: [(&dyn Fn(u32) -> Vec3, u32); 3] = [
        (&|_| Vec3::ZERO, 20),
        (&|i| Vec3::X * f64::from(i), 20),
        (&|i| Vec3::X * power_of_two(i % 500), 500),
    ];
    for (row, height) in rows {
        for half in [0.0, 0.3] {
            let mut broad_phase = BroadPhase::new();
            let mut pairs = Vec::new();
            broad_phase.set(0, Aabb::around(row(0), Vec3::splat(half)), false);
            for i in 1..1000 {
                broad_phase.set(i, Aabb::around(row(i), Vec3::splat(half)), false);
                // One by one, so that they are inserted and not built at once.
                broad_phase.update_trees();
            }
            broad_phase.moving_tree.check();
            assert!(broad_phase.moving_tree.height() <= height);
            broad_phase.rebuild_tree(Kind::Moving);
            broad_phase.moving_tree.check();
            assert!(broad_phase.moving_tree.height() < 60);
            broad_phase.pairs(&mut pairs);
        }
    }
}

/// 2^(n - 250).
fn power_of_two(n: u32) -> f64 {
    f64::from_bits(u64::from(1023 + n - 250) << 52)
}

#[test]
fn a_box_that_is_no_box_meets_nothing_and_comes_back() {
    let mut broad_phase = BroadPhase::new();
    let mut pairs = Vec::new();
    let unit = Aabb::around(Vec3::ZERO, Vec3::ONE);
    broad_phase.set(7, unit, false);
    broad_phase.set(3, unit, false);
    broad_phase.pairs(&mut pairs);
    assert_eq!(pairs, [(3, 7)]);
    for bad in [
        Aabb::new(Vec3::NAN, Vec3::NAN),
        Aabb::EMPTY,
        Aabb::new(Vec3::ONE, Vec3::ZERO),
    ] {
        broad_phase.set(7, bad, false);
        broad_phase.pairs(&mut pairs);
        assert_eq!(pairs, []);
        broad_phase.set(7, unit, false);
        broad_phase.pairs(&mut pairs);
        assert_eq!(pairs, [(3, 7)]);
    }
    // Touching boxes overlap.
    broad_phase.set(7, Aabb::around(Vec3::X * 2.0, Vec3::ONE), true);
    broad_phase.pairs(&mut pairs);
    assert_eq!(pairs, [(3, 7)]);
    broad_phase.set(3, unit, true);
    broad_phase.pairs(&mut pairs);
    assert_eq!(pairs, []);
    broad_phase.remove(3);
    broad_phase.remove(3);
    assert_eq!((broad_phase.len(), broad_phase.aabb(3)), (1, None));
}

/// However fast a proxy is, its fat box is stretched by half of its longest edge at most.
#[test]
fn boxes_are_stretched_ahead_by_half_an_edge_at_most() {
    for speed in [0.12, 0.2, 0.6, 0.99, 1.5] {
        let mut broad_phase = BroadPhase::new();
        let first = Aabb::around(Vec3::ZERO, vec3(0.5, 0.25, 0.25));
        broad_phase.set(0, first, false);
        let motion = vec3(speed, 0.0, -speed);
        let tight = Aabb::new(first.min + motion, first.max + motion);
        broad_phase.set(0, tight, false);
        let fat = broad_phase.proxies[0].fat;
        assert!(fat.contains(&tight));
        // The margin is a tenth of the edge.
        let ahead = fat.max.x - tight.max.x - 0.1;
        let expected = match speed {
            1.5 => 0.0,
            _ => (4.0 * speed).min(0.5),
        };
        assert!((ahead - expected).abs() < 1e-15, "{ahead}, not {expected}");
        assert!((tight.min.z - fat.min.z - 0.1 - expected).abs() < 1e-15);
        assert!((tight.min.x - fat.min.x - 0.1).abs() < 1e-15);
    }
}

/// Shares done from behind, on threads, or not at all by the caller.
#[test]
fn whoever_does_the_shares_the_pairs_are_the_same() {
    type Pairs = Vec<(u32, u32)>;
    let mut random = Random(11);
    let count = 3000;
    let mut model: Vec<Aabb> = (0..count)
        .map(|_| Aabb::around(random.vec(-6.0, 6.0), Vec3::splat(0.45)))
        .collect();
    let mut twins: [BroadPhase; 4] = Default::default();
    let mut most = 0;
    for step in 0..12 {
        for id in 0..count as u32 {
            // All, some, and none but a few move out of their boxes.
            if step % 3 == 0 || id % [1, 7, 500][step % 3] == 0 {
                let by = random.vec(-0.4, 0.4);
                let aabb = &mut model[id as usize];
                *aabb = Aabb::new(aabb.min + by, aabb.max + by);
            }
            for twin in &mut twins {
                twin.set(id, model[id as usize], id % 10 == 0);
            }
        }
        let [plain, behind, threads, left] = &mut twins;
        let mut found: [Pairs; 4] = Default::default();
        plain.pairs(&mut found[0]);
        behind.pairs_by(&mut found[1], |work, shares| {
            most = shares.len().max(most);
            shares.iter_mut().rev().for_each(|share| work.run(share));
        });
        threads.pairs_by(&mut found[2], |work, shares| {
            std::thread::scope(|scope| {
                for some in shares.chunks_mut(3) {
                    scope.spawn(|| some.iter_mut().for_each(|share| work.run(share)));
                }
            });
        });
        left.pairs_by(&mut found[3], |work, shares| {
            let every_third = shares.iter_mut().step_by(3);
            every_third.for_each(|share| work.run(share));
        });
        assert!(found[0].len() > 4096, "{}", found[0].len());
        assert!(found[0].is_sorted());
        assert!(found.iter().all(|pairs| *pairs == found[0]), "step {step}");
        let by_id: Model = (0..)
            .zip(&model)
            .map(|(id, b)| (id, (*b, id % 10 == 0)))
            .collect();
        assert!(
            step % 4 > 0 || found[0] == brute_force(&by_id),
            "step {step}"
        );
    }
    assert!(most > 20, "{most} shares");
}

#[test]
fn steady_state_allocates_nothing() {
    let mut broad_phase = BroadPhase::new();
    let mut random = Random(9);
    let mut boxes: Vec<Aabb> = (0..300)
        .map(|_| Aabb::around(random.vec(-3.0, 3.0), Vec3::splat(0.3)))
        .collect();
    let mut pairs = Vec::new();
    let mut capacities = Vec::new();
    for step in 0..400 {
        for (id, aabb) in boxes.iter_mut().enumerate() {
            // Shaken about its place, so that the number of pairs stays about the same.
            let shift = random.vec(-0.2, 0.2) - aabb.center() * 0.01;
            *aabb = Aabb::new(aabb.min + shift, aabb.max + shift);
            broad_phase.set(id as u32, *aabb, id % 10 == 0);
        }
        broad_phase.pairs(&mut pairs);
        let s = &broad_phase.scratch;
        capacities.push([
            s.shares.iter().map(PairShare::capacity).sum(),
            s.tasks.capacity(),
            // The two lists of leaves change places.
            s.leaves.capacity() * size_of::<(u32, Aabb)>() + s.order.bytes(),
            s.new_pairs.capacity(),
            s.merged.capacity() + broad_phase.fat_pairs.capacity(),
            broad_phase.moving_tree.nodes.capacity(),
            broad_phase.changed.capacity(),
            broad_phase.unplaced.capacity(),
        ]);
        if step >= 300 {
            assert_eq!(capacities[step], capacities[299]);
        }
    }
}
