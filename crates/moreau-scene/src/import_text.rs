//! The plain text comparison format, one body a line, in which scenes are handed between engines.
//!
//! ```text
//! scene NAME KIND
//! gravity X Y Z
//! dt H
//! steps N
//! measure_from N
//! gyro 1
//! shape box HX HY HZ | shape sphere R | shape hull X Y Z X Y Z …      numbered from 0 in order
//! body SHAPE DYNAMIC(0|1) position(3) quaternion(x y z w) velocity(3) angular velocity(3) density
//!      friction restitution                                           on one line
//! ```

use crate::body::{BodyKind, BodySpec, RotationSpec};
use crate::error::SceneError;
use crate::instances::{Cell, Column, Instances};
use crate::scene::Scene;
use crate::shape::ShapeSpec;

/// One `body` line.
struct Line {
    shape: String,
    dynamic: bool,
    /// Position, quaternion, linear and angular velocity, density, friction, restitution.
    numbers: [f64; 16],
}

/// Up to so many dynamic bodies are written one by one.
const FEW: usize = 6;

/// Columns of a `body` line after the first two: where they start in `Line::numbers`.
const COLUMNS: [(Column, usize); 7] = [
    (Column::Position, 0),
    (Column::Rotation, 3),
    (Column::LinearVelocity, 7),
    (Column::AngularVelocity, 10),
    (Column::Density, 13),
    (Column::Friction, 14),
    (Column::Restitution, 15),
];

/// Reads a scene in the plain text comparison format, number for number.
///
/// The static bodies at the beginning become `bodies`. The rest becomes `bodies` as well where it is
/// few, and else one table; what is the same in all rows of the table goes into its template.
///
/// # Errors
/// The first line that is not understood, or the first thing of the scene that cannot be built.
pub fn import_text(text: &str) -> Result<Scene, SceneError> {
    let mut scene = Scene {
        name: String::new(),
        ..Scene::default()
    };
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let fail = |message: String| SceneError::Text {
            line: i + 1,
            message,
        };
        let mut words = line.split_whitespace();
        let Some(keyword) = words.next() else {
            continue;
        };
        let words: Vec<&str> = words.collect();
        match keyword {
            "scene" => {
                let name = words
                    .first()
                    .ok_or_else(|| fail("a scene needs a name".into()))?;
                scene.name = (*name).into();
            }
            "gravity" => scene.gravity = Some(numbers(&words).map_err(fail)?),
            "dt" => scene.dt = numbers::<1>(&words).map_err(fail)?[0],
            "steps" => scene.steps = count(&words).map_err(fail)?,
            "measure_from" => scene.measure_from = count(&words).map_err(fail)?,
            "gyro" if words == ["1"] => {}
            "gyro" => {
                return Err(fail(
                    "gyro must be 1: the gyroscopic term is always on".into(),
                ));
            }
            "shape" => {
                let shape = shape(&words).map_err(fail)?;
                let kind = words[0];
                scene
                    .shapes
                    .insert(format!("{kind}_{}", scene.shapes.len()), shape);
            }
            "body" => {
                let line = body(&words, &scene).map_err(fail)?;
                if !line.dynamic && lines.last().is_some_and(|last: &Line| last.dynamic) {
                    return Err(fail("a static body stands after a dynamic one".into()));
                }
                lines.push(line);
            }
            other => return Err(fail(format!("`{other}` is not a keyword of this format"))),
        }
    }
    let first = lines
        .iter()
        .position(|line| line.dynamic)
        .unwrap_or(lines.len());
    let rest = if lines.len() - first > FEW {
        lines.split_off(first)
    } else {
        Vec::new()
    };
    scene.bodies = lines.iter().map(|line| line.spec(&[])).collect();
    if let Some(first) = rest.first() {
        scene.instances.push(tabulate(&rest, first));
    }
    scene.validate()?;
    Ok(scene)
}

impl Line {
    /// The body without the fields of `left_out`.
    fn spec(&self, left_out: &[Column]) -> BodySpec {
        let n = &self.numbers;
        let has = |column| !left_out.contains(&column);
        let mut spec = BodySpec::default();
        if !self.dynamic {
            spec.kind = BodyKind::Static;
        }
        if has(Column::Shape) {
            spec.shape = Some(self.shape.as_str().into());
        }
        if has(Column::Position) {
            spec.position = [n[0], n[1], n[2]];
        }
        let rotation = [n[3], n[4], n[5], n[6]];
        let unturned = [0.0, 0.0, 0.0, 1.0_f64].map(f64::to_bits);
        if has(Column::Rotation) && rotation.map(f64::to_bits) != unturned {
            spec.rotation = Some(RotationSpec::Quaternion(rotation));
        }
        if has(Column::LinearVelocity) {
            spec.linear_velocity = [n[7], n[8], n[9]];
        }
        if has(Column::AngularVelocity) {
            spec.angular_velocity = [n[10], n[11], n[12]];
        }
        spec.density = has(Column::Density).then_some(n[13]);
        spec.friction = has(Column::Friction).then_some(n[14]);
        spec.restitution = has(Column::Restitution).then_some(n[15]);
        spec
    }
}

fn tabulate(table: &[Line], first: &Line) -> Instances {
    let mut columns = Vec::new();
    if table.iter().any(|line| line.shape != first.shape) {
        columns.push(Column::Shape);
    }
    for (column, at) in COLUMNS {
        let bits = |line: &Line| -> Vec<u64> {
            line.numbers[at..at + column.width()]
                .iter()
                .map(|x| x.to_bits())
                .collect()
        };
        // A template has no position.
        if column == Column::Position || table.iter().any(|line| bits(line) != bits(first)) {
            columns.push(column);
        }
    }
    let row = |line: &Line| {
        let mut row = Vec::new();
        for column in &columns {
            match COLUMNS.iter().find(|(c, _)| c == column) {
                Some((_, at)) => {
                    let cells = &line.numbers[*at..at + column.width()];
                    row.extend(cells.iter().map(|x| Cell::Number(*x)));
                }
                None => row.push(Cell::Name(line.shape.clone())),
            }
        }
        row
    };
    let rows = table.iter().map(row).collect();
    Instances {
        name: None,
        body: first.spec(&columns),
        columns,
        rows,
    }
}

fn number(word: &str) -> Result<f64, String> {
    let x: f64 = word
        .parse()
        .map_err(|_| format!("`{word}` is not a number"))?;
    if x.is_finite() {
        Ok(x)
    } else {
        Err(format!("`{word}` is not finite"))
    }
}

fn numbers<const N: usize>(words: &[&str]) -> Result<[f64; N], String> {
    if words.len() != N {
        return Err(format!("{} numbers, {N} are needed", words.len()));
    }
    let mut out = [0.0; N];
    for (x, word) in out.iter_mut().zip(words) {
        *x = number(word)?;
    }
    Ok(out)
}

fn count(words: &[&str]) -> Result<u64, String> {
    match words {
        [word] => word
            .parse()
            .map_err(|_| format!("`{word}` is not a whole number, 0 or more")),
        _ => Err("one whole number is needed".into()),
    }
}

fn shape(words: &[&str]) -> Result<ShapeSpec, String> {
    match words.split_first() {
        Some((&"box", rest)) => Ok(ShapeSpec::Box {
            half_extents: numbers(rest)?,
        }),
        Some((&"sphere", rest)) => Ok(ShapeSpec::Sphere {
            radius: numbers::<1>(rest)?[0],
        }),
        Some((&"hull", rest)) if rest.len() % 3 == 0 => {
            let points = rest.chunks(3).map(numbers).collect::<Result<_, _>>()?;
            Ok(ShapeSpec::Hull { points })
        }
        Some((&"hull", rest)) => Err(format!("{} numbers are not points of 3", rest.len())),
        Some((other, _)) => Err(format!("`{other}` is not box, sphere or hull")),
        None => Err("a shape needs a kind".into()),
    }
}

fn body(words: &[&str], scene: &Scene) -> Result<Line, String> {
    let [shape, dynamic, rest @ ..] = words else {
        return Err("a body needs a shape, 0 or 1, and 16 numbers".into());
    };
    let name = shape
        .parse()
        .ok()
        .and_then(|i: usize| scene.shapes.iter().nth(i));
    let (name, _) = name.ok_or_else(|| format!("there is no shape {shape}"))?;
    let dynamic = match *dynamic {
        "0" => false,
        "1" => true,
        other => return Err(format!("`{other}` is not 0 (static) or 1 (dynamic)")),
    };
    Ok(Line {
        shape: name.into(),
        dynamic,
        numbers: numbers(rest)?,
    })
}
