//! The order in which bodies are added: it decides which is A of a pair and where solvers begin, not what is right.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_constraint::Impulses;
use moreau_math::{Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, BodyId, Contact, SolverChoice, World, WorldSettings};
use moreau_solver::certify;
use random::Random;

const DT: f64 = 1.0 / 60.0;

fn ground() -> Body {
    Body::fixed(Shape::half_space(Vec3::Y))
}

fn cube(at: Vec3) -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(at)
}

/// The bodies, added in `order`; their ids are in the order of `bodies`.
fn world(settings: WorldSettings, bodies: &[Body], order: &[usize]) -> (World, Vec<BodyId>) {
    let mut world = World::new(settings).unwrap();
    let mut ids = vec![None; bodies.len()];
    for k in order {
        ids[*k] = Some(world.add(bodies[*k].clone()).unwrap());
    }
    (world, ids.into_iter().flatten().collect())
}

/// The largest distance of places (m), rotations and velocities (m/s, rad/s).
fn apart(first: (&World, &[BodyId]), second: (&World, &[BodyId])) -> f64 {
    let pairs = first.1.iter().zip(second.1);
    let distances = pairs.map(|(x, y)| {
        let (x, y) = (first.0.body(*x).unwrap(), second.0.body(*y).unwrap());
        let (p, q) = (x.rotation(), y.rotation());
        let turn = (p - q).length().min((p + q).length());
        let (v, w) = (x.velocity(), y.velocity());
        let speed = (v.linear - w.linear).length();
        let spin = (v.angular - w.angular).length();
        let way = (x.position() - y.position()).length();
        way.max(turn).max(speed).max(spin)
    });
    distances.fold(0.0, |a, b| if b <= a { a } else { b })
}

fn scenes() -> Vec<(&'static str, Vec<Body>)> {
    let tower = (0..5).map(|i| cube(vec3(0.0, 0.5 + f64::from(i), 0.0)));
    let twisted = (0..6).map(|i| {
        let i = f64::from(i);
        cube(vec3(0.03 * i, 0.5 + i, 0.02 * i)).rotated(rotation_from_vector(Vec3::Y * 0.3 * i))
    });
    let pyramid = (0..4).flat_map(|row| {
        (0..4 - row).map(move |i| {
            let x = 1.03 * (f64::from(i) + 0.5 * f64::from(row));
            cube(vec3(x, 0.5 + f64::from(row), 0.0))
        })
    });
    let slides = (0..4).map(|i| {
        let i = f64::from(i);
        let body = cube(vec3(0.0, 0.5, 3.0 * i)).friction(0.2 + 0.1 * i);
        let turn = rotation_from_vector(Vec3::Y * 0.4 * i);
        body.rotated(turn)
            .moving(vec3(5.0, 0.0, 0.0), Vec3::Y * 2.0)
    });
    let ball = |at: Vec3| Body::dynamic(Shape::sphere(0.5)).at(at);
    let rolls = [
        ball(vec3(0.0, 0.5, 0.0)).moving(vec3(2.0, 0.0, 0.3), Vec3::Y * 5.0),
        ball(vec3(4.0, 0.5, 0.7)).moving(vec3(-1.0, 0.0, 0.0), Vec3::ZERO),
    ];
    let with_ground = |bodies: Vec<Body>| [vec![ground()], bodies].concat();
    vec![
        ("tower", with_ground(tower.collect())),
        ("twisted tower", with_ground(twisted.collect())),
        ("pyramid", with_ground(pyramid.collect())),
        ("slides", with_ground(slides.collect())),
        ("balls", with_ground(rolls.to_vec())),
    ]
}

#[test]
fn bodies_that_are_added_in_any_order_move_alike() {
    let mut settings = WorldSettings::default();
    settings.solver.choice = SolverChoice::Newton;
    settings.solver.newton.tolerance = 1e-13;
    settings.solver.newton.aim = 1e-13;
    let mut random = Random(5);
    for (name, bodies) in scenes() {
        let plain: Vec<usize> = (0..bodies.len()).collect();
        let (mut first, ids) = world(settings, &bodies, &plain);
        let backwards = plain.iter().rev().copied().collect();
        let orders = [backwards, random.order(bodies.len())];
        let mut others = orders.map(|order| world(settings, &bodies, &order));
        for step in 0..120 {
            first.step(DT).unwrap();
            for (other, other_ids) in &mut others {
                other.step(DT).unwrap();
                let distance = apart((&first, &ids), (other, other_ids));
                assert!(distance < 1e-9, "{name}, step {step}: {distance:e}");
            }
        }
    }
}

/// The places of a contact's A and B in `ids`, its levers, and the impulse on B in the world's axes, N s.
fn named(contact: &Contact, ids: &[BodyId]) -> ([usize; 2], [Vec3; 2], Vec3) {
    let name = |id: BodyId| ids.iter().position(|x| *x == id).unwrap();
    let c = contact;
    let l = c.impulse;
    let impulse = c.normal * l.x + c.tangent1 * l.y + c.tangent2 * l.z;
    ([name(c.a), name(c.b)], [c.lever_a, c.lever_b], impulse)
}

/// Boxes that stand on a floor and push each other: Coulomb's law has several answers, and the order of the bodies
/// chooses. Each is right in the world of the other.
#[test]
fn boxes_that_push_each_other_have_several_answers() {
    let mut random = Random(11);
    let mut most = 0.0_f64;
    for _ in 0..20 {
        let mut bodies = vec![ground()];
        for i in 0..3 {
            let at = vec3(f64::from(i), 0.5, 0.2 * random.signed());
            let speed = if i == 0 { random.range(0.5, 6.0) } else { 0.0 };
            bodies.push(cube(at).moving(vec3(speed, 0.0, 0.0), Vec3::ZERO));
        }
        let (mut first, ids) = world(WorldSettings::default(), &bodies, &[0, 1, 2, 3]);
        let (mut second, second_ids) = world(WorldSettings::default(), &bodies, &[3, 2, 1, 0]);
        let problems = first.next_problems(DT).unwrap();
        let [island] = &problems[..] else {
            panic!("{} islands", problems.len());
        };
        let reports = [first.step(DT).unwrap(), second.step(DT).unwrap()];
        assert!(reports.iter().all(|r| r.certified && r.islands == 1));
        let theirs = second.awake_contacts().iter();
        let theirs: Vec<_> = theirs.map(|c| named(c, &second_ids)).collect();
        let contacts = island.problem.contacts().iter();
        let contacts = contacts
            .zip(first.awake_contacts())
            .map(|(point, contact)| {
                let (pair, levers, _) = named(contact, &ids);
                let same = |x: &[Vec3; 2]| (0..2).all(|k| (x[k] - levers[k]).length() < 1e-9);
                let mut found = theirs.iter().filter_map(|&([a, b], [x, y], impulse)| {
                    let turned = ([b, a], [y, x], -impulse);
                    let candidates = [([a, b], [x, y], impulse), turned].into_iter();
                    let mut fitting = candidates.filter(|c| c.0 == pair && same(&c.1));
                    fitting.next().map(|c| c.2)
                });
                let impulse = found.next().expect("both worlds have it");
                assert!(found.next().is_none());
                point.frame.to_local(impulse)
            });
        let answer = Impulses {
            contacts: contacts.collect(),
            rows: Vec::new(),
        };
        let map = certify(&island.problem, &answer).unwrap().natural_map;
        assert!(map < 1e-8, "{map:e}");
        most = most.max(apart((&first, &ids), (&second, &second_ids)));
    }
    assert!(most > 1e-4 && most < 0.1, "{most:e}");
}
