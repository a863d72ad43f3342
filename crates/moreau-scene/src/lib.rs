//! Scene files for rigid-body simulations: strict JSON with a published schema, and generators.
//!
//! **Owns**: the format ([`Scene`] and its parts, described in `docs/scene-format.md`), its errors
//! that say where, the generators and their random stream ([`SplitMix64`]), the standard scenes
//! ([`scenes`]), and [`Run`], the harness that steps a scene, measures it ([`Figures`]) and checks
//! its analytic gates ([`evaluate`]).
//!
//! **Must not know**: how a solver or the pipeline works inside; rendering; recording.
//!
//! ```
//! use moreau_scene::{Run, RunOptions, Scene};
//!
//! let scene = Scene::from_json(r#"{
//!     "format": "moreau-scene", "version": 1, "name": "rest", "steps": 30,
//!     "expect": [{"quantity": "drift", "body": "cube", "at_most": 1e-9, "reason": "it rests"}],
//!     "bodies": [
//!         {"shape": {"half_space": {"normal": [0, 1, 0]}}, "kind": "static"},
//!         {"name": "cube", "shape": {"box": {"half_extents": [0.5, 0.5, 0.5]}}, "position": [0, 0.5, 0]}
//!     ]
//! }"#)?;
//! let mut run = Run::new(&scene, RunOptions::default())?;
//! run.run_to_end()?;
//! assert!(moreau_scene::evaluate(&run).iter().all(|gate| gate.passed()));
//! assert!(run.figures().certified);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod body_build;
mod build;
mod difference;
mod error;
mod figures;
mod gate;
mod generate;
mod import_text;
mod instances;
mod joint;
mod locate;
mod meter;
mod momentum;
mod print;
mod profile;
mod random;
mod run;
mod scene;
pub mod scenes;
mod schema;
mod settings;
mod shape;
mod table;

pub use body::{
    AxisAngle, BodyKind, BodyRef, BodySpec, CombineRule, GroupsSpec, MaterialSpec, RotationSpec,
};
pub use build::BuiltScene;
pub use difference::{FieldDifference, differences, ulps};
pub use error::{Place, SceneError};
pub use figures::{Figures, SolverFigures};
pub use gate::{Gate, GateResult, Quantity, Verdict, evaluate};
pub use generate::{Axis, Container, Generator, GridOfColumns, Pile, Pyramid, Stack};
pub use import_text::import_text;
pub use instances::{Cell, Column, Instances};
pub use joint::{BallSpec, DistanceSpec, JointSpec};
pub use profile::{ProfileFigures, StageFigures};
pub use random::SplitMix64;
pub use run::{Run, RunOptions};
pub use scene::{Format, MOST_STEPS, Scene, VERSION};
pub use schema::schema_json;
pub use settings::{
    ActiveSetSpec, BlockSpec, CalmSpec, FastPathSpec, NewtonSpec, PgsSpec, PositionCorrectionSpec,
    SettingsSpec, SimdSpec, SleepingSpec, SolverChoiceSpec, SolverSpec,
};
pub use shape::{ChildSpec, ShapeRef, ShapeSpec};
pub use table::Table;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
