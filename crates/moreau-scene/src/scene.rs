use crate::body::{BodySpec, MaterialSpec, is_default};
use crate::error::{Path, Place, SceneError};
use crate::gate::Gate;
use crate::generate::{Axis, Generator};
use crate::instances::Instances;
use crate::joint::JointSpec;
use crate::settings::SettingsSpec;
use crate::shape::ShapeSpec;
use crate::table::Table;
use moreau_math::Vec3;
use moreau_pipeline::WorldSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mark of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// The only one.
    #[default]
    #[serde(rename = "moreau-scene")]
    MoreauScene,
}

/// Version of the format that this crate reads and writes.
pub const VERSION: u32 = 1;

/// Most steps of a run: more would never end.
pub const MOST_STEPS: u64 = 1_000_000_000;

/// A scene: what there is at the start and how long to step it. SI units throughout.
///
/// ```
/// use moreau_scene::Scene;
///
/// let scene = Scene::from_json(r#"{
///     "format": "moreau-scene", "version": 1, "name": "drop",
///     "bodies": [
///         {"shape": {"half_space": {"normal": [0, 1, 0]}}, "kind": "static"},
///         {"shape": {"sphere": {"radius": 0.1}}, "position": [0, 2, 0], "restitution": 0.8}
///     ]
/// }"#)?;
/// assert_eq!(scene.bodies.len(), 2);
/// assert_eq!(Scene::from_json(&scene.to_json())?, scene);
/// let error = Scene::from_json(&scene.to_json().replace("0.8", "8")).unwrap_err();
/// assert!(error.to_string().contains("bodies[1].restitution: is 8, must be 0 to 1"));
/// # Ok::<(), moreau_scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a scene, which is an object")]
#[schemars(
    description = "A scene of moreau: what there is at the start and how long to step it. SI units throughout."
)]
pub struct Scene {
    /// Where editors find the schema of this format. Default none.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Always "moreau-scene".
    pub format: Format,
    /// Version of the format; this one is 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// A short name, also the name of the file.
    pub name: String,
    /// What it shows and what is right. Default empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The axis that points up: for generators, and for drift where there is no gravity. Default y.
    #[serde(default, skip_serializing_if = "is_default")]
    pub up: Axis,
    /// m/s². Default 9.81 against `up`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// Length of a step, s, positive. Default 1/60.
    #[serde(default = "sixtieth")]
    pub dt: f64,
    /// How many steps a run makes, 1 to 1000000000. Default 600.
    #[serde(default = "six_hundred")]
    #[schemars(range(min = 1, max = MOST_STEPS))]
    pub steps: u64,
    /// Timings count from this step on (0: all). Default 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub measure_from: u64,
    /// Knobs of the world that differ from their defaults. Default none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settings: SettingsSpec,
    /// What must come out: analytic gates. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Gate>,
    /// Shapes by name. Default none.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub shapes: Table<ShapeSpec>,
    /// Materials by name. Default none.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub materials: Table<MaterialSpec>,
    /// Bodies one by one; they come first in the order of bodies. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = { "$ref": "#/$defs/BodySpec", "required": ["shape"] }))]
    pub bodies: Vec<BodySpec>,
    /// Tables of many alike bodies; they come after `bodies`. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<Instances>,
    /// Rules that make bodies; they come last. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generate: Vec<Generator>,
    /// Joints. Default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointSpec>,
}

fn sixtieth() -> f64 {
    1.0 / 60.0
}

fn six_hundred() -> u64 {
    600
}

impl Default for Scene {
    /// An empty scene of 600 steps at 1/60 s.
    fn default() -> Self {
        Self {
            schema: None,
            format: Format::MoreauScene,
            version: VERSION,
            name: String::new(),
            description: String::new(),
            up: Axis::Y,
            gravity: None,
            dt: sixtieth(),
            steps: six_hundred(),
            measure_from: 0,
            settings: SettingsSpec::default(),
            expect: Vec::new(),
            shapes: Table::default(),
            materials: Table::default(),
            bodies: Vec::new(),
            instances: Vec::new(),
            generate: Vec::new(),
            joints: Vec::new(),
        }
    }
}

/// What is looked at before anything else, so that a file of another version says so.
#[derive(Deserialize)]
struct Header {
    format: Option<serde_json::Value>,
    version: Option<serde_json::Value>,
}

impl Scene {
    /// Reads and checks a scene.
    ///
    /// # Errors
    /// Anything that is not a scene of this format that can be built; says where and what is
    /// allowed.
    pub fn from_json(text: &str) -> Result<Self, SceneError> {
        if let Ok(header) = serde_json::from_str::<Header>(text) {
            let checks = [
                (
                    "format",
                    header.format,
                    serde_json::Value::from("moreau-scene"),
                ),
                ("version", header.version, serde_json::Value::from(VERSION)),
            ];
            for (field, found, wanted) in checks {
                if let Some(found) = found
                    && found != wanted
                {
                    let error = Path::Root.key(field).invalid(found, &wanted.to_string());
                    return Err(error.in_text(text));
                }
            }
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
        let scene = Self::deserialize(tracked).and_then(|scene| json.end().map(|()| scene));
        let scene = scene.map_err(|error| {
            let path = track.path().to_string();
            let path = if path == "." { String::new() } else { path };
            syntax_error(&error, path)
        })?;
        scene.validate().map_err(|error| error.in_text(text))?;
        Ok(scene)
    }

    /// Reads and checks the scene in a file.
    ///
    /// # Errors
    /// As [`Scene::from_json`], with the file's name; and where the file cannot be read.
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| SceneError::Read {
            file: file.clone(),
            reason: error.to_string(),
        })?;
        Self::from_json(&text).map_err(|error| error.in_file(&file))
    }

    /// The scene as JSON that reads and diffs well: fields in a fixed order, defaults left out, one
    /// line a row, numbers that read back to the bit.
    pub fn to_json(&self) -> String {
        crate::print::to_text(self)
    }

    /// Checks everything that building a world from it would.
    ///
    /// # Errors
    /// The first thing that is wrong, with its path and what is allowed.
    pub fn validate(&self) -> Result<(), SceneError> {
        self.build().map(|_| ())
    }

    /// m/s²: as given, or 9.81 against `up`.
    pub fn gravity(&self) -> Vec3 {
        match self.gravity {
            Some(gravity) => Vec3::from_array(gravity),
            // 0 - x, so that no axis gets -0.
            None => Vec3::ZERO - self.up.vector() * 9.81,
        }
    }

    /// The settings of the scene's world, gravity included.
    pub fn world_settings(&self) -> WorldSettings {
        WorldSettings {
            gravity: self.gravity(),
            ..self.settings.world_settings()
        }
    }

    /// Checks the numbers of the scene itself, not those of its parts.
    pub(crate) fn check_header(&self) -> Result<(), SceneError> {
        let root = Path::Root;
        if self.version != VERSION {
            return Err(root
                .key("version")
                .invalid(self.version, &VERSION.to_string()));
        }
        if self.name.is_empty() {
            return Err(root.key("name").invalid("empty", "a short name"));
        }
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return Err(root.key("dt").invalid(self.dt, "positive and finite"));
        }
        if !(1..=MOST_STEPS).contains(&self.steps) {
            let allowed = format!("1 to {MOST_STEPS}");
            return Err(root.key("steps").invalid(self.steps, &allowed));
        }
        if self.measure_from >= self.steps {
            let allowed = format!("less than `steps`, {}", self.steps);
            return Err(root
                .key("measure_from")
                .invalid(self.measure_from, &allowed));
        }
        if let Some(gravity) = self.gravity
            && !Vec3::from_array(gravity).is_finite()
        {
            return Err(root
                .key("gravity")
                .invalid(format!("{gravity:?}"), "finite"));
        }
        if let Some(solver) = &self.settings.solver {
            solver.check(&root.key("settings").key("solver"))?;
        }
        Ok(())
    }
}

fn syntax_error(error: &serde_json::Error, path: String) -> SceneError {
    let (line, column) = (error.line(), error.column());
    let full = error.to_string();
    let suffix = format!(" at line {line} column {column}");
    let message = full.strip_suffix(&suffix).unwrap_or(&full);
    // Rust's names of types say nothing to who writes a scene.
    let mut message = message.to_owned();
    for (rust, words) in [
        ("expected f64", "expected a number"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected a sequence", "expected a list"),
        ("expected an array of length 3", "expected 3 numbers"),
        ("expected an array of length 4", "expected 4 numbers"),
    ] {
        message = message.replace(rust, words);
    }
    let place = Box::new(Place {
        file: None,
        line: Some(line),
        column: Some(column),
        path,
    });
    SceneError::Syntax { place, message }
}
