//! From the description of a body to the world's.

use crate::body::{BodyKind, BodySpec};
use crate::build::Builder;
use crate::error::{Path, SceneError};
use crate::instances::{Cell, Column};
use crate::shape::ShapeRef;
use moreau_collision::{Groups, Shape};
use moreau_math::{Pose, Quat, Vec3, Velocity};
use moreau_pipeline::{Body, Mass, Material};

impl Builder<'_> {
    pub(crate) fn row(
        &self,
        template: &Body,
        columns: &[Column],
        row: &[Cell],
        path: &Path<'_>,
    ) -> Result<Body, SceneError> {
        let mut body = template.clone();
        let mut at = 0;
        for column in columns {
            let cells = &row[at..at + column.width()];
            if let (Column::Shape, [Cell::Name(name)]) = (column, cells) {
                body.shape = self.shape(Some(&ShapeRef::Named(name.clone())), &path.index(at))?;
                at += 1;
                continue;
            }
            let mut numbers = [0.0; 4];
            for (i, cell) in cells.iter().enumerate() {
                match cell {
                    Cell::Number(x) if *column != Column::Shape && x.is_finite() => numbers[i] = *x,
                    Cell::Number(x) => {
                        let allowed = match column {
                            Column::Shape => "the name of a shape",
                            _ => "finite",
                        };
                        return Err(path.index(at + i).invalid(x, allowed));
                    }
                    Cell::Name(name) => {
                        return Err(path.index(at + i).invalid(format!("`{name}`"), "a number"));
                    }
                }
            }
            let here = path.index(at);
            let [x, y, z, w] = numbers;
            match column {
                Column::Shape => {}
                Column::Position => body.pose.translation = Vec3::new(x, y, z),
                Column::Rotation => {
                    let q = Quat::from_xyzw(x, y, z, w);
                    if !q.length().is_finite() || (q.length() - 1.0).abs() > 1e-6 {
                        let value = format!("[{x}, {y}, {z}, {w}]");
                        return Err(here.invalid(value, "a unit quaternion within 1e-6"));
                    }
                    body.pose.rotation = q;
                }
                Column::LinearVelocity => body.velocity.linear = Vec3::new(x, y, z),
                Column::AngularVelocity => body.velocity.angular = Vec3::new(x, y, z),
                Column::Density | Column::Mass => {
                    check_value(x > 0.0, x, &here, "positive and finite")?;
                    body.mass = match column {
                        Column::Density => Mass::Density(x),
                        _ => Mass::Total(x),
                    };
                }
                Column::Friction => {
                    check_value(x >= 0.0, x, &here, "0 or more, and finite")?;
                    body.material.friction = x;
                }
                Column::Restitution => {
                    check_value((0.0..=1.0).contains(&x), x, &here, "0 to 1")?;
                    body.material.restitution = x;
                }
            }
            at += column.width();
        }
        Ok(body)
    }

    /// The shape that a file means.
    pub(crate) fn shape(
        &self,
        shape: Option<&ShapeRef>,
        path: &Path<'_>,
    ) -> Result<Shape, SceneError> {
        match shape {
            None => Err(path.invalid("missing", "the name of a shape, or a shape")),
            Some(ShapeRef::Inline(spec)) => spec.build(path),
            Some(ShapeRef::Named(name)) => {
                let found = self.shapes.get(name.as_str()).cloned();
                found.ok_or_else(|| {
                    let allowed = format!("a name in `shapes` ({})", self.scene.shapes.names());
                    path.invalid(format!("`{name}`"), &allowed)
                })
            }
        }
    }

    pub(crate) fn body(
        &self,
        spec: &BodySpec,
        shape: Shape,
        path: &Path<'_>,
    ) -> Result<Body, SceneError> {
        let material = match &spec.material {
            None => Default::default(),
            Some(name) => self.scene.materials.get(name).cloned().ok_or_else(|| {
                let allowed = format!("a name in `materials` ({})", self.scene.materials.names());
                path.key("material").invalid(format!("`{name}`"), &allowed)
            })?,
        };
        check_friction(spec.friction, path)?;
        check_restitution(spec.restitution, path)?;
        check_positive(spec.density, "density", path)?;
        check_positive(spec.mass, "mass", path)?;
        if spec.density.is_some() && spec.mass.is_some() {
            return Err(path
                .key("mass")
                .invalid("given beside `density`", "the only one of the two"));
        }
        let vector = |field: &str, v: &[f64; 3]| {
            let v = Vec3::from_array(*v);
            if v.is_finite() {
                Ok(v)
            } else {
                Err(path.key(field).invalid(v, "finite"))
            }
        };
        let rotation = match &spec.rotation {
            None => Quat::IDENTITY,
            Some(rotation) => rotation.quaternion().ok_or_else(|| {
                let allowed =
                    "a unit quaternion within 1e-6, or a finite turn about a non-zero axis";
                path.key("rotation").invalid(rotation, allowed)
            })?,
        };
        let (linear, angular) = (
            vector("linear_velocity", &spec.linear_velocity)?,
            vector("angular_velocity", &spec.angular_velocity)?,
        );
        let (force, torque) = (
            vector("force", &spec.force)?,
            vector("torque", &spec.torque)?,
        );
        if spec.kind == BodyKind::Static {
            for (field, v) in [("linear_velocity", linear), ("angular_velocity", angular)] {
                if v != Vec3::ZERO {
                    return Err(path.key(field).invalid(v, "zero for a static body"));
                }
            }
        }
        if spec.lock_rotation && angular != Vec3::ZERO {
            let allowed = "zero for a body that cannot turn";
            return Err(path.key("angular_velocity").invalid(angular, allowed));
        }
        if spec.kind != BodyKind::Dynamic {
            for (field, v) in [("force", force), ("torque", torque)] {
                if v != Vec3::ZERO {
                    return Err(path
                        .key(field)
                        .invalid(v, "zero for a body that is not dynamic"));
                }
            }
        }
        if !spec.gravity_scale.is_finite() {
            return Err(path
                .key("gravity_scale")
                .invalid(spec.gravity_scale, "finite"));
        }
        let mut body = Body::dynamic(shape);
        body.kind = spec.kind.into();
        body.pose = Pose::new(vector("position", &spec.position)?, rotation);
        body.velocity = Velocity::new(linear, angular);
        body.mass = match spec.mass {
            Some(mass) => Mass::Total(mass),
            None => Mass::Density(spec.density.or(material.density).unwrap_or(1000.0)),
        };
        let defaults = Material::default();
        body.material = Material {
            friction: spec
                .friction
                .or(material.friction)
                .unwrap_or(defaults.friction),
            restitution: spec
                .restitution
                .or(material.restitution)
                .unwrap_or(defaults.restitution),
            friction_rule: material.friction_rule.into(),
            restitution_rule: material.restitution_rule.into(),
        };
        body.surface_velocity = vector("surface_velocity", &spec.surface_velocity)?;
        body.gravity_scale = spec.gravity_scale;
        body.lock_rotation = spec.lock_rotation;
        (body.force, body.torque) = (force, torque);
        let path = path.key("groups");
        body.groups = Groups::new(
            bits(spec.groups.member.as_deref(), &path.key("member"))?,
            bits(spec.groups.meets.as_deref(), &path.key("meets"))?,
        );
        body.sensor = spec.sensor;
        body.bullet = spec.bullet;
        Ok(body)
    }
}

/// Numbers of groups as bits; all where none are given.
fn bits(groups: Option<&[u64]>, path: &Path<'_>) -> Result<u32, SceneError> {
    let Some(groups) = groups else {
        return Ok(u32::MAX);
    };
    let mut bits = 0;
    for (i, &group) in groups.iter().enumerate() {
        if group > 31 {
            return Err(path.index(i).invalid(group, "0 to 31"));
        }
        bits |= 1 << group;
    }
    Ok(bits)
}

/// A template has no name, and no position where something else gives it.
pub(crate) fn check_template(
    spec: &BodySpec,
    placed: bool,
    path: &Path<'_>,
) -> Result<(), SceneError> {
    if let Some(name) = &spec.name {
        let allowed = "left out: the name beside `body` counts";
        return Err(path.key("name").invalid(format!("`{name}`"), allowed));
    }
    if placed && spec.position != [0.0; 3] {
        let allowed = "left out: each body gets its own";
        return Err(path
            .key("position")
            .invalid(format!("{:?}", spec.position), allowed));
    }
    Ok(())
}

pub(crate) fn check_value(
    good: bool,
    value: f64,
    path: &Path<'_>,
    allowed: &str,
) -> Result<(), SceneError> {
    if good && value.is_finite() {
        Ok(())
    } else {
        Err(path.invalid(value, allowed))
    }
}

pub(crate) fn check_friction(value: Option<f64>, path: &Path<'_>) -> Result<(), SceneError> {
    let Some(x) = value else { return Ok(()) };
    check_value(x >= 0.0, x, &path.key("friction"), "0 or more, and finite")
}

pub(crate) fn check_restitution(value: Option<f64>, path: &Path<'_>) -> Result<(), SceneError> {
    let Some(x) = value else { return Ok(()) };
    check_value(
        (0.0..=1.0).contains(&x),
        x,
        &path.key("restitution"),
        "0 to 1",
    )
}

pub(crate) fn check_positive(
    value: Option<f64>,
    field: &str,
    path: &Path<'_>,
) -> Result<(), SceneError> {
    let Some(x) = value else { return Ok(()) };
    check_value(x > 0.0, x, &path.key(field), "positive and finite")
}
