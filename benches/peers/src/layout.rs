//! A scene as plain data that any engine can be filled from.

use moreau::scene::Scene;
use moreau::{Body, BodyKind, MassProperties, Pose, Shape, Vec3, Velocity};
use std::path::Path;

/// A body and its one shape.
pub(crate) struct Item {
    pub(crate) dynamic: bool,
    pub(crate) shape: Shape,
    pub(crate) pose: Pose,
    pub(crate) velocity: Velocity,
    /// kg/m³.
    pub(crate) density: f64,
    pub(crate) mass: MassProperties,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
}

/// What there is at the start.
pub(crate) struct Layout {
    pub(crate) scene: Scene,
    pub(crate) gravity: Vec3,
    pub(crate) items: Vec<Item>,
}

impl Layout {
    /// Reads a scene of `fixtures/scenes`.
    pub(crate) fn load(name: &str) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
        let path = folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        let scene = Scene::from_json(&text).map_err(|e| format!("{name}: {e}"))?;
        let world = scene.build().map_err(|e| format!("{name}: {e}"))?.world;
        if world.joints().next().is_some() {
            return Err(format!("{name}: has joints, which are not carried over"));
        }
        let items = world.bodies().map(|body| {
            let (shape, material) = (body.shape().clone(), body.material());
            let mass = body.mass_properties();
            Item {
                dynamic: body.kind() == BodyKind::Dynamic,
                density: if mass.mass > 0.0 {
                    mass.mass / volume(&shape)
                } else {
                    1000.0
                },
                shape,
                pose: body.pose(),
                velocity: body.velocity(),
                mass,
                friction: material.friction,
                restitution: material.restitution,
            }
        });
        Ok(Self {
            gravity: scene.gravity(),
            items: items.collect(),
            scene,
        })
    }
}

/// m³, from the mass at a density of 1.
fn volume(shape: &Shape) -> f64 {
    let mut world = moreau::World::new(moreau::WorldSettings::default()).expect("defaults");
    let body = world.add(Body::dynamic(shape.clone()).density(1.0));
    let body = body.expect("a shape of a scene that was built");
    world.body(body).map_or(0.0, |b| b.mass_properties().mass)
}
