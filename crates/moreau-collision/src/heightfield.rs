use crate::ShapeError;
use crate::mesh::MOST_PARTS;
use crate::surface::Surface;
use moreau_math::{Vec3, vec3};
use serde::{Deserialize, Serialize};

/// Ground given by heights on a grid. Built once, shared by every body that uses it.
///
/// The sample in row i and column k lies at (k·`spacing_x`, height, i·`spacing_z`) in the body's frame:
/// columns run along x, rows along z, up is y, and the first sample is above the origin. Each cell
/// is cut along the diagonal from (row, column + 1) to (row + 1, column).
///
/// Solid lies below. It has no mass and cannot be moved by forces.
///
/// ```
/// use moreau_collision::Heightfield;
///
/// // Three samples along x, two along z: a strip that rises.
/// let ground = Heightfield::new(2, 3, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0], [0.5, 2.0])?;
/// assert_eq!(ground.height(1, 2), Some(1.0));
/// assert_eq!(ground.triangle_count(), 4);
/// # Ok::<(), moreau_collision::ShapeError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Given", into = "Given")]
pub struct Heightfield {
    rows: usize,
    columns: usize,
    heights: Vec<f64>,
    spacing: [f64; 2],
    surface: Surface,
}

impl Heightfield {
    /// A grid of `rows` times `columns` samples. `heights` (m) row by row; `spacing` (m) of the
    /// columns, along x, and of the rows, along z.
    ///
    /// # Errors
    /// [`ShapeError::TooFewSamples`] for less than two rows or columns, [`ShapeError::TooManyParts`],
    /// [`ShapeError::HeightCount`], [`ShapeError::NotPositive`] for a spacing,
    /// [`ShapeError::HeightNotFinite`], and [`ShapeError::DegenerateTriangle`] for a cliff so high
    /// that its triangles are lines.
    pub fn new(
        rows: usize,
        columns: usize,
        heights: Vec<f64>,
        spacing: [f64; 2],
    ) -> Result<Self, ShapeError> {
        if rows < 2 || columns < 2 {
            return Err(ShapeError::TooFewSamples { rows, columns });
        }
        let count = (rows - 1).saturating_mul(columns - 1).saturating_mul(2);
        if count > MOST_PARTS {
            let most = MOST_PARTS;
            return Err(ShapeError::TooManyParts { count, most });
        }
        if heights.len() != rows * columns {
            return Err(ShapeError::HeightCount {
                rows,
                columns,
                count: heights.len(),
            });
        }
        for (field, value) in [("spacing.x", spacing[0]), ("spacing.z", spacing[1])] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ShapeError::NotPositive { field, value });
            }
        }
        if let Some(sample) = heights.iter().position(|h| !h.is_finite()) {
            return Err(ShapeError::HeightNotFinite {
                row: sample / columns,
                column: sample % columns,
                value: heights[sample],
            });
        }
        let point = |i: usize| {
            let (row, column) = ((i / columns) as f64, (i % columns) as f64);
            vec3(column * spacing[0], heights[i], row * spacing[1])
        };
        let vertices: Vec<Vec3> = (0..heights.len()).map(point).collect();
        let mut triangles = Vec::with_capacity(count);
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let here = (row * columns + column) as u32;
                let next = here + columns as u32;
                triangles.push([here, next, here + 1]);
                triangles.push([here + 1, next, next + 1]);
            }
        }
        let surface = Surface::new(vertices, &triangles)?;
        Ok(Self {
            rows,
            columns,
            heights,
            spacing,
            surface,
        })
    }

    /// How many rows of samples there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns of samples there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Between columns, along x, and between rows, along z, m.
    pub fn spacing(&self) -> [f64; 2] {
        self.spacing
    }

    /// All heights, m, row by row.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// The height (m) of a sample.
    pub fn height(&self, row: usize, column: usize) -> Option<f64> {
        let inside = row < self.rows && column < self.columns;
        inside.then(|| self.heights[row * self.columns + column])
    }

    /// The samples as points, m, body frame, row by row.
    pub fn vertices(&self) -> &[Vec3] {
        &self.surface.vertices
    }

    /// The vertices of each triangle, counter-clockwise seen from above: two a cell, row by row.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.surface.triangles.iter().map(|t| t.vertices)
    }

    /// How many triangles there are.
    pub fn triangle_count(&self) -> usize {
        self.surface.triangles.len()
    }

    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }
}

/// Equal samples; all else follows from them.
impl PartialEq for Heightfield {
    fn eq(&self, other: &Self) -> bool {
        let size = |h: &Self| (h.rows, h.columns, h.spacing);
        size(self) == size(other) && self.heights == other.heights
    }
}

/// How a heightfield is saved.
#[derive(Serialize, Deserialize)]
struct Given {
    rows: usize,
    columns: usize,
    heights: Vec<f64>,
    spacing: [f64; 2],
}

impl From<Heightfield> for Given {
    fn from(h: Heightfield) -> Self {
        Self {
            rows: h.rows,
            columns: h.columns,
            heights: h.heights,
            spacing: h.spacing,
        }
    }
}

impl TryFrom<Given> for Heightfield {
    type Error = ShapeError;

    fn try_from(given: Given) -> Result<Self, ShapeError> {
        Self::new(given.rows, given.columns, given.heights, given.spacing)
    }
}
