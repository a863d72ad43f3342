//! A scene as SVG: parallel projection, bodies that let one see the contact below them.
//!
//! The outline of a convex shape is that of its support points around the line of sight. The paper is
//! part of the picture, so that it looks the same on light and on dark pages.

use super::scenes::Scene;
use super::wires::{Wire, wires};
use moreau::collision::{Manifold, Shape};
use moreau::math::{Pose, Vec3, libm, vec3};
use std::f64::consts::TAU;
use std::fmt::Write;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 280.0;
const MARGIN: f64 = 16.0;
/// Of a normal, m.
const ARROW: f64 = 0.4;
const PAPER: &str = "#f7f6f2";
const INK: &str = "#30343b";
const GROUND: &str = "#c9cdd4";
const THING: &str = "#3b7dd8";
const CONTACT: &str = "#c8321e";

/// Two axes of the picture (to the right, upwards) and the one to the eye; then scale and shift.
struct Camera {
    axes: [Vec3; 3],
    scale: f64,
    middle: (f64, f64),
}

impl Camera {
    /// Sees all of the scene.
    fn new(scene: &Scene) -> Self {
        let (turn, rise) = scene.view;
        let level = vec3(libm::sin(turn), 0.0, libm::cos(turn));
        let eye = level * libm::cos(rise) + Vec3::Y * libm::sin(rise);
        let right = Vec3::Y.cross(eye).normalize();
        let mut camera = Self {
            axes: [right, eye.cross(right), eye],
            scale: 1.0,
            middle: (0.0, 0.0),
        };
        let mut seen = Vec::new();
        match &scene.ground {
            Shape::Mesh(mesh) => seen.extend(mesh.vertices().iter().map(|v| camera.flat(*v))),
            shape => seen.extend(camera.outline(shape, &Pose::IDENTITY)),
        }
        for (shape, pose) in &scene.things {
            seen.extend(camera.outline(shape, pose));
        }
        let ends = |of: fn(&(f64, f64)) -> f64| {
            let values = || seen.iter().map(of);
            (
                values().fold(f64::INFINITY, f64::min),
                values().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let ((left, right), (low, high)) = (ends(|p| p.0), ends(|p| p.1));
        let wide = (WIDTH - 2.0 * MARGIN) / (right - left);
        camera.scale = wide.min((HEIGHT - 2.0 * MARGIN) / (high - low));
        camera.middle = ((left + right) / 2.0, (low + high) / 2.0);
        camera
    }

    fn eye(&self) -> Vec3 {
        self.axes[2]
    }

    /// On the picture's axes, m.
    fn flat(&self, p: Vec3) -> (f64, f64) {
        (p.dot(self.axes[0]), p.dot(self.axes[1]))
    }

    /// In the picture's units, y downwards.
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            WIDTH / 2.0 + (x - self.middle.0) * self.scale,
            HEIGHT / 2.0 - (y - self.middle.1) * self.scale,
        )
    }

    fn outline(&self, shape: &Shape, pose: &Pose) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for k in 0..96 {
            let angle = TAU * (f64::from(k) + 0.5) / 96.0;
            let way = self.axes[0] * libm::cos(angle) + self.axes[1] * libm::sin(angle);
            let Some(local) = shape.support(pose.inverse_transform_vector(way)) else {
                continue;
            };
            let point = self.flat(pose.transform_point(local));
            let same = |p: &(f64, f64)| (p.0 - point.0).abs() + (p.1 - point.1).abs() < 1e-9;
            if !points.last().is_some_and(same) {
                points.push(point);
            }
        }
        points
    }

    /// The path through points of the picture's axes.
    fn path(&self, points: impl IntoIterator<Item = (f64, f64)>, closed: bool) -> String {
        let mut path = String::new();
        for (k, point) in points.into_iter().enumerate() {
            let (x, y) = self.place(point);
            let letter = if k == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{x:.1} {y:.1}");
        }
        if closed {
            path.push('Z');
        }
        path
    }

    fn line(&self, points: &[Vec3], closed: bool) -> String {
        self.path(points.iter().map(|p| self.flat(*p)), closed)
    }
}

/// The picture of a scene.
pub(crate) fn picture(scene: &Scene) -> String {
    let camera = Camera::new(scene);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" stroke-linejoin=\"round\" stroke-linecap=\"round\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"{PAPER}\"/>",
        scene.title
    );
    match &scene.ground {
        Shape::Mesh(_) => triangles(&mut svg, &camera, &scene.ground),
        ground => solid(&mut svg, &camera, (ground, &Pose::IDENTITY), (GROUND, 1.0)),
    }
    // The farther thing first.
    let mut things: Vec<&(Shape, Pose)> = scene.things.iter().collect();
    let near = |thing: &(Shape, Pose)| thing.1.translation.dot(camera.eye());
    things.sort_by(|a, b| near(a).total_cmp(&near(b)));
    for (shape, pose) in things {
        solid(&mut svg, &camera, (shape, pose), (THING, 0.3));
    }
    for manifold in scene.contacts() {
        contact(&mut svg, &camera, &manifold);
    }
    svg.push_str("</svg>\n");
    svg
}

fn solid(svg: &mut String, camera: &Camera, (shape, pose): (&Shape, &Pose), fill: (&str, f64)) {
    let wires = wires(shape, pose, camera.eye());
    let strokes = |seen: bool, style: &str| {
        let lines = wires.iter().filter(|wire| wire.seen == seen);
        let path: String = lines
            .map(|w: &Wire| camera.line(&w.points, false))
            .collect();
        if path.is_empty() {
            return path;
        }
        format!("<path d=\"{path}\" fill=\"none\" stroke=\"{INK}\" {style}/>\n")
    };
    let outline = camera.path(camera.outline(shape, pose), true);
    let _ = writeln!(
        svg,
        "<path d=\"{outline}\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"{INK}\" stroke-width=\"1.4\"/>",
        fill.0, fill.1
    );
    svg.push_str(&strokes(true, "stroke-width=\"1\""));
    if fill.1 < 1.0 {
        let faint = "stroke-width=\"0.8\" stroke-dasharray=\"2 3\" opacity=\"0.6\"";
        svg.push_str(&strokes(false, faint));
    }
}

/// Of a mesh, the farther first.
fn triangles(svg: &mut String, camera: &Camera, mesh: &Shape) {
    let Shape::Mesh(mesh) = mesh else { return };
    let mut all: Vec<[Vec3; 3]> = mesh
        .triangles()
        .map(|t| t.map(|v| mesh.vertices()[v as usize]))
        .collect();
    let near = |t: &[Vec3; 3]| t.iter().map(|v| v.dot(camera.eye())).sum::<f64>();
    all.sort_by(|a, b| near(a).total_cmp(&near(b)));
    for corners in all {
        let [a, b, c] = corners;
        let facing = (b - a).cross(c - a).normalize().dot(camera.eye()).abs();
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"{GROUND}\" fill-opacity=\"{:.2}\" stroke=\"{INK}\" stroke-width=\"0.8\"/>",
            camera.line(&corners, true),
            0.3 + 0.7 * facing
        );
    }
}

/// Points, the patch between them and the normal at each.
fn contact(svg: &mut String, camera: &Camera, manifold: &Manifold) {
    let n = manifold.normal();
    let mut points: Vec<Vec3> = manifold.points().iter().map(|p| p.point_b).collect();
    let middle = points.iter().copied().sum::<Vec3>() / points.len() as f64;
    // Around the normal.
    let (t1, t2) = moreau::math::tangent_basis(n);
    let angle = |p: &Vec3| libm::atan2((*p - middle).dot(t2), (*p - middle).dot(t1));
    points.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
    if points.len() > 1 {
        let _ = writeln!(
            svg,
            "<path d=\"{}\" fill=\"{CONTACT}\" fill-opacity=\"0.3\" stroke=\"{CONTACT}\" stroke-width=\"1.6\"/>",
            camera.line(&points, points.len() > 2)
        );
    }
    for point in points {
        let tip = point + n * ARROW;
        let (x, y) = camera.place(camera.flat(point));
        let (tx, ty) = camera.place(camera.flat(tip));
        let (dx, dy) = (tx - x, ty - y);
        let length = (dx * dx + dy * dy).sqrt().max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let (bx, by) = (tx - 9.0 * ux, ty - 9.0 * uy);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {y:.1}L{bx:.1} {by:.1}\" stroke=\"{CONTACT}\" stroke-width=\"2\"/>\
             <path d=\"M{tx:.1} {ty:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{CONTACT}\"/>\
             <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{CONTACT}\" stroke=\"{PAPER}\"/>",
            bx - 4.0 * uy,
            by + 4.0 * ux,
            bx + 4.0 * uy,
            by - 4.0 * ux
        );
    }
}
