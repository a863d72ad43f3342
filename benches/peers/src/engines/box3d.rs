//! Box3D, in single precision, by its C functions.
//!
//! Contract of the unsafe code: ids come from the world that they are given to, hulls live while they
//! are copied into a shape, and the world is used on one thread and destroyed once.

use super::Engine;
use crate::layout::Layout;
use box3d_sys::*;
use moreau::{Pose, Quat, Shape, Vec3, Velocity, vec3};

/// Steps of the solver in a step: what its samples and its documentation take.
const SUBSTEPS: i32 = 4;

struct Box3d {
    world: b3WorldId,
    bodies: Vec<b3BodyId>,
    dt: f32,
}

fn to(v: Vec3) -> b3Vec3 {
    b3Vec3 {
        x: v.x as f32,
        y: v.y as f32,
        z: v.z as f32,
    }
}

fn from(v: b3Vec3) -> Vec3 {
    vec3(v.x.into(), v.y.into(), v.z.into())
}

pub(crate) fn build(layout: &Layout) -> Result<Box<dyn Engine>, String> {
    // SAFETY: the definitions are the library's own defaults with fields set; see the contract above.
    unsafe {
        let mut definition = b3DefaultWorldDef();
        definition.gravity = to(layout.gravity);
        definition.enableSleep = false;
        let world = b3CreateWorld(&definition);
        let mut engine = Box3d {
            world,
            bodies: Vec::new(),
            dt: layout.scene.dt as f32,
        };
        for item in &layout.items {
            let mut definition = b3DefaultBodyDef();
            if item.dynamic {
                definition.type_ = b3BodyType_b3_dynamicBody;
            }
            definition.position = to(item.pose.translation);
            let q = item.pose.rotation;
            definition.rotation = b3Quat {
                v: to(vec3(q.x, q.y, q.z)),
                s: q.w as f32,
            };
            definition.linearVelocity = to(item.velocity.linear);
            definition.angularVelocity = to(item.velocity.angular);
            definition.enableSleep = false;
            let body = b3CreateBody(world, &definition);
            let mut definition = b3DefaultShapeDef();
            definition.density = item.density as f32;
            definition.baseMaterial.friction = item.friction as f32;
            definition.baseMaterial.restitution = item.restitution as f32;
            match &item.shape {
                Shape::Sphere { radius } => {
                    let sphere = b3Sphere {
                        center: to(Vec3::ZERO),
                        radius: *radius as f32,
                    };
                    b3CreateSphereShape(body, &definition, &sphere);
                }
                Shape::Cuboid { half_extents: h } => {
                    let hull = b3MakeBoxHull(h.x as f32, h.y as f32, h.z as f32);
                    b3CreateHullShape(body, &definition, &hull.base);
                }
                Shape::Hull(hull) => {
                    let points: Vec<b3Vec3> = hull.vertices().iter().map(|v| to(*v)).collect();
                    let count = points.len() as i32;
                    let hull = b3CreateHull(points.as_ptr(), count, count);
                    if hull.is_null() {
                        return Err("a hull that it does not take".into());
                    }
                    b3CreateHullShape(body, &definition, hull);
                    b3DestroyHull(hull);
                }
                other => return Err(format!("{other:?} is not carried over")),
            }
            engine.bodies.push(body);
        }
        Ok(Box::new(engine))
    }
}

impl Engine for Box3d {
    fn step(&mut self) {
        // SAFETY: the world is alive.
        unsafe { b3World_Step(self.world, self.dt, SUBSTEPS) }
    }

    fn state(&self) -> Vec<(Pose, Velocity)> {
        let state = |body: &b3BodyId| {
            // SAFETY: the bodies are of this world, which is alive.
            let (p, q, v, w) = unsafe {
                (
                    b3Body_GetPosition(*body),
                    b3Body_GetRotation(*body),
                    b3Body_GetLinearVelocity(*body),
                    b3Body_GetAngularVelocity(*body),
                )
            };
            let axis = from(q.v);
            let rotation = Quat::from_xyzw(axis.x, axis.y, axis.z, q.s.into());
            (
                Pose::new(from(p), rotation.normalize()),
                Velocity::new(from(v), from(w)),
            )
        };
        self.bodies.iter().map(state).collect()
    }
}

impl Drop for Box3d {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once.
        unsafe { b3DestroyWorld(self.world) }
    }
}
