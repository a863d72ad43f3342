//! Generators: ten lines of JSON that stand for many bodies.
//!
//! All place bodies on a floor whose height is that of `at`. `up` is the scene's axis; the two
//! other axes, in the order x, y, z, are `across` and `depth`. Of the body, w and h are the extents
//! of its turned shape along `across` (or `along`) and `up`, and b the lowest point of that shape
//! below its origin. Bodies are numbered in the order in which the loops below visit them.

use crate::body::{BodyKind, BodySpec, is_default};
use crate::error::{Path, SceneError};
use crate::random::SplitMix64;
use crate::shape::ShapeRef;
use moreau_collision::{Aabb, Shape};
use moreau_math::{Quat, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A direction of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// (1, 0, 0).
    X,
    /// (0, 1, 0).
    #[default]
    Y,
    /// (0, 0, 1).
    Z,
}

impl Axis {
    /// As a unit vector.
    pub fn vector(self) -> Vec3 {
        match self {
            Self::X => Vec3::X,
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }

    /// The two other axes, in the order x, y, z.
    pub fn others(self) -> [Self; 2] {
        match self {
            Self::X => [Self::Y, Self::Z],
            Self::Y => [Self::X, Self::Z],
            Self::Z => [Self::X, Self::Y],
        }
    }
}

/// Bodies made by a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// One body on top of the other.
    Stack(Stack),
    /// A flat wall that has one body less in each row.
    Pyramid(Pyramid),
    /// Many stacks on a grid.
    GridOfColumns(GridOfColumns),
    /// A jittered lattice of bodies, in a container or not, that falls into a heap.
    Pile(Pile),
}

/// One body on top of the other: body k is at `at + up (b + k (h + gap))`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The bodies are named `NAME_0`, `NAME_1` and so on. Default: they have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What each body is; its position must be left out.
    pub body: BodySpec,
    /// How many.
    pub count: u32,
    /// Middle of the foot, m. Default the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: [f64; 3],
    /// Distance between neighbours, m. Default 0: they touch.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gap: f64,
}

/// A flat wall. Row k = 0 .. `rows` has n = `rows` - k bodies; body i of it is at
/// `at + along (i - (n - 1)/2)(w + gap) + up (b + k h)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pyramid {
    /// The bodies are named `NAME_0`, `NAME_1` and so on. Default: they have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What each body is; its position must be left out.
    pub body: BodySpec,
    /// Rows, as many as the lowest has bodies.
    pub rows: u32,
    /// Middle of the foot, m. Default the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: [f64; 3],
    /// Distance between the neighbours of a row, m. Default 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gap: f64,
    /// Direction of a row. Default the first axis that is not up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub along: Option<Axis>,
}

/// Many stacks: body k of the stack (i, j) is at `at + across (i - (columns[0] - 1)/2) spacing[0] +
/// depth (j - (columns[1] - 1)/2) spacing[1] + up (b + k h)`. i is the outermost loop, k the
/// innermost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridOfColumns {
    /// The bodies are named `NAME_0`, `NAME_1` and so on. Default: they have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What each body is; its position must be left out.
    pub body: BodySpec,
    /// How many stacks across and deep.
    pub columns: [u32; 2],
    /// Bodies a stack.
    pub height: u32,
    /// Distances between the middles of neighbouring stacks, across and deep, m.
    pub spacing: [f64; 2],
    /// Middle of the foot of the whole grid, m. Default the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: [f64; 3],
}

/// A lattice whose points are moved and whose bodies are turned at random.
///
/// Layer k (outermost), row j, body i (innermost) is at `at + across (i - (counts[0] - 1)/2)
/// spacing[0] + depth (j - (counts[1] - 1)/2) spacing[1] + up (k + 1/2) spacing[2]`. Then, in this
/// order for each body, three draws in -1 to 1 times `jitter` move it along x, y and z, and one
/// random rotation turns it (if `random_rotation`). The stream is SplitMix64 of `seed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pile {
    /// The bodies are named `NAME_0`, `NAME_1` and so on, the container's `NAME_floor` and
    /// `NAME_wall_0` to `NAME_wall_3`. Default: they have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What each body is; its position must be left out.
    pub body: BodySpec,
    /// Shapes that the bodies take in turn, instead of the one of `body`. Default: that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<ShapeRef>,
    /// How many bodies across, deep and up.
    pub counts: [u32; 3],
    /// Lattice distances across, deep and up, m; bodies must not overlap however they are turned.
    pub spacing: [f64; 3],
    /// Largest random move along each axis, m, 0 or more. Default 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub jitter: f64,
    /// Turns each body at random, before the rotation of `body`. Default true.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub random_rotation: bool,
    /// Seed of the random numbers. Default 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
    /// Middle of the lattice's foot and of the container's floor, m. Default the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: [f64; 3],
    /// Floor and four walls around. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// A box without a lid, made of five static boxes with the surface of the pile's bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Container {
    /// Free width across and deep, m.
    pub inside: [f64; 2],
    /// Height of the walls above the floor, m.
    pub height: f64,
    /// Thickness of floor and walls, m. Default 1; thin walls let fast bodies through.
    #[serde(
        default = "crate::body::one",
        skip_serializing_if = "crate::body::is_one"
    )]
    pub thickness: f64,
}

fn yes() -> bool {
    true
}

fn is_true(x: &bool) -> bool {
    *x
}

/// A body that a generator made: its suffix, shape and pose.
pub(crate) struct Made {
    pub(crate) suffix: String,
    pub(crate) kind: BodyKind,
    pub(crate) shape: Shape,
    pub(crate) position: Vec3,
    pub(crate) rotation: Quat,
}

impl Made {
    fn new(index: usize, mold: &Mold, position: Vec3) -> Self {
        Self {
            suffix: index.to_string(),
            kind: mold.kind,
            shape: mold.shapes[index % mold.shapes.len()].clone(),
            position,
            rotation: mold.rotation,
        }
    }
}

/// What all bodies of a generator share.
pub(crate) struct Mold {
    pub(crate) kind: BodyKind,
    /// Taken in turn; never empty.
    pub(crate) shapes: Vec<Shape>,
    pub(crate) rotation: Quat,
}

/// No scene has more bodies; a slip of the pen must not eat all memory.
pub(crate) const MAX_BODIES: u64 = 1_000_000;

impl Generator {
    /// The key of its kind in the file.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Stack(_) => "stack",
            Self::Pyramid(_) => "pyramid",
            Self::GridOfColumns(_) => "grid_of_columns",
            Self::Pile(_) => "pile",
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Stack(s) => s.name.as_deref(),
            Self::Pyramid(p) => p.name.as_deref(),
            Self::GridOfColumns(g) => g.name.as_deref(),
            Self::Pile(p) => p.name.as_deref(),
        }
    }

    pub(crate) fn body(&self) -> &BodySpec {
        match self {
            Self::Stack(s) => &s.body,
            Self::Pyramid(p) => &p.body,
            Self::GridOfColumns(g) => &g.body,
            Self::Pile(p) => &p.body,
        }
    }

    pub(crate) fn shapes(&self) -> &[ShapeRef] {
        match self {
            Self::Pile(p) => &p.shapes,
            _ => &[],
        }
    }

    /// Checks the generator's own numbers.
    pub(crate) fn check(&self, path: &Path<'_>) -> Result<(), SceneError> {
        let lengths = |field: &str, values: &[f64], least: f64, allowed: &str| {
            for (i, value) in values.iter().enumerate() {
                if !(*value >= least && value.is_finite()) {
                    let path = path.key(field);
                    let indexed = path.index(i);
                    let path = if values.len() == 1 { &path } else { &indexed };
                    return Err(path.invalid(value, allowed));
                }
            }
            Ok(())
        };
        let (at, count) = match self {
            Self::Stack(s) => (&s.at, u64::from(s.count)),
            Self::Pyramid(p) => (&p.at, u64::from(p.rows) * (u64::from(p.rows) + 1) / 2),
            Self::GridOfColumns(g) => (&g.at, product(&[g.columns[0], g.columns[1], g.height])),
            Self::Pile(p) => (&p.at, product(&p.counts)),
        };
        lengths("at", at, -f64::MAX, "finite")?;
        if count == 0 || count > MAX_BODIES {
            let allowed = format!("1 to {MAX_BODIES} bodies");
            return Err(path.invalid(format!("{count} bodies"), &allowed));
        }
        match self {
            Self::Stack(s) => lengths("gap", &[s.gap], -f64::MAX, "finite"),
            Self::Pyramid(p) => lengths("gap", &[p.gap], -f64::MAX, "finite"),
            Self::GridOfColumns(g) => lengths(
                "spacing",
                &g.spacing,
                f64::MIN_POSITIVE,
                "positive and finite",
            ),
            Self::Pile(p) => {
                lengths(
                    "spacing",
                    &p.spacing,
                    f64::MIN_POSITIVE,
                    "positive and finite",
                )?;
                lengths("jitter", &[p.jitter], 0.0, "0 or more, and finite")?;
                let Some(container) = &p.container else {
                    return Ok(());
                };
                let [a, b] = container.inside;
                let path = path.key("container");
                let fields = [
                    ("inside[0]", a),
                    ("inside[1]", b),
                    ("height", container.height),
                    ("thickness", container.thickness),
                ];
                for (field, value) in fields {
                    if !(value > 0.0 && value.is_finite()) {
                        return Err(path.key(field).invalid(value, "positive and finite"));
                    }
                }
                Ok(())
            }
        }
    }

    /// The bodies. [`Self::check`] has passed.
    pub(crate) fn make(&self, mold: &Mold, up: Axis) -> Vec<Made> {
        match self {
            Self::Stack(s) => s.make(mold, up),
            Self::Pyramid(p) => p.make(mold, up),
            Self::GridOfColumns(g) => g.make(mold, up),
            Self::Pile(p) => p.make(mold, up),
        }
    }
}

fn product(counts: &[u32; 3]) -> u64 {
    counts
        .iter()
        .fold(1_u64, |n, c| n.saturating_mul(u64::from(*c)))
}

/// (i - (n - 1)/2), the place of item i in a row of n about its middle.
fn centered(i: u32, n: u32) -> f64 {
    f64::from(i) - 0.5 * (f64::from(n) - 1.0)
}

fn bounds(mold: &Mold) -> Aabb {
    mold.shapes[0].aabb(&moreau_math::Pose::new(Vec3::ZERO, mold.rotation))
}

/// b and h: where the lowest point is below the origin, and the extent along `axis`.
fn foot_and_extent(mold: &Mold, axis: Axis) -> (f64, f64) {
    let bounds = bounds(mold);
    let (low, high) = (bounds.min.dot(axis.vector()), bounds.max.dot(axis.vector()));
    (-low, high - low)
}

impl Stack {
    fn make(&self, mold: &Mold, up: Axis) -> Vec<Made> {
        let (b, h) = foot_and_extent(mold, up);
        let place =
            |k| Vec3::from_array(self.at) + up.vector() * (b + f64::from(k) * (h + self.gap));
        (0..self.count)
            .map(|k| Made::new(k as usize, mold, place(k)))
            .collect()
    }
}

impl Pyramid {
    fn make(&self, mold: &Mold, up: Axis) -> Vec<Made> {
        let along = self.along.unwrap_or(up.others()[0]);
        let (b, h) = foot_and_extent(mold, up);
        let pitch = foot_and_extent(mold, along).1 + self.gap;
        let mut made = Vec::new();
        for k in 0..self.rows {
            let n = self.rows - k;
            for i in 0..n {
                let position = Vec3::from_array(self.at)
                    + along.vector() * (centered(i, n) * pitch)
                    + up.vector() * (b + f64::from(k) * h);
                made.push(Made::new(made.len(), mold, position));
            }
        }
        made
    }
}

impl GridOfColumns {
    fn make(&self, mold: &Mold, up: Axis) -> Vec<Made> {
        let [across, depth] = up.others();
        let (b, h) = foot_and_extent(mold, up);
        let mut made = Vec::new();
        for i in 0..self.columns[0] {
            for j in 0..self.columns[1] {
                for k in 0..self.height {
                    let position = Vec3::from_array(self.at)
                        + across.vector() * (centered(i, self.columns[0]) * self.spacing[0])
                        + depth.vector() * (centered(j, self.columns[1]) * self.spacing[1])
                        + up.vector() * (b + f64::from(k) * h);
                    made.push(Made::new(made.len(), mold, position));
                }
            }
        }
        made
    }
}

impl Pile {
    fn make(&self, mold: &Mold, up: Axis) -> Vec<Made> {
        let at = Vec3::from_array(self.at);
        let mut made = self
            .container
            .iter()
            .flat_map(|c| c.make(at, up))
            .collect::<Vec<_>>();
        let [across, depth] = up.others();
        let mut random = SplitMix64::new(self.seed);
        let mut index = 0;
        for k in 0..self.counts[2] {
            for j in 0..self.counts[1] {
                for i in 0..self.counts[0] {
                    let lattice = at
                        + across.vector() * (centered(i, self.counts[0]) * self.spacing[0])
                        + depth.vector() * (centered(j, self.counts[1]) * self.spacing[1])
                        + up.vector() * ((f64::from(k) + 0.5) * self.spacing[2]);
                    let (x, y, z) = (random.signed(), random.signed(), random.signed());
                    let position = lattice + Vec3::new(x, y, z) * self.jitter;
                    let mut body = Made::new(index, mold, position);
                    if self.random_rotation {
                        body.rotation = (random.rotation() * mold.rotation).normalize();
                    }
                    made.push(body);
                    index += 1;
                }
            }
        }
        made
    }
}

impl Container {
    fn make(&self, at: Vec3, up: Axis) -> Vec<Made> {
        let [across, depth] = up.others().map(Axis::vector);
        let up = up.vector();
        let (a, b) = (0.5 * self.inside[0], 0.5 * self.inside[1]);
        let (t, h) = (0.5 * self.thickness, 0.5 * self.height);
        let part = |suffix: &str, middle: Vec3, half: Vec3| Made {
            suffix: suffix.into(),
            kind: BodyKind::Static,
            shape: Shape::cuboid(half.x.abs(), half.y.abs(), half.z.abs()),
            position: at + middle,
            rotation: Quat::IDENTITY,
        };
        // The walls across stand between the walls deep.
        let outer = across * (a + 2.0 * t);
        vec![
            part("floor", -up * t, outer + depth * (b + 2.0 * t) + up * t),
            part(
                "wall_0",
                -across * (a + t) + up * h,
                across * t + depth * b + up * h,
            ),
            part(
                "wall_1",
                across * (a + t) + up * h,
                across * t + depth * b + up * h,
            ),
            part(
                "wall_2",
                -depth * (b + t) + up * h,
                outer + depth * t + up * h,
            ),
            part(
                "wall_3",
                depth * (b + t) + up * h,
                outer + depth * t + up * h,
            ),
        ]
    }
}
