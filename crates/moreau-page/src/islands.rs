//! Which bodies touch or are joined, directly or through other dynamic ones.

use crate::frame::{JointRecord, Stage};
use moreau::BodyKind;

/// No island.
pub(crate) const NONE: u32 = 0x7fff_ffff;

/// For each body the index of the smallest body of its island in `step`; [`NONE`] for a body in none.
/// `touching`: which bodies touch.
pub(crate) fn islands(
    stage: &Stage,
    step: u64,
    touching: impl Iterator<Item = (u32, u32)>,
) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..stage.bodies.len() as u32).collect();
    let mut member = vec![false; parent.len()];
    let dynamic = |i: u32| stage.bodies[i as usize].kind == BodyKind::Dynamic;
    let is_there = |j: &&JointRecord| j.steps.is_none_or(|(a, b)| (a..=b).contains(&step));
    let joined = stage.joints.iter().filter(is_there);
    let joined = joined.map(|j| (j.a as u32, j.b as u32));
    for (a, b) in touching.chain(joined) {
        member[a as usize] |= dynamic(a);
        member[b as usize] |= dynamic(b);
        if dynamic(a) && dynamic(b) {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    (0..parent.len() as u32)
        .map(|i| match member[i as usize] {
            true => root(&mut parent, i),
            false => NONE,
        })
        .collect()
}

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use moreau::{Body, Shape, Vec3, World, WorldSettings, vec3};

    #[test]
    fn the_ground_joins_no_islands() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let ball = |x: f64, y: f64| Body::dynamic(Shape::sphere(0.5)).at(vec3(x, y, 0.0));
        for at in [(9.0, 5.0), (0.0, 0.499), (4.0, 0.499), (0.0, 1.497)] {
            world.add(ball(at.0, at.1)).unwrap();
        }
        world.step(0.001).unwrap();
        let ids: Vec<_> = world.bodies().map(|b| b.id()).collect();
        let contacts = frame::contacts(&world, &ids);
        assert_eq!(contacts.len(), 3);
        let mut stage = Stage::of(&world, &[]);
        let touching = || contacts.iter().map(|c| (c.a, c.b));
        assert_eq!(islands(&stage, 1, touching()), [NONE, NONE, 2, 3, 2]);
        // A joint joins, but only while it is there.
        let joint = moreau::Joint::ball(ids[1], Vec3::ZERO, ids[3], Vec3::ZERO);
        stage.joints.push(JointRecord {
            steps: Some((4, 5)),
            ..JointRecord::of(&joint, 1, 3)
        });
        assert_eq!(islands(&stage, 3, touching()), [NONE, NONE, 2, 3, 2]);
        assert_eq!(islands(&stage, 5, touching()), [NONE, 1, 2, 1, 2]);
    }
}
