//! Packs and points, filled from the contacts of a problem.

use crate::arithmetic::Arithmetic;
use crate::colour::{Kind, Unit, UnitShape};
use crate::lanes::{Oct, WIDTH, fetch};
use crate::packed::{Ball, Block, BodyIndex, BodyRecord, NONE, OPEN, Pack, Point, put};
use moreau_constraint::ContactProblem;

/// What blocks are filled with.
pub(crate) struct Source<'a> {
    pub(crate) problem: &'a ContactProblem,
    pub(crate) units: &'a [Unit],
    /// Of each pack from `first_pack` on.
    pub(crate) first_units: &'a [u32],
    pub(crate) first_pack: usize,
    pub(crate) bodies: &'a [Kind],
    pub(crate) masses: &'a [BodyRecord],
    /// Where the coefficients are wanted that follow from levers and masses.
    pub(crate) prepare: Option<Arithmetic>,
}

/// What some blocks hold.
pub(crate) struct Part<'a> {
    pub(crate) packs: &'a mut [Pack],
    pub(crate) points: &'a mut [Point],
    pub(crate) balls: &'a mut [Ball],
    pub(crate) contacts: &'a mut [[u32; WIDTH]],
}

impl Part<'_> {
    /// Before a block that has so many of each before it, and from there on.
    fn split_at(self, [packs, points, balls]: [usize; 3]) -> [Self; 2] {
        let (packs, more_packs) = self.packs.split_at_mut(packs - balls);
        let (contacts, more_contacts) = self.contacts.split_at_mut(points);
        let (points, more_points) = self.points.split_at_mut(points - balls);
        let (balls, more_balls) = self.balls.split_at_mut(balls);
        [
            Self {
                packs,
                points,
                balls,
                contacts,
            },
            Self {
                packs: more_packs,
                points: more_points,
                balls: more_balls,
                contacts: more_contacts,
            },
        ]
    }
}

/// Blocks that are filled at a time: some of 100 kB, that stay near.
const SHARED_BLOCKS: usize = 8;

/// Units whose contacts are fetched ahead.
const AHEAD: usize = 2 * WIDTH;

impl Source<'_> {
    pub(crate) fn fill(&self, blocks: &[Block], part: Part<'_>, parallel: bool) {
        if blocks.len() >= 2 * SHARED_BLOCKS {
            let (first, second) = blocks.split_at(blocks.len() / 2);
            let before = |block: &Block| [block.packs.start, block.points.start, block.balls];
            let (start, middle) = (before(&first[0]), before(&second[0]));
            let [part, more] = part.split_at(std::array::from_fn(|k| middle[k] - start[k]));
            if parallel {
                rayon::join(
                    || self.fill(first, part, true),
                    || self.fill(second, more, true),
                );
            } else {
                self.fill(first, part, false);
                self.fill(second, more, false);
            }
            return;
        }
        let nobody = BodyIndex::nobody(self.bodies.len());
        part.packs.fill(Pack {
            a: [nobody; WIDTH],
            b: [nobody; WIDTH],
            ..Pack::default()
        });
        part.points.fill(Point {
            bias: [Oct([OPEN; WIDTH]), Oct::default(), Oct::default()],
            ..Point::default()
        });
        part.balls.fill(Ball {
            a: [nobody; WIDTH],
            b: [nobody; WIDTH],
            bias: Oct([OPEN; WIDTH]),
            ..Ball::default()
        });
        part.contacts.fill([NONE; WIDTH]);
        let (mut packs, mut balls) = (part.packs.iter_mut(), part.balls.iter_mut());
        let (mut points, mut contacts) = (&mut *part.points, part.contacts);
        for block in blocks {
            for index in block.packs.clone() {
                let (indices, rest) = contacts.split_at_mut(block.count);
                contacts = rest;
                let units = self.units_of(index);
                if block.shape == UnitShape::Balls {
                    let Some(ball) = balls.next() else { return };
                    for (lane, unit) in units.iter().enumerate() {
                        self.fetch_ahead(index, lane);
                        self.fill_ball(unit, (ball, &mut indices[0], lane));
                    }
                } else {
                    let Some(pack) = packs.next() else { return };
                    let (of_pack, rest) = points.split_at_mut(block.count);
                    points = rest;
                    for (lane, unit) in units.iter().enumerate() {
                        self.fetch_ahead(index, lane);
                        self.fill_lane(unit, (pack, of_pack, indices, lane));
                    }
                }
            }
        }
        if let Some(arithmetic) = self.prepare {
            let filled = (&*part.packs, part.points, part.balls);
            arithmetic.prepare(self.masses, blocks, filled);
        }
    }

    /// Units lie in the order of colours, their contacts in memory as the problem has them.
    fn fetch_ahead(&self, pack: usize, lane: usize) {
        let unit = self.first_units[pack - self.first_pack] as usize + lane + AHEAD;
        if let Some(unit) = self.units.get(unit) {
            fetch(&self.problem.contacts()[unit.contacts()[0] as usize]);
        }
    }

    fn units_of(&self, pack: usize) -> &[Unit] {
        let index = pack - self.first_pack;
        let next = self.first_units.get(index + 1);
        let end = next.map_or(self.units.len(), |unit| *unit as usize);
        &self.units[self.first_units[index] as usize..end]
    }

    fn fill_lane(&self, unit: &Unit, (pack, points, indices, lane): Place<'_>) {
        let contacts = self.problem.contacts();
        let first = &contacts[unit.contacts()[0] as usize];
        let frame = &first.frame;
        pack.a[lane] = BodyIndex::of(&self.bodies[unit.a as usize]);
        pack.b[lane] = BodyIndex::of(&self.bodies[unit.b as usize]);
        put(&mut pack.normal, lane, frame.normal);
        put(&mut pack.tangent1, lane, frame.tangent1);
        put(&mut pack.tangent2, lane, frame.tangent2);
        pack.friction.0[lane] = first.friction;
        for (k, index) in unit.contacts().iter().enumerate() {
            let c = &contacts[*index as usize];
            let point = &mut points[k];
            put(&mut point.lever_a, lane, c.lever_a);
            put(&mut point.lever_b, lane, c.lever_b);
            put(&mut point.bias, lane, c.bias);
            indices[k][lane] = *index;
        }
    }

    fn fill_ball(&self, unit: &Unit, (ball, indices, lane): BallPlace<'_>) {
        let index = unit.contacts()[0];
        let c = &self.problem.contacts()[index as usize];
        let bodies = [unit.a, unit.b].map(|body| &self.bodies[body as usize]);
        ball.a[lane] = BodyIndex::of(bodies[0]);
        ball.b[lane] = BodyIndex::of(bodies[1]);
        let normal = c.frame.normal;
        put(&mut ball.normal, lane, normal);
        put(&mut ball.tangent1, lane, c.frame.tangent1);
        ball.friction.0[lane] = c.friction;
        for ((arm, body), lever) in ball.arms.iter_mut().zip(bodies).zip([c.lever_a, c.lever_b]) {
            arm.0[lane] = if body.still { 0.0 } else { normal.dot(lever) };
        }
        ball.bias.0[lane] = c.bias.x;
        indices[lane] = index;
    }
}

type Place<'a> = (&'a mut Pack, &'a mut [Point], &'a mut [[u32; WIDTH]], usize);

type BallPlace<'a> = (&'a mut Ball, &'a mut [u32; WIDTH], usize);
