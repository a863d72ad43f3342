//! From a scene to a world.

use crate::body::{BodyKind, BodyRef};
use crate::body_build::{
    check_friction, check_positive, check_restitution, check_template, check_value,
};
use crate::error::{Path, SceneError};
use crate::generate::{MAX_BODIES, Mold};
use crate::instances::{Column, Instances};
use crate::joint::JointSpec;
use crate::scene::Scene;
use moreau_collision::Shape;
use moreau_math::{Pose, Vec3};
use moreau_pipeline::{Body, BodyId, Joint, JointId, JointKind, World};
use std::collections::BTreeMap;

/// A scene's world before its first step.
#[derive(Debug)]
pub struct BuiltScene {
    /// The world.
    pub world: World,
    /// Its bodies in the order of the file: `bodies`, `instances`, `generate`.
    pub bodies: Vec<BodyId>,
    /// Names along `bodies`; `None` where a body has none.
    pub names: Vec<Option<String>>,
    /// Its joints in the order of the file.
    pub joints: Vec<JointId>,
    /// The constant force of each dynamic body that has one, N.
    pub(crate) forces: Vec<(BodyId, Vec3)>,
    /// Total weight of the dynamic bodies, N.
    pub(crate) weight: Vec3,
    index: BTreeMap<String, usize>,
}

impl BuiltScene {
    /// The body of that name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.index.get(name).map(|i| self.bodies[*i])
    }

    /// The body that a file means.
    pub fn resolve(&self, body: &BodyRef) -> Option<BodyId> {
        match body {
            BodyRef::Name(name) => self.find(name),
            BodyRef::Index(index) => usize::try_from(*index)
                .ok()
                .and_then(|i| self.bodies.get(i))
                .copied(),
        }
    }

    /// What to call a body: its name, or its index in the file.
    pub fn label(&self, id: BodyId) -> String {
        match self.bodies.iter().position(|b| *b == id) {
            Some(i) => self.names[i].clone().unwrap_or_else(|| i.to_string()),
            None => id.to_string(),
        }
    }
}

impl Scene {
    /// The world of this scene: the same bits each time.
    ///
    /// # Errors
    /// The first thing that is wrong, with its path and what is allowed.
    pub fn build(&self) -> Result<BuiltScene, SceneError> {
        self.check_header()?;
        let settings = Path::Root.key("settings");
        let world = World::new(self.world_settings()).map_err(|e| settings.refused(e))?;
        let mut builder = Builder {
            scene: self,
            shapes: self.named_shapes()?,
            built: BuiltScene {
                world,
                bodies: Vec::new(),
                names: Vec::new(),
                joints: Vec::new(),
                forces: Vec::new(),
                weight: Vec3::ZERO,
                index: BTreeMap::new(),
            },
        };
        builder.check_materials()?;
        builder.add_bodies()?;
        builder.add_joints()?;
        let built = builder.built;
        for (i, gate) in self.expect.iter().enumerate() {
            gate.check(&built, &Path::Root.key("expect").index(i))?;
        }
        Ok(built)
    }

    fn named_shapes(&self) -> Result<BTreeMap<&str, Shape>, SceneError> {
        let path = Path::Root.key("shapes");
        self.shapes
            .iter()
            .map(|(name, spec)| Ok((name, spec.build(&path.key(name))?)))
            .collect()
    }
}

pub(crate) struct Builder<'s> {
    pub(crate) scene: &'s Scene,
    pub(crate) shapes: BTreeMap<&'s str, Shape>,
    built: BuiltScene,
}

impl Builder<'_> {
    fn check_materials(&self) -> Result<(), SceneError> {
        let path = Path::Root.key("materials");
        for (name, material) in self.scene.materials.iter() {
            let path = path.key(name);
            check_friction(material.friction, &path)?;
            check_restitution(material.restitution, &path)?;
            check_positive(material.density, "density", &path)?;
        }
        Ok(())
    }

    fn add_bodies(&mut self) -> Result<(), SceneError> {
        let scene = self.scene;
        for (i, spec) in scene.bodies.iter().enumerate() {
            let path = Path::Root.key("bodies");
            let path = path.index(i);
            let shape = self.shape(spec.shape.as_ref(), &path.key("shape"))?;
            let body = self.body(spec, shape, &path)?;
            self.add(spec.name.clone(), body, &path)?;
        }
        for (i, table) in scene.instances.iter().enumerate() {
            let path = Path::Root.key("instances");
            self.add_instances(table, &path.index(i))?;
        }
        for (i, generator) in scene.generate.iter().enumerate() {
            let path = Path::Root.key("generate");
            let path = path.index(i);
            let path = path.key(generator.key());
            generator.check(&path)?;
            let body_path = path.key("body");
            let spec = generator.body();
            let mut shapes = Vec::new();
            for (k, shape) in generator.shapes().iter().enumerate() {
                shapes.push(self.shape(Some(shape), &path.key("shapes").index(k))?);
            }
            if shapes.is_empty() {
                shapes.push(self.shape(spec.shape.as_ref(), &body_path.key("shape"))?);
            }
            if let Some(kind) = shapes.iter().find(|s| matches!(s, Shape::HalfSpace { .. })) {
                let allowed = "of finite size";
                return Err(body_path
                    .key("shape")
                    .invalid(format!("a {}", kind.kind()), allowed));
            }
            check_template(spec, true, &body_path)?;
            let template = self.body(spec, shapes[0].clone(), &body_path)?;
            let mold = Mold {
                kind: spec.kind,
                shapes,
                rotation: template.pose.rotation,
            };
            for made in generator.make(&mold, scene.up) {
                let mut body = template.clone();
                body.shape = made.shape;
                body.pose = Pose::new(made.position, made.rotation);
                if made.kind == BodyKind::Static && spec.kind != BodyKind::Static {
                    let (material, pose) = (body.material, body.pose);
                    body = Body::fixed(body.shape).material(material);
                    body.pose = pose;
                }
                let name = generator
                    .name()
                    .map(|name| format!("{name}_{}", made.suffix));
                self.add(name, body, &path)?;
            }
        }
        Ok(())
    }

    fn add_instances(&mut self, table: &Instances, path: &Path<'_>) -> Result<(), SceneError> {
        let body_path = path.key("body");
        let spec = &table.body;
        for (i, column) in table.columns.iter().enumerate() {
            if table.columns[..i].contains(column) {
                let columns = path.key("columns");
                return Err(columns.index(i).invalid("given twice", "given once"));
            }
        }
        let has = |column| table.columns.contains(&column);
        if has(Column::Mass) && (has(Column::Density) || spec.density.is_some()) {
            let columns = path.key("columns");
            return Err(columns.invalid("mass beside a density", "one of the two"));
        }
        check_template(spec, has(Column::Position), &body_path)?;
        let shape = match (&spec.shape, has(Column::Shape)) {
            // Each row has its own.
            (None, true) => Shape::sphere(1.0),
            _ => self.shape(spec.shape.as_ref(), &body_path.key("shape"))?,
        };
        let template = self.body(spec, shape, &body_path)?;
        let width: usize = table.columns.iter().map(|c| c.width()).sum();
        let rows = path.key("rows");
        for (i, row) in table.rows.iter().enumerate() {
            let path = rows.index(i);
            if row.len() != width {
                let allowed = format!("{width} long, as `columns` says");
                return Err(path.invalid(format!("{} cells long", row.len()), &allowed));
            }
            let body = self.row(&template, &table.columns, row, &path)?;
            let name = table.name.as_ref().map(|name| format!("{name}_{i}"));
            self.add(name, body, &path)?;
        }
        Ok(())
    }

    fn add(&mut self, name: Option<String>, body: Body, path: &Path<'_>) -> Result<(), SceneError> {
        let built = &mut self.built;
        if built.bodies.len() as u64 >= MAX_BODIES {
            return Err(path.invalid("one more body", &format!("among the first {MAX_BODIES}")));
        }
        if let Some(name) = &name {
            let taken = match built.index.insert(name.clone(), built.bodies.len()) {
                Some(_) => "the name of an earlier body",
                None if name.is_empty() => "empty",
                None => "",
            };
            if !taken.is_empty() {
                let allowed = "a name that no other body has";
                return Err(path
                    .key("name")
                    .invalid(format!("`{name}`, {taken}"), allowed));
            }
        }
        let refused = |source| path.refused(source);
        let (force, scale) = (body.force, body.gravity_scale);
        let id = built.world.add(body).map_err(refused)?;
        let mass = built
            .world
            .body(id)
            .map_err(refused)?
            .mass_properties()
            .mass;
        built.weight += built.world.settings().gravity * (mass * scale);
        if mass > 0.0 && force != Vec3::ZERO {
            built.forces.push((id, force));
        }
        built.bodies.push(id);
        built.names.push(name);
        Ok(())
    }

    fn add_joints(&mut self) -> Result<(), SceneError> {
        let scene = self.scene;
        for (i, spec) in scene.joints.iter().enumerate() {
            let path = Path::Root.key("joints");
            let path = path.index(i);
            let joint = self.joint(spec, &path)?;
            let added = self.built.world.add_joint(joint);
            let id = added.map_err(|source| path.refused(source))?;
            self.built.joints.push(id);
        }
        Ok(())
    }

    fn joint(&self, spec: &JointSpec, path: &Path<'_>) -> Result<Joint, SceneError> {
        let (kind, a, b, anchors, collide) = match spec {
            JointSpec::Ball(s) => ("ball", &s.a, &s.b, (s.anchor_a, s.anchor_b), s.collide),
            JointSpec::Distance(s) => ("distance", &s.a, &s.b, (s.anchor_a, s.anchor_b), s.collide),
        };
        let path = path.key(kind);
        let find = |field: &str, body: &BodyRef| {
            self.built
                .resolve(body)
                .ok_or_else(|| unknown_body(body, &self.built, &path.key(field)))
        };
        let (a, b) = (find("a", a)?, find("b", b)?);
        let pose = |id| {
            let refused = |source| path.refused(source);
            self.built
                .world
                .body(id)
                .map(|body| body.pose())
                .map_err(refused)
        };
        let (pose_a, pose_b) = (pose(a)?, pose(b)?);
        let mut anchor_a = Vec3::from_array(anchors.0.unwrap_or_default());
        let mut anchor_b = Vec3::from_array(anchors.1.unwrap_or_default());
        let kind = match spec {
            JointSpec::Ball(ball) => {
                if let Some(at) = ball.at {
                    if anchors != (None, None) {
                        let allowed = "given without `anchor_a` and `anchor_b`";
                        return Err(path.key("at").invalid("given beside anchors", allowed));
                    }
                    anchor_a = pose_a.inverse_transform_point(Vec3::from_array(at));
                    anchor_b = pose_b.inverse_transform_point(Vec3::from_array(at));
                }
                JointKind::Ball
            }
            JointSpec::Distance(distance) => {
                let apart = pose_b.transform_point(anchor_b) - pose_a.transform_point(anchor_a);
                let length = distance.length.unwrap_or(apart.length());
                check_value(
                    length > 0.0,
                    length,
                    &path.key("length"),
                    "positive and finite",
                )?;
                JointKind::Distance { length }
            }
        };
        Ok(Joint {
            kind,
            a,
            b,
            anchor_a,
            anchor_b,
            collide,
        })
    }
}

/// The error that a file names a body that is not there.
pub(crate) fn unknown_body(body: &BodyRef, built: &BuiltScene, path: &Path<'_>) -> SceneError {
    match body {
        BodyRef::Name(name) => path.invalid(format!("`{name}`"), "the name of a body"),
        BodyRef::Index(index) => {
            let allowed = format!("less than the number of bodies, {}", built.bodies.len());
            path.invalid(index, &allowed)
        }
    }
}
