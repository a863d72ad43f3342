//! Which solver an island gets, and what the reports say about it.

use moreau_collision::Shape;
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{
    Body, BodyId, FastPath, IslandSolver, SolverChoice, StepReport, World, WorldError,
    WorldSettings,
};
use moreau_solver::{ContactSolver, SolveError};
use moreau_solver_pgs::PgsSolver;

const DT: f64 = 1.0 / 60.0;

fn settings(choice: SolverChoice) -> WorldSettings {
    let mut settings = WorldSettings::default();
    settings.solver.choice = choice;
    settings
}

/// A plane, a frictionless cube at x = 0, and a stack of `height` cubes with friction at x = 10.
fn world(settings: WorldSettings, height: usize) -> (World, Vec<BodyId>) {
    let mut world = World::new(settings).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let cube = || Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
    let smooth = cube().at(vec3(0.0, 0.5, 0.0)).friction(0.0);
    let mut ids = vec![world.add(smooth).unwrap()];
    for k in 0..height {
        let rough = cube().at(vec3(10.0, 0.5 + k as f64, 0.0)).friction(0.5);
        ids.push(world.add(rough).unwrap());
    }
    (world, ids)
}

fn who(report: &StepReport) -> Vec<(&'static str, usize, usize)> {
    report
        .solvers
        .iter()
        .filter(|(_, share)| share.islands > 0)
        .map(|(solver, share)| (solver.name(), share.islands, share.contact_points))
        .collect()
}

#[test]
fn each_island_gets_the_solver_that_suits_it() {
    let (mut world, _) = world(settings(SolverChoice::Auto), 3);
    let report = world.step(DT).unwrap();
    assert_eq!(who(&report), [("active-set", 1, 4), ("newton", 1, 12)]);
    assert!(report.certified);
}

#[test]
fn an_island_above_the_work_limit_goes_the_fast_way() {
    for (fast, name) in [
        (FastPath::Simd, "simd"),
        (FastPath::Simd, "simd"),
        (FastPath::Pgs, "pgs"),
        (FastPath::Block, "block"),
    ] {
        let mut few = settings(SolverChoice::Auto);
        few.solver.fast = fast;
        few.solver.exact_contact_limit = 11;
        few.solver.calm.contact_limit = 0;
        let (mut by_contacts, _) = world(few, 3);
        let report = by_contacts.step(DT).unwrap();
        let mut want = vec![("active-set", 1, 4), (name, 1, 12)];
        assert_eq!(who(&report), want);

        let mut cheap = settings(SolverChoice::Auto);
        cheap.solver.fast = fast;
        cheap.solver.exact_work_limit = 100;
        let (mut by_work, _) = world(cheap, 3);
        let report = by_work.step(DT).unwrap();
        assert_eq!(who(&report), want);

        // Without the active set the smooth cube is one more island of the others.
        cheap.solver.active_set.max_rows = 3;
        let (mut no_active_set, _) = world(cheap, 3);
        want = vec![(name, 2, 16)];
        assert_eq!(who(&no_active_set.step(DT).unwrap()), want);
    }
}

#[test]
fn a_calm_island_may_be_larger() {
    let who_solves = |change: fn(&mut WorldSettings), kick: f64| {
        let mut settings = settings(SolverChoice::Auto);
        change(&mut settings);
        let (mut world, ids) = world(settings, 3);
        let spin = Velocity::new(Vec3::ZERO, vec3(kick, 0.0, 0.0));
        world.set_velocity(ids[2], spin).unwrap();
        world.remove(ids[0]).unwrap();
        let report = world.step(DT).unwrap();
        who(&report)
    };
    let (exact, swept) = ([("newton", 1, 12)], [("simd", 1, 12)]);
    let by_contacts = |s: &mut WorldSettings| s.solver.exact_contact_limit = 11;
    // The cube in the middle rocks: two of three layers of contacts move.
    for (kick, want) in [(0.0, exact), (1e-3, exact), (1e-2, swept)] {
        assert_eq!(who_solves(by_contacts, kick), want, "{kick} rad/s");
    }
    let too_many = |s: &mut WorldSettings| {
        s.solver.exact_contact_limit = 11;
        s.solver.calm.contact_limit = 11;
    };
    assert_eq!(who_solves(too_many, 0.0), swept);
    let too_much = |s: &mut WorldSettings| {
        s.solver.exact_contact_limit = 11;
        s.solver.calm.work_limit = 100;
    };
    assert_eq!(who_solves(too_much, 0.0), swept);
}

/// A world in which the stack is a large calm island that is to be solved so exactly.
fn large_and_calm(tolerance: f64) -> (World, Vec<BodyId>) {
    let mut settings = settings(SolverChoice::Auto);
    settings.solver.exact_contact_limit = 11;
    settings.solver.newton.tolerance = tolerance;
    world(settings, 3)
}

/// The steps of `count` in which Newton worked on an island.
fn attempts(world: &mut World, count: u64) -> Vec<u64> {
    let steps = world.steps()..world.steps() + count;
    let tried = |_: &u64| world.step(DT).unwrap().factorizations > 0;
    steps.filter(tried).collect()
}

/// It would take the budget in each step.
#[test]
fn a_calm_island_that_is_not_solved_waits_longer_and_longer() {
    let (mut never, _) = large_and_calm(0.0);
    assert_eq!(attempts(&mut never, 250), [0, 9, 26, 59, 124, 189]);

    // The wait goes on in a restored world.
    let (mut other, _) = large_and_calm(0.0);
    other.restore(&never.snapshot()).unwrap();
    assert_eq!(attempts(&mut never, 10), [254]);
    assert_eq!(attempts(&mut other, 10), [254]);
    assert_eq!(never.hash(), other.hash());

    // A body that is new to the island waits with it.
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(10.0, 3.5, 0.0));
    never.add(cube.friction(0.5)).unwrap();
    assert_eq!(attempts(&mut never, 70), [319]);

    let (mut always, _) = large_and_calm(1e-9);
    for _ in 0..30 {
        let report = always.step(DT).unwrap();
        assert_eq!(who(&report), [("active-set", 1, 4), ("newton", 1, 12)]);
    }
}

#[test]
fn an_island_that_is_not_solved_is_swept_for_some_steps() {
    // Of 68 contacts, and with no tolerance never done.
    let after = |height: usize, exact_wait: bool| {
        let mut settings = settings(SolverChoice::Auto);
        settings.solver.newton.tolerance = 0.0;
        settings.solver.exact_base_work = 1_000_000;
        settings.solver.exact_contact_work = 0;
        settings.solver.exact_wait = exact_wait;
        world(settings, height).0
    };
    let mut waits = after(17, true);
    let (mut tried, mut swept) = (Vec::new(), Vec::new());
    for step in 0..30 {
        let report = waits.step(DT).unwrap();
        match (report.waiting_islands, report.factorizations) {
            (0, 1..) => tried.push(step),
            (1, 0) => swept.push(step),
            other => panic!("{other:?} in step {step}"),
        }
    }
    assert_eq!(tried, [0, 1, 2, 3, 4, 6, 9, 14, 23]);
    assert_eq!(tried.len() + swept.len(), 30);
    let every_step: Vec<u64> = (0..30).collect();
    assert_eq!(attempts(&mut after(17, false), 30), every_step);
    // 64 contacts cost nothing to speak of.
    assert_eq!(attempts(&mut after(16, true), 30), every_step);
}

/// Meanwhile what came near is still tried, with few factorisations.
#[test]
fn an_island_that_is_nearly_solved_hurries_for_some_steps() {
    // Of 68 contacts; rounding keeps it from so small a tolerance, and not from 10,000 of them.
    let mut settings = settings(SolverChoice::Auto);
    settings.solver.newton.tolerance = 1e-17;
    let (mut world, _) = world(settings, 17);
    let (mut tried, mut hurried) = (Vec::new(), Vec::new());
    for step in 0..30 {
        let report = world.step(DT).unwrap();
        assert!(report.residual <= 1e-13, "{report:?}");
        assert_eq!(report.waiting_islands, 0);
        let steps = (step, report.factorizations);
        if report.hurrying_islands == 1 {
            hurried.push(steps);
        } else {
            tried.push(steps);
        }
    }
    let steps: Vec<u64> = tried.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [0, 1, 2, 3, 4, 6, 9, 14, 23]);
    assert!(tried.iter().all(|(_, count)| *count > 40), "{tried:?}");
    assert!(
        hurried.iter().all(|(_, count)| (1..=20).contains(count)),
        "{hurried:?}"
    );
}

#[test]
fn a_calm_island_gets_the_limits_of_calm_ones() {
    let who_solves = |kick: f64, change: fn(&mut WorldSettings)| {
        let mut settings = settings(SolverChoice::Auto);
        settings.solver.exact_work_limit = 100;
        change(&mut settings);
        let (mut world, ids) = world(settings, 17);
        let spin = Velocity::new(Vec3::ZERO, vec3(kick, 0.0, 0.0));
        world.set_velocity(ids[9], spin).unwrap();
        world.remove(ids[0]).unwrap();
        who(&world.step(DT).unwrap())
    };
    let (exact, swept) = ([("newton", 1, 68)], [("simd", 1, 68)]);
    assert_eq!(who_solves(0.0, |_| {}), exact);
    assert_eq!(who_solves(1e-2, |_| {}), swept);
    assert_eq!(who_solves(0.0, |s| s.solver.calm.work_limit = 100), swept);
    assert_eq!(who_solves(0.0, |s| s.solver.calm.contact_limit = 0), swept);
}

/// Only what is solved in a few steps is tried where the work is not enough for the many that all else takes.
#[test]
fn a_budget_for_few_steps_is_spent_on_very_few() {
    // Of 120 contacts, and with no tolerance never done; a step of Newton's method takes 127,000 multiply-adds.
    let factorizations = |work: u64, kick: f64| {
        let mut settings = settings(SolverChoice::Auto);
        settings.solver.newton.tolerance = 0.0;
        settings.solver.exact_base_work = work;
        settings.solver.exact_contact_work = 0;
        settings.solver.calm.contact_work = 0;
        let (mut world, ids) = world(settings, 30);
        let spin = Velocity::new(Vec3::ZERO, vec3(kick, 0.0, 0.0));
        world.set_velocity(ids[9], spin).unwrap();
        world.remove(ids[0]).unwrap();
        world.step(DT).unwrap().factorizations
    };
    let moving = 1e-2;
    let associated = 15;
    assert!(factorizations(3_000_000, moving) <= 15 + associated);
    assert!(factorizations(6_000_000, moving) >= 40);
    assert!(factorizations(3_000_000, 0.0) > 20 + associated / 3);
}

#[test]
fn small_islands_get_more_sweeps() {
    let sweeps = |height: usize, fast_sweeps: u64, choice: SolverChoice| {
        let mut settings = settings(choice);
        settings.solver.exact_work_limit = 0;
        settings.solver.calm.contact_limit = 0;
        settings.solver.simd.tolerance = 0.0;
        settings.solver.fast_sweeps = fast_sweeps;
        let (mut world, ids) = world(settings, height);
        world.remove(ids[0]).unwrap();
        world.step(DT).unwrap().sweeps
    };
    let auto = SolverChoice::Auto;
    // 40 and 80 contacts.
    assert_eq!(sweeps(10, 250_000, auto), 400);
    assert_eq!(sweeps(10, 8_000, auto), 200);
    assert_eq!(sweeps(20, 8_000, auto), 100);
    assert_eq!(sweeps(10, 0, auto), 100);
    assert_eq!(sweeps(10, 250_000, SolverChoice::Simd), 100);
}

/// What is tried only because it is calm has no other budget.
#[test]
fn the_budget_of_large_calm_islands_bounds_them() {
    let (mut bounded, ids) = large_and_calm(0.0);
    let mut settings = *bounded.settings();
    settings.solver.calm.max_work = 0;
    bounded.set_settings(settings).unwrap();
    bounded.remove(ids[0]).unwrap();
    assert_eq!(bounded.step(DT).unwrap().factorizations, 0);
}

#[test]
fn only_what_would_be_tried_waits() {
    let (mut world, _) = large_and_calm(0.0);
    world.step(DT).unwrap();
    assert_eq!(world.step(DT).unwrap().waiting_islands, 1);
    let mut settings = *world.settings();
    settings.solver.choice = SolverChoice::Newton;
    world.set_settings(settings).unwrap();
    let report = world.step(DT).unwrap();
    assert_eq!(report.waiting_islands, 0);
    assert!(report.factorizations > 0);
}

/// Bodies that waited are tried as all others once they were part of an island that was solved.
#[test]
fn who_was_solved_with_others_does_not_wait() {
    let (mut world, ids) = large_and_calm(0.0);
    world.step(DT).unwrap();
    let mut settings = *world.settings();
    settings.solver.newton.tolerance = 1e-9;
    world.set_settings(settings).unwrap();
    let mut others = Vec::new();
    for k in 3..10 {
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(10.0, 0.5 + k as f64, 0.0));
        others.push(world.add(cube.friction(0.5)).unwrap());
    }
    assert!(world.step(DT).unwrap().certified);
    for id in others {
        world.remove(id).unwrap();
    }
    world.remove(ids[0]).unwrap();
    let report = world.step(DT).unwrap();
    assert_eq!(
        (who(&report), report.waiting_islands),
        (vec![("newton", 1, 12)], 0)
    );
}

#[test]
fn a_forced_solver_solves_every_island() {
    for (choice, name) in [
        (SolverChoice::Simd, "simd"),
        (SolverChoice::Pgs, "pgs"),
        (SolverChoice::Block, "block"),
        (SolverChoice::Newton, "newton"),
    ] {
        let (mut world, ids) = world(settings(choice), 3);
        assert_eq!(world.solver_name(), name);
        let mut last = None;
        for _ in 0..30 {
            let report = world.step(DT).unwrap();
            assert_eq!(who(&report), [(name, 2, 16)]);
            last = Some(report);
        }
        // Sweeps need some steps of warm starts.
        assert!(
            last.is_some_and(|report| report.certified),
            "{name}: {last:?}"
        );
        for (k, id) in ids[1..].iter().enumerate() {
            let y = world.body(*id).unwrap().position().y;
            assert!((y - 0.5 - k as f64).abs() < 1e-6, "{name}: {y}");
        }
    }
}

#[test]
fn the_active_set_refuses_friction_and_leaves_the_world_alone() {
    let (mut world, ids) = world(settings(SolverChoice::ActiveSet), 1);
    let before = world.snapshot();
    let error = world.step(DT).unwrap_err();
    let want = SolveError::Unsupported {
        solver: "active-set",
        what: "contacts with friction",
    };
    assert_eq!(error, WorldError::Solve(want));
    assert_eq!(world.snapshot(), before);
    assert!(world.island_reports().is_empty());

    // Without the rough cube it is taken.
    world.remove(ids[1]).unwrap();
    let report = world.step(DT).unwrap();
    assert_eq!(who(&report), [("active-set", 1, 4)]);
}

#[test]
fn what_has_no_answer_is_swept() {
    // A smooth cube between two plates that close: no velocity keeps out of both.
    let mut world = World::new(settings(SolverChoice::Auto)).unwrap();
    for (y, speed) in [(-0.5, 1.0), (1.5, -1.0)] {
        let plate = Body::kinematic(Shape::cuboid(2.0, 0.5, 2.0)).at(vec3(0.0, y, 0.0));
        let plate = plate.friction(0.0);
        let id = world.add(plate).unwrap();
        let velocity = Velocity::new(vec3(0.0, speed, 0.0), Vec3::ZERO);
        world.set_velocity(id, velocity).unwrap();
    }
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 0.5, 0.0));
    world.add(cube.friction(0.0)).unwrap();
    let report = world.step(DT).unwrap();
    // Newton's impulses grow without bound, and are given up.
    assert_eq!(who(&report), [("pgs", 1, 8)]);
    // The plates' speed of approach is 2 m/s; the best that there is shares it out.
    assert!(!report.certified && report.uncertified_islands == 1);
    assert!(report.residual > 0.5, "{}", report.residual);
}

#[test]
fn sweeps_go_on_where_newton_s_work_ends() {
    // No factorisation is allowed, so that Newton ends with its first sweeps.
    let mut alone = settings(SolverChoice::Newton);
    alone.solver.newton.max_work = 0;
    let (mut world_alone, _) = world(alone, 3);
    let newton = world_alone.step(DT).unwrap();
    assert_eq!(who(&newton), [("newton", 2, 16)]);
    assert!(!newton.certified && newton.factorizations == 0);
    for (fast, name) in [(FastPath::Pgs, "pgs"), (FastPath::Block, "block")] {
        let mut both = alone;
        both.solver.choice = SolverChoice::Auto;
        both.solver.fast = fast;
        let (mut world, _) = world(both, 3);
        let report = world.step(DT).unwrap();
        assert_eq!(who(&report), [("active-set", 1, 4), (name, 1, 12)]);
        assert!(report.residual < 0.1 * newton.residual, "{report:?}");
        // Its sweeps come on top of Newton's.
        assert!(report.sweeps > newton.sweeps, "{report:?}");
    }
}

#[test]
fn the_exact_budget_of_an_island_grows_with_its_contacts() {
    let after = |base: u64, each: u64| {
        let mut settings = settings(SolverChoice::Auto);
        settings.solver.exact_base_work = base;
        settings.solver.exact_contact_work = each;
        world(settings, 3).0.step(DT).unwrap()
    };
    let newton = |report: &StepReport| report.solvers.of(IslandSolver::Newton).factorizations;
    let exact = after(5_000_000, 20_000);
    assert!(exact.certified && newton(&exact) > 0);
    assert_eq!(who(&exact), [("active-set", 1, 4), ("newton", 1, 12)]);
    // Either is enough here.
    for (base, each) in [(5_000_000, 0), (0, 5_000_000), (u64::MAX, u64::MAX)] {
        let report = after(base, each);
        assert_eq!(newton(&report), newton(&exact));
        assert_eq!(report.residual.to_bits(), exact.residual.to_bits());
    }
    let none = after(0, 0);
    assert_eq!(who(&none), [("active-set", 1, 4), ("simd", 1, 12)]);
    assert_eq!(none.solvers.of(IslandSolver::Simd).factorizations, 0);
    // A forced solver has none but its own.
    let mut forced = settings(SolverChoice::Newton);
    forced.solver.exact_base_work = 0;
    forced.solver.exact_contact_work = 0;
    assert!(world(forced, 3).0.step(DT).unwrap().certified);
}

#[test]
fn the_islands_add_up_to_the_step() {
    let (mut world, ids) = world(settings(SolverChoice::Auto), 4);
    let kick = Velocity::new(vec3(1.0, 0.0, 0.3), Vec3::ZERO);
    world.set_velocity(ids[4], kick).unwrap();
    for _ in 0..5 {
        let report = world.step(DT).unwrap();
        let islands = world.island_reports();
        assert_eq!(islands.len(), report.islands);
        let firsts: Vec<_> = islands.iter().map(|island| island.first_body).collect();
        assert_eq!(firsts, [ids[0], ids[1]]);
        let solvers: Vec<_> = islands.iter().map(|island| island.solver).collect();
        assert_eq!(solvers, [IslandSolver::ActiveSet, IslandSolver::Newton]);
        assert_eq!((islands[0].bodies, islands[1].bodies), (1, 4));
        let sum = |f: fn(&moreau_pipeline::IslandReport) -> u64| islands.iter().map(f).sum::<u64>();
        assert_eq!(
            sum(|i| i.contact_points as u64),
            report.contact_points as u64
        );
        assert_eq!(sum(|i| u64::from(i.solve.sweeps)), report.total_sweeps);
        let factorizations = sum(|i| u64::from(i.solve.factorizations));
        assert_eq!(factorizations, report.factorizations);
        let shares = |f: fn(&moreau_pipeline::SolverShare) -> u64| {
            report
                .solvers
                .iter()
                .map(|(_, share)| f(share))
                .sum::<u64>()
        };
        assert_eq!(shares(|s| s.sweeps), report.total_sweeps);
        assert_eq!(shares(|s| s.factorizations), report.factorizations);
        let worst = islands.iter().map(|i| i.solve.residual).fold(0.0, f64::max);
        assert_eq!(worst, report.residual);
        // The worst contact is one of the island's own.
        for island in islands {
            let contact = &world.contacts()[island.solve.worst_contact.unwrap()];
            assert!(contact.a == island.first_body || contact.b >= island.first_body);
        }
    }
    assert!(!world.island_reports().is_empty());
    let bytes = world.snapshot();
    world.restore(&bytes).unwrap();
    assert!(world.island_reports().is_empty());
}

#[test]
fn a_solver_of_ones_own_is_reported_as_such() {
    let (mut world, _) = world(WorldSettings::default(), 2);
    let own: Box<dyn ContactSolver> = Box::new(PgsSolver::default());
    world.set_solver(own);
    let report = world.step(DT).unwrap();
    assert_eq!(who(&report), [("own", 2, 12)]);
    // It survives a restore, as the documentation says.
    let bytes = world.snapshot();
    world.restore(&bytes).unwrap();
    assert_eq!(who(&world.step(DT).unwrap()), [("own", 2, 12)]);
}
