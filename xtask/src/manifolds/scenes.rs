//! What is drawn.

use moreau::collision::{CollideSettings, Manifold, Shape, collide_all};
use moreau::math::{Pose, Quat, Vec3, rotation_from_vector, vec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// A thing on the ground, and what is seen of it.
pub(crate) struct Scene {
    /// Of the file.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Body A, at the origin.
    pub(crate) ground: Shape,
    /// Each a body B.
    pub(crate) things: Vec<(Shape, Pose)>,
    /// Of the camera: about the vertical, and up from the horizon, rad.
    pub(crate) view: (f64, f64),
}

impl Scene {
    /// The contacts of all things with the ground.
    pub(crate) fn contacts(&self) -> Vec<Manifold> {
        let (mut all, mut found) = (Vec::new(), Vec::new());
        let settings = CollideSettings::default();
        for (thing, pose) in &self.things {
            let ground = Pose::IDENTITY;
            collide_all(&self.ground, &ground, thing, pose, &settings, &mut found);
            all.append(&mut found);
        }
        all
    }
}

fn turned(axis: Vec3, degrees: f64) -> Quat {
    rotation_from_vector(axis * (degrees * PI / 180.0))
}

/// All pictures.
pub(crate) fn all() -> Result<Vec<Scene>, String> {
    let slab = |x: f64, z: f64| Shape::cuboid(x, 0.15, z);
    // Of the slab's upper face.
    let top = 0.15;
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let on_cube = Pose::new(Vec3::Y, turned(Vec3::Y, 30.0));
    let lying = turned(Vec3::Y, 75.0) * turned(Vec3::X, 90.0);
    let cylinders = vec![
        (
            Shape::cylinder(0.4, 0.35),
            Pose::from_translation(vec3(-0.75, top + 0.4, 0.0)),
        ),
        (
            Shape::cylinder(0.5, 0.3),
            Pose::new(vec3(0.65, top + 0.3, 0.0), lying),
        ),
    ];
    let on_side = Quat::from_xyzw(0.0, 0.0, -0.5_f64.sqrt(), 0.5_f64.sqrt());
    let capsule = Pose::new(vec3(0.55, top + 0.25, 0.1), turned(Vec3::Y, 20.0) * on_side);
    // A cone on its side: its slant line lies down where it leans over by the right angle less the
    // half angle at the tip.
    let (half_height, radius) = (0.55, 0.4);
    let half_angle = moreau::math::libm::atan2(radius, 2.0 * half_height);
    let lean = turned(Vec3::Y, 50.0) * rotation_from_vector(Vec3::NEG_Z * (FRAC_PI_2 + half_angle));
    let cone = Shape::cone(half_height, radius);
    let tip = lean * (Vec3::Y * half_height);
    let cone_at = Pose::new(vec3(0.0, top - tip.y, 0.0), lean);
    let (slope, up) = (slope()?, turned(Vec3::Z, 20.0));
    let block = (hexagon()?, Pose::new(up * (Vec3::Y * 0.3), up));
    let scene = |(name, title), view, ground, things| Scene {
        name,
        title,
        ground,
        things,
        view,
    };
    let ball = vec![(Shape::sphere(0.45), Pose::from_translation(Vec3::Y * 0.45))];
    Ok(vec![
        scene(
            ("cube-on-cube", "A cube on a cube, turned by 30 degrees"),
            (0.9, 0.45),
            cube.clone(),
            vec![(cube, on_cube)],
        ),
        scene(
            ("cylinders", "A standing and a lying cylinder"),
            (0.45, 0.45),
            slab(1.5, 0.8),
            cylinders,
        ),
        scene(
            ("capsule", "A capsule that juts out over a face"),
            (0.55, 0.45),
            slab(0.9, 0.7),
            vec![(Shape::capsule(0.6, 0.25), capsule)],
        ),
        scene(
            ("cone", "A cone on its side"),
            (0.45, 0.45),
            slab(1.0, 0.7),
            vec![(cone, cone_at)],
        ),
        scene(
            ("hull-on-slope", "A hull on a slope of triangles"),
            (-0.6, 0.45),
            slope,
            vec![block],
        ),
        scene(
            ("ball-on-ridge", "A ball on the ridge of a mesh"),
            (0.45, 0.6),
            ridge()?,
            ball,
        ),
    ])
}

/// A hexagonal block, 0.6 m high.
fn hexagon() -> Result<Shape, String> {
    let corners: Vec<Vec3> = (0..12)
        .map(|k| {
            let at = turned(Vec3::Y, 60.0 * f64::from(k / 2) + 10.0) * Vec3::X * 0.55;
            at + Vec3::Y * if k % 2 == 0 { 0.3 } else { -0.3 }
        })
        .collect();
    Shape::hull(&corners).map_err(|e| e.to_string())
}

/// Squares of two triangles each on a plane that rises by 20 degrees towards +x.
fn slope() -> Result<Shape, String> {
    let up = turned(Vec3::Z, 20.0);
    let at = |k: u32| up * vec3(f64::from(k / 5) - 2.0, 0.0, f64::from(k % 5) - 2.0) * 0.55;
    let vertices: Vec<Vec3> = (0..25).map(at).collect();
    mesh(&vertices, 4)
}

/// A roof whose ridge runs along z at height 0.
fn ridge() -> Result<Shape, String> {
    let at = |k: u32| {
        let x = (f64::from(k / 4) - 1.0) * 0.9;
        vec3(x, -0.5 * x.abs(), (f64::from(k % 4) - 1.5) * 0.7)
    };
    let vertices: Vec<Vec3> = (0..12).map(at).collect();
    mesh(&vertices, 3)
}

/// A mesh of rows of vertices, `columns` squares a row.
fn mesh(vertices: &[Vec3], columns: u32) -> Result<Shape, String> {
    let row = columns + 1;
    let rows = vertices.len() as u32 / row - 1;
    let squares = (0..rows).flat_map(|i| (0..columns).map(move |j| i * row + j));
    let triangles: Vec<[u32; 3]> = squares
        .flat_map(|k| [[k, k + 1, k + row], [k + 1, k + row + 1, k + row]])
        .collect();
    Shape::mesh(vertices, &triangles).map_err(|e| e.to_string())
}
