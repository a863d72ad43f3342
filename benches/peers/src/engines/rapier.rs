//! Rapier in both precisions: one crate compiled twice, so one text here, too.

macro_rules! rapier {
    ($module:ident, $krate:ident, $real:ty) => {
        pub(crate) mod $module {
            use crate::engines::Engine;
            use crate::layout::Layout;
            use moreau::{Quat, Shape, Vec3, Velocity, vec3};
            use $krate::prelude::*;

            type Real = $real;

            struct Rapier {
                world: PhysicsWorld,
                handles: Vec<RigidBodyHandle>,
            }

            fn to(v: Vec3) -> Vector {
                Vector::new(v.x as Real, v.y as Real, v.z as Real)
            }

            fn from(v: Vector) -> Vec3 {
                vec3(f64::from(v.x), f64::from(v.y), f64::from(v.z))
            }

            pub(crate) fn build(layout: &Layout) -> Result<Box<dyn Engine>, String> {
                let mut world = PhysicsWorld::new();
                world.gravity = to(layout.gravity);
                world.integration_parameters.dt = layout.scene.dt as Real;
                let mut handles = Vec::new();
                for item in &layout.items {
                    let q = item.pose.rotation;
                    let q = Rotation::from_xyzw(q.x as Real, q.y as Real, q.z as Real, q.w as Real)
                        .normalize();
                    let builder = if item.dynamic {
                        RigidBodyBuilder::dynamic()
                    } else {
                        RigidBodyBuilder::fixed()
                    };
                    let body = builder
                        .pose(Pose::from_parts(to(item.pose.translation), q))
                        .linvel(to(item.velocity.linear))
                        .angvel(to(item.velocity.angular))
                        .can_sleep(false);
                    let collider = match &item.shape {
                        Shape::Sphere { radius } => ColliderBuilder::ball(*radius as Real),
                        Shape::Cuboid { half_extents: h } => {
                            ColliderBuilder::cuboid(h.x as Real, h.y as Real, h.z as Real)
                        }
                        Shape::Hull(hull) => {
                            let points: Vec<Vector> =
                                hull.vertices().iter().map(|v| to(*v)).collect();
                            ColliderBuilder::convex_hull(&points)
                                .ok_or("a hull that it does not take")?
                        }
                        other => return Err(format!("{other:?} is not carried over")),
                    };
                    let collider = collider
                        .density(item.density as Real)
                        .friction(item.friction as Real)
                        .restitution(item.restitution as Real);
                    handles.push(world.insert(body, collider).0);
                }
                Ok(Box::new(Rapier { world, handles }))
            }

            impl Engine for Rapier {
                fn step(&mut self) {
                    self.world.step();
                }

                fn state(&self) -> Vec<(moreau::Pose, Velocity)> {
                    let state = |handle: &RigidBodyHandle| {
                        let body = &self.world.bodies[*handle];
                        let q = body.position().rotation;
                        let q = Quat::from_xyzw(
                            f64::from(q.x),
                            f64::from(q.y),
                            f64::from(q.z),
                            f64::from(q.w),
                        );
                        let pose =
                            moreau::Pose::new(from(body.position().translation), q.normalize());
                        let velocity = Velocity::new(from(body.linvel()), from(body.angvel()));
                        (pose, velocity)
                    };
                    self.handles.iter().map(state).collect()
                }
            }
        }
    };
}

rapier!(double, rapier3d_f64, f64);
rapier!(single, rapier3d, f32);
