//! Contact points for the picture: every step's while they are few, else of every second, fourth…

use crate::frame::ContactState;
use moreau::Vec3;

/// Most points kept, 20 bytes each before they are deflated.
const MOST_POINTS: usize = 400_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Indices of the bodies.
    pub(crate) pair: [u32; 2],
    /// m, world frame.
    pub(crate) position: [f32; 3],
    /// See [`octahedral`].
    pub(crate) normal: [i8; 2],
    /// Direction of the impulse on the second body.
    pub(crate) direction: [i8; 2],
    /// Size of the impulse, N s.
    pub(crate) impulse: f32,
}

/// The contact points of chosen steps.
#[derive(Clone, Debug)]
pub(crate) struct ContactLog {
    pub(crate) steps: Vec<(u64, Vec<Point>)>,
    stride: u64,
    total: usize,
    most: usize,
}

impl ContactLog {
    pub(crate) fn new() -> Self {
        Self {
            steps: Vec::new(),
            stride: 1,
            total: 0,
            most: MOST_POINTS,
        }
    }

    /// Takes the contact points of a step.
    pub(crate) fn record(&mut self, step: u64, contacts: &[ContactState]) {
        if !step.is_multiple_of(self.stride) {
            return;
        }
        self.total += contacts.len();
        self.steps
            .push((step, contacts.iter().map(point).collect()));
        while self.total > self.most && self.steps.len() > 1 {
            self.stride *= 2;
            let stride = self.stride;
            self.steps.retain(|(step, _)| step.is_multiple_of(stride));
            self.total = self.steps.iter().map(|(_, points)| points.len()).sum();
        }
    }

    /// Contacts are kept of every how many steps.
    pub(crate) fn stride(&self) -> u64 {
        self.stride
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
        self.steps.iter().flat_map(|(_, points)| points)
    }

    /// The smallest and largest coordinates of all points, m; zeros where there are none.
    pub(crate) fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        let mut bounds = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for point in self.points() {
            for c in 0..3 {
                bounds.0[c] = bounds.0[c].min(point.position[c]);
                bounds.1[c] = bounds.1[c].max(point.position[c]);
            }
        }
        if bounds.0[0] > bounds.1[0] {
            ([0.0; 3], [0.0; 3])
        } else {
            bounds
        }
    }

    /// The largest impulse, and the one that 95 % of the positive ones do not exceed, N s.
    pub(crate) fn impulses(&self) -> (f32, f32) {
        let mut positive: Vec<_> = self
            .points()
            .map(|p| p.impulse)
            .filter(|i| *i > 0.0)
            .collect();
        positive.sort_by(f32::total_cmp);
        let at = |share: usize| positive.get(positive.len().saturating_sub(1) * share / 100);
        (
            at(100).copied().unwrap_or(0.0),
            at(95).copied().unwrap_or(0.0),
        )
    }
}

fn point(state: &ContactState) -> Point {
    let impulse = state.contact.world_impulse();
    let size = impulse.length();
    let direction = if size > 0.0 {
        impulse / size
    } else {
        state.contact.normal
    };
    Point {
        pair: [state.a, state.b],
        position: state.point.to_array().map(|x| x as f32),
        normal: octahedral(state.contact.normal),
        direction: octahedral(direction),
        impulse: size as f32,
    }
}

/// A unit vector as a point of the unfolded octahedron |x| + |y| + |z| = 1 whose lower half (y < 0)
/// is folded outwards; 1/127 a unit. Exact along the axes.
fn octahedral(n: Vec3) -> [i8; 2] {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let (mut u, mut v) = (n.x / sum, n.z / sum);
    if n.y < 0.0 {
        let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        (u, v) = ((1.0 - v.abs()) * sign(u), (1.0 - u.abs()) * sign(v));
    }
    [u, v].map(|x| (x * 127.0).round() as i8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use moreau::{Body, Shape, World, WorldSettings, vec3};

    #[test]
    fn normals_unfold_to_the_octahedron() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let cases = [
            (Vec3::Y, [0, 0]),
            (Vec3::X, [127, 0]),
            (-Vec3::Z, [0, -127]),
            (-Vec3::Y, [127, 127]),
            (vec3(half, half, 0.0), [64, 0]),
            (vec3(half, -half, 0.0), [127, 64]),
        ];
        for (normal, expect) in cases {
            assert_eq!(octahedral(normal), expect, "of {normal}");
        }
    }

    #[test]
    fn too_many_points_thin_out_evenly() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        world
            .add(Body::dynamic(Shape::sphere(0.5)).at(vec3(0.0, 0.5, 0.0)))
            .unwrap();
        let ids: Vec<_> = world.bodies().map(|b| b.id()).collect();
        let mut log = ContactLog {
            most: 5,
            ..ContactLog::new()
        };
        for _ in 0..16 {
            world.step(0.01).unwrap();
            log.record(world.steps(), &frame::contacts(&world, &ids));
        }
        assert_eq!(
            log.steps.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
            [4, 8, 12, 16]
        );
        assert_eq!(log.stride(), 4);
        assert_eq!(log.points().count(), 4);
        // A resting ball touches below its middle and takes m g dt.
        let weight = std::f64::consts::PI / 6.0 * 1000.0 * 9.81 * 0.01;
        for point in log.points() {
            assert!((f64::from(point.impulse) - weight).abs() < 1e-4 * weight);
            assert_eq!((point.pair, point.normal), ([0, 1], [0, 0]));
            assert_eq!(point.direction, [0, 0]);
            assert!(
                point.position.iter().all(|x| x.abs() < 1e-6),
                "{:?}",
                point.position
            );
        }
    }
}
