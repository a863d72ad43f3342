//! The exact single contact against its law and against brute force.
//!
//! Errors are relative: velocities to |W| |l| + |q|, which is what one rounding of s = W l + q is
//! measured by, impulses to |l|. The brute force looks at every direction of sliding.

use moreau_constraint::{ContactBlock, ContactState, SingleContact, solve_single_contact};
use moreau_math::{Mat3, Quat, Vec3, vec3};

struct Random(u64);

impl Random {
    /// In 0..1.
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed())
    }

    /// 10 to a power in `from..to`.
    fn decade(&mut self, from: f64, to: f64) -> f64 {
        moreau_math::libm::pow(10.0, from + (to - from) * self.unit())
    }

    /// A block with the given eigenvalues in random directions.
    fn block(&mut self, eigenvalues: Vec3) -> Mat3 {
        let turn = Quat::from_xyzw(self.signed(), self.signed(), self.signed(), self.signed());
        let r = Mat3::from_quat(turn.normalize());
        let w = r * Mat3::from_diagonal(eigenvalues) * r.transpose();
        symmetric(w)
    }

    /// A contact of a free body: W = 1/m + (r x)' I^-1 (r x).
    fn body_block(&mut self) -> Mat3 {
        let lever = self.vector() * self.decade(-1.0, 1.0);
        let inverse = self.decade(-1.0, 2.0);
        let inverse_inertia = vec3(
            inverse * (0.5 + self.unit()),
            inverse * (0.5 + self.unit()),
            inverse * (0.5 + self.unit()),
        );
        let cross = Mat3::from_cols(
            lever.cross(Vec3::X),
            lever.cross(Vec3::Y),
            lever.cross(Vec3::Z),
        );
        let w = Mat3::IDENTITY + cross.transpose() * Mat3::from_diagonal(inverse_inertia) * cross;
        symmetric(w)
    }

    fn friction(&mut self) -> f64 {
        match (8.0 * self.unit()) as u32 {
            0 => 0.0,
            1 => 1e3,
            2 => 10.0 * self.unit(),
            3 => self.decade(-6.0, 0.0),
            _ => 1.5 * self.unit(),
        }
    }
}

fn symmetric(w: Mat3) -> Mat3 {
    let (n1, n2, t12) = (w.x_axis.y, w.x_axis.z, w.y_axis.z);
    let columns = [w.x_axis.x, n1, n2, n1, w.y_axis.y, t12, n2, t12, w.z_axis.z];
    Mat3::from_cols_array(&columns)
}

fn tangent(v: Vec3) -> (f64, f64) {
    (v.y, v.z)
}

fn length((x, y): (f64, f64)) -> f64 {
    let big = x.abs().max(y.abs());
    if big == 0.0 {
        return 0.0;
    }
    big * ((x / big) * (x / big) + (y / big) * (y / big)).sqrt()
}

/// The worst relative error of the law at `l`; `floor` is the least normal impulse.
fn law_error_above(w: &Mat3, q: Vec3, mu: f64, floor: f64, l: Vec3) -> f64 {
    let s = *w * l + q;
    let size = w
        .to_cols_array()
        .into_iter()
        .fold(0.0, |m: f64, x| m.max(x.abs()));
    let speed = size * l.length() + q.length();
    let impulse = l.length().max(1e-300);
    let (pressing, sliding) = (l.x - floor, length(tangent(s)));
    let held = length(tangent(l));
    let mut worst: f64 = 0.0;
    // Signs, and one of the two zero.
    worst = worst.max(-pressing / impulse).max(-s.x / speed);
    worst = worst.max((pressing / impulse).min(s.x / speed));
    // The cone.
    worst = worst.max((held - mu * l.x) / (impulse * (1.0 + mu)));
    // Sliding: opposite, and on the cone. Each error is weighed by the speed of sliding.
    if mu > 0.0 {
        let (dx, dy) = (
            l.y * sliding + mu * l.x * s.y,
            l.z * sliding + mu * l.x * s.z,
        );
        worst = worst.max(length((dx, dy)) / (impulse * (1.0 + mu) * speed));
    }
    assert!(!worst.is_nan());
    worst
}

fn law_error(w: &Mat3, q: Vec3, mu: f64, l: Vec3) -> f64 {
    law_error_above(w, q, mu, 0.0, l)
}

/// What a run over many blocks saw.
#[derive(Default)]
struct Seen {
    blocks: u32,
    searches: u32,
    iterations: u64,
    most: u32,
    worst: f64,
}

impl Seen {
    fn check(&mut self, w: &Mat3, q: Vec3, mu: f64, answer: SingleContact) {
        assert!(answer.impulse.is_finite(), "{w} {q} {mu} {answer:?}");
        assert!(answer.state != ContactState::Jammed, "{w} {q} {mu}");
        let error = law_error(w, q, mu, answer.impulse);
        assert!(error <= 1e-12, "{error:e}\n{w}\n{q}\n{mu}\n{answer:?}");
        assert!(answer.iterations <= 60, "{w} {q} {mu} {answer:?}");
        self.blocks += 1;
        self.worst = self.worst.max(error);
        if answer.iterations > 0 {
            self.searches += 1;
            self.iterations += u64::from(answer.iterations);
            self.most = self.most.max(answer.iterations);
        }
    }

    fn report(&self, name: &str) {
        println!(
            "{name}: {} blocks, {} searches, mean {:.2}, most {}, worst error {:.1e}",
            self.blocks,
            self.searches,
            self.iterations as f64 / f64::from(self.searches.max(1)),
            self.most,
            self.worst
        );
    }
}

#[test]
fn random_blocks_satisfy_the_law() {
    let mut random = Random(1);
    let mut seen = Seen::default();
    for k in 0..200_000 {
        let w = if k % 2 == 0 {
            random.body_block()
        } else {
            let least = random.decade(-8.0, 0.0);
            let middle = random.decade(-8.0, 0.0).max(least);
            random.block(vec3(1.0, middle, least))
        };
        let q = random.vector();
        let mu = random.friction();
        seen.check(&w, q, mu, solve_single_contact(&w, q, mu));
    }
    seen.report("random");
    assert!(seen.searches > 40_000);
    assert!(seen.iterations < 6 * u64::from(seen.searches));
}

#[test]
fn scales_do_not_matter() {
    let mut random = Random(2);
    let mut seen = Seen::default();
    for _ in 0..20_000 {
        let w = random.body_block() * random.decade(-12.0, 12.0);
        let scale = random.decade(-12.0, 12.0);
        let mut q = random.vector() * scale;
        if random.unit() < 0.3 {
            // Hardly touching, or hardly sliding.
            q.x *= random.decade(-18.0, 0.0);
        } else if random.unit() < 0.5 {
            q.y *= random.decade(-18.0, 0.0);
            q.z *= random.decade(-18.0, 0.0);
        }
        let mu = random.friction();
        seen.check(&w, q, mu, solve_single_contact(&w, q, mu));
    }
    seen.report("scales");
}

#[test]
fn extreme_numbers_end_in_finite_answers() {
    let w = Random(3).body_block();
    for q_n in [-1e-300, -1e-60, -5e-324] {
        for q_t in [0.0, 1e-12, 1.0, 1e12] {
            for mu in [1e-300, 1e-12, 0.5, 1e3] {
                let q = vec3(q_n, q_t, -0.3 * q_t);
                let answer = solve_single_contact(&w, q, mu);
                assert!(
                    answer.impulse.is_finite() && answer.impulse.x >= 0.0,
                    "{q} {mu}"
                );
                assert!(answer.iterations <= 60, "{q} {mu} {answer:?}");
                let held = length(tangent(answer.impulse));
                assert!(
                    held <= mu * answer.impulse.x * (1.0 + 1e-12),
                    "{q} {mu} {answer:?}"
                );
            }
        }
    }
}

#[test]
fn special_blocks_satisfy_the_law() {
    let mut random = Random(4);
    let mut seen = Seen::default();
    for k in 0..40_000 {
        let mut w = random.body_block();
        let mut q = random.vector();
        let mut mu = random.friction();
        match k % 5 {
            // No coupling.
            0 => {
                let (t1, t2) = (random.unit(), random.unit());
                w = Mat3::from_diagonal(vec3(random.unit() + 0.01, t1, t2));
            }
            // A ball.
            1 => w = Mat3::from_diagonal(vec3(2.0, 7.0, 7.0)),
            // Nothing slides yet.
            2 => (q.y, q.z) = (0.0, 0.0),
            // A planar body: nothing couples to the second tangent.
            3 => {
                let c = random.signed();
                w = Mat3::from_cols_array(&[1.5, c, 0.0, c, 2.0, 0.0, 0.0, 0.0, 0.7]);
                q.z = 0.0;
            }
            // Just on the edge between sticking and slipping.
            _ => {
                let l = vec3(1.0, 0.3, -0.4);
                q = -(w * l);
                mu = 0.5;
            }
        }
        seen.check(&w, q, mu, solve_single_contact(&w, q, mu));
    }
    seen.report("special");
}

/// All answers of the law with a sliding direction, by a scan of all directions refined by bisection.
/// For l = n (1, mu d): s_n = 0 gives n, and the tangential velocity must point along -d.
fn slips(w: &Mat3, q: Vec3, mu: f64) -> Vec<Vec3> {
    let at = |angle: f64| {
        let (sin, cos) = (moreau_math::libm::sin(angle), moreau_math::libm::cos(angle));
        let direction = vec3(1.0, mu * cos, mu * sin);
        let give = (*w * direction).x;
        if give <= 0.0 {
            return None;
        }
        let l = direction * (-q.x / give);
        let s = *w * l + q;
        Some((cos * s.z - sin * s.y, cos * s.y + sin * s.z, l))
    };
    let steps = 4000;
    let angle = |k: usize| core::f64::consts::TAU * (k as f64 + 0.123) / steps as f64;
    let mut found = Vec::new();
    for k in 0..steps {
        let (mut from, mut to) = (angle(k), angle(k + 1));
        let (Some(first), Some(last)) = (at(from), at(to)) else {
            continue;
        };
        if (first.0 > 0.0) == (last.0 > 0.0) {
            continue;
        }
        let rising = last.0 > 0.0;
        let mut best = first;
        for _ in 0..60 {
            let middle = 0.5 * (from + to);
            let Some(value) = at(middle) else { break };
            best = value;
            if (value.0 > 0.0) == rising {
                to = middle;
            } else {
                from = middle;
            }
        }
        if best.1 <= 0.0 {
            found.push(best.2);
        }
    }
    found
}

#[test]
fn brute_force_finds_the_same() {
    let mut random = Random(5);
    let (mut compared, mut several) = (0, 0);
    for _ in 0..3000 {
        let w = random.body_block();
        let mut q = random.vector();
        q.x = -q.x.abs() - 1e-3;
        let mu = match (4.0 * random.unit()) as u32 {
            0 => 1.0 + 9.0 * random.unit(),
            _ => 0.05 + random.unit(),
        };
        let answer = solve_single_contact(&w, q, mu);
        let all = slips(&w, q, mu);
        several += u32::from(all.len() > 1);
        match answer.state {
            ContactState::Slip => {
                compared += 1;
                let distance = |l: &Vec3| (*l - answer.impulse).length() / answer.impulse.length();
                let nearest = all.iter().map(distance).fold(f64::INFINITY, f64::min);
                assert!(
                    nearest < 1e-9,
                    "{nearest:e}\n{w}\n{q}\n{mu}\n{answer:?}\n{all:?}"
                );
            }
            state => {
                assert_eq!(state, ContactState::Stick);
                let s = w * answer.impulse + q;
                assert!(s.length() < 1e-12 * (1.0 + w.x_axis.length() * answer.impulse.length()));
            }
        }
    }
    println!("{compared} slips compared, {several} problems with more than one");
    assert!(compared > 1000);
}

#[test]
fn singular_blocks_are_solved_where_an_answer_exists() {
    let mut random = Random(6);
    let mut seen = Seen::default();
    let (mut jammed, mut inconsistent) = (0, 0);
    for k in 0..20_000 {
        // Rank 2 or rank 1; q in the range (nothing else moves the contact) or anywhere.
        let (d, mut e) = (random.vector(), random.vector());
        if k % 2 == 0 {
            e = Vec3::ZERO;
        }
        let square = |d: Vec3| Mat3::from_cols(d * d.x, d * d.y, d * d.z);
        let w = symmetric(square(d) + square(e));
        let mu = random.friction();
        let consistent = k % 4 < 2;
        let q = if consistent {
            d * random.signed() + e * random.signed()
        } else {
            random.vector()
        };
        let answer = solve_single_contact(&w, q, mu);
        if answer.state != ContactState::Jammed {
            // What rounding leaves of the zero eigenvalue may carry a large impulse.
            seen.check(&w, q, mu, answer);
            continue;
        }
        assert!(!consistent, "{w} {q} {mu}");
        inconsistent += 1;
        assert!(answer.impulse.is_finite());
        if inconsistent <= 200 {
            jammed += 1;
            assert!(
                slips(&w, q, mu).is_empty(),
                "{w}\n{q}\n{mu}\n{:?}",
                slips(&w, q, mu)
            );
        }
    }
    seen.report("singular");
    println!("{inconsistent} have no answer");
    assert!(jammed > 100, "{jammed}");
}

#[test]
fn a_jamming_rod_takes_the_sticking_answer() {
    // W_nn + mu w·d < 0 for the sliding direction d: pushing makes the tip dig in. It sticks at once.
    let w = symmetric(Mat3::from_cols_array(&[
        1.0, -1.4, 0.0, -1.4, 3.0, 0.0, 0.0, 0.0, 2.0,
    ]));
    let q = vec3(-0.1, -1.0, 0.0);
    let mu = 1.5;
    assert!(w.x_axis.x + mu * w.x_axis.y < 0.0);
    assert!(slips(&w, q, mu).is_empty());
    let answer = solve_single_contact(&w, q, mu);
    assert_eq!(answer.state, ContactState::Stick);
    assert!(law_error(&w, q, mu, answer.impulse) < 1e-15);
}

#[test]
fn an_update_is_a_solve_without_the_old_impulse() {
    let mut random = Random(7);
    for _ in 0..10_000 {
        let w = random.body_block();
        let mu = 0.1 + random.unit();
        let block = ContactBlock::new(&w, mu);
        let old = vec3(random.unit(), 0.3 * random.signed(), 0.3 * random.signed());
        let s = random.vector();
        let q = s - w * old;
        let (new, want) = (block.update(s, old, 0.0), block.solve(q, 0.0));
        let error = law_error(&w, q, mu, new.impulse);
        assert!(error < 1e-13, "{error:e}");
        // A guess changes nothing but the number of steps.
        let again = block.update(s, old, want.slip_rate);
        assert!((again.impulse - new.impulse).length() <= 1e-11 * (1.0 + new.impulse.length()));
        assert!(again.iterations <= 3, "{again:?}");
    }
}

#[test]
fn a_floor_keeps_the_law_above_it() {
    let mut random = Random(8);
    let (mut at_floor, mut above) = (0, 0);
    for _ in 0..20_000 {
        let w = random.body_block();
        let mu = random.friction();
        let block = ContactBlock::new(&w, mu);
        let floor = random.unit();
        let old = vec3(random.unit(), 0.3 * random.signed(), 0.3 * random.signed());
        let s = random.vector() * random.decade(-1.0, 2.0);
        let q = s - w * old;
        let answer = block.update_above(s, old, floor, 0.0);
        let error = law_error_above(&w, q, mu, floor, answer.impulse);
        assert!(
            error < 1e-12,
            "{error:e}\n{w}\n{q}\n{mu} {floor}\n{answer:?}"
        );
        if answer.impulse.x == floor {
            at_floor += 1;
        } else {
            above += 1;
        }
    }
    assert!(at_floor > 1000 && above > 1000, "{at_floor} {above}");
}
