use crate::mesh::MOST_PARTS;
use crate::static_tree::StaticTree;
use crate::{Aabb, Shape, ShapeError};
use moreau_math::{MassProperties, Pose, Vec3};
use serde::{Deserialize, Serialize};

/// Shapes that move as one. Built once, shared by every body that uses it.
///
/// Children may be anything but half-spaces. A compound among them is replaced by its children.
/// Children may overlap; mass counts twice where they do.
///
/// ```
/// use moreau_collision::{Compound, Shape};
/// use moreau_math::{Pose, vec3};
///
/// let arm = |x, y| Pose::from_translation(vec3(x, y, 0.0));
/// let bent = Compound::new(&[
///     (Shape::cuboid(0.5, 0.1, 0.1), arm(0.4, 0.0)),
///     (Shape::cuboid(0.1, 0.4, 0.1), arm(0.0, 0.5)),
/// ])?;
/// assert_eq!(bent.children().len(), 2);
/// # Ok::<(), moreau_collision::ShapeError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Given", into = "Given")]
pub struct Compound {
    children: Vec<CompoundChild>,
    /// Number of the first part of each child, and of all parts.
    first_parts: Vec<u32>,
    /// Indices of the heightfields among the children.
    heightfields: Vec<u32>,
    tree: StaticTree,
    bounding_radius: f64,
}

/// A part of a [`Compound`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompoundChild {
    /// In its own frame.
    pub shape: Shape,
    /// That frame in the compound's.
    pub pose: Pose,
}

/// How far from 1 the length of a child's rotation may be.
const UNIT_TOLERANCE: f64 = 1e-6;

impl Compound {
    /// The union of shapes, each at its pose in the compound's frame.
    ///
    /// # Errors
    /// [`ShapeError::NoChildren`], [`ShapeError::TooManyParts`], and [`ShapeError::BadChild`] for a
    /// child that is not valid, unbounded, or at a pose that is none.
    pub fn new(children: &[(Shape, Pose)]) -> Result<Self, ShapeError> {
        let mut flat = Vec::new();
        for (index, (shape, pose)) in children.iter().enumerate() {
            let bad = |reason| ShapeError::BadChild {
                child: index,
                reason: Box::new(reason),
            };
            shape.validate().map_err(bad)?;
            if matches!(shape, Shape::HalfSpace { .. }) {
                return Err(bad(ShapeError::Unbounded {
                    shape: shape.kind(),
                }));
            }
            let pose = checked(pose).map_err(bad)?;
            match shape {
                Shape::Compound(inner) => {
                    for c in &inner.children {
                        flat.push(CompoundChild {
                            shape: c.shape.clone(),
                            pose: checked(&pose.mul_pose(&c.pose)).map_err(bad)?,
                        });
                    }
                }
                _ => flat.push(CompoundChild {
                    shape: shape.clone(),
                    pose,
                }),
            }
        }
        if flat.is_empty() {
            return Err(ShapeError::NoChildren);
        }
        let mut first_parts = Vec::with_capacity(flat.len() + 1);
        let mut count = 0;
        for child in &flat {
            first_parts.push(count as u32);
            count += child.shape.part_count();
            if count > MOST_PARTS {
                let most = MOST_PARTS;
                return Err(ShapeError::TooManyParts { count, most });
            }
        }
        first_parts.push(count as u32);
        let boxes: Vec<Aabb> = flat.iter().map(|c| c.shape.aabb(&c.pose)).collect();
        let reach = |c: &CompoundChild| c.pose.translation.length() + c.shape.bounding_radius();
        let is_heightfield = |i: &u32| matches!(flat[*i as usize].shape, Shape::Heightfield(_));
        Ok(Self {
            heightfields: (0..flat.len() as u32).filter(is_heightfield).collect(),
            bounding_radius: flat.iter().map(reach).fold(0.0, f64::max),
            children: flat,
            first_parts,
            tree: StaticTree::new(&boxes),
        })
    }

    /// Its parts, none of them a compound.
    pub fn children(&self) -> &[CompoundChild] {
        &self.children
    }

    /// A distance (m) from the body's origin within which everything lies.
    pub fn bounding_radius(&self) -> f64 {
        self.bounding_radius
    }

    /// Mass properties (body frame) at `density` (kg/m³) of all children: parallel axes.
    ///
    /// # Errors
    /// [`ShapeError::BadChild`] for a child without a mass, [`ShapeError::Mass`].
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        let mut parts = Vec::with_capacity(self.children.len());
        for (child, c) in self.children.iter().enumerate() {
            let bad = |reason| ShapeError::BadChild {
                child,
                reason: Box::new(reason),
            };
            let own = c.shape.mass_properties(density).map_err(bad)?;
            parts.push(own.transformed(&c.pose));
        }
        Ok(MassProperties::compound(&parts)?)
    }

    /// The child that the part belongs to, and the number of its first part.
    pub(crate) fn child_of_part(&self, part: u32) -> Option<(&CompoundChild, u32)> {
        let index = self.first_parts.partition_point(|&f| f <= part);
        let child = self.children.get(index.checked_sub(1)?)?;
        Some((child, self.first_parts[index - 1]))
    }

    /// The number of the first part of a child.
    pub(crate) fn first_part(&self, child: usize) -> u32 {
        self.first_parts[child]
    }

    /// How many parts all children have.
    pub(crate) fn part_count(&self) -> usize {
        self.first_parts[self.children.len()] as usize
    }

    /// The children that are heightfields: below them all is solid, however far from their boxes.
    pub(crate) fn heightfields(&self) -> &[u32] {
        &self.heightfields
    }

    pub(crate) fn tree(&self) -> &StaticTree {
        &self.tree
    }

    /// The point furthest along `direction`; of equals that of the first child.
    pub(crate) fn support(&self, direction: Vec3) -> Option<Vec3> {
        let mut best: Option<(f64, Vec3)> = None;
        for child in &self.children {
            let local = child.pose.inverse_transform_vector(direction);
            let point = child.pose.transform_point(child.shape.support(local)?);
            let along = point.dot(direction);
            if best.is_none_or(|b| along > b.0) {
                best = Some((along, point));
            }
        }
        best.map(|b| b.1)
    }
}

fn checked(pose: &Pose) -> Result<Pose, ShapeError> {
    if !pose.translation.is_finite() {
        return Err(ShapeError::NotFinite {
            field: "translation",
            value: pose.translation.to_string(),
        });
    }
    let length = pose.rotation.length();
    // Negated, so that NaN is refused.
    if !((length - 1.0).abs() <= UNIT_TOLERANCE) {
        return Err(ShapeError::NotUnitRotation { length });
    }
    // What is unit to rounding is kept to the bit.
    if (length - 1.0).abs() > 4.0 * f64::EPSILON {
        return Ok(Pose::new(pose.translation, pose.rotation.normalize()));
    }
    Ok(*pose)
}

/// Equal children; all else follows from them.
impl PartialEq for Compound {
    fn eq(&self, other: &Self) -> bool {
        self.children == other.children
    }
}

/// How a compound is saved.
#[derive(Serialize, Deserialize)]
struct Given {
    children: Vec<CompoundChild>,
}

impl From<Compound> for Given {
    fn from(compound: Compound) -> Self {
        Self {
            children: compound.children,
        }
    }
}

impl TryFrom<Given> for Compound {
    type Error = ShapeError;

    fn try_from(given: Given) -> Result<Self, ShapeError> {
        let children: Vec<(Shape, Pose)> = (given.children.into_iter())
            .map(|c| (c.shape, c.pose))
            .collect();
        Self::new(&children)
    }
}
