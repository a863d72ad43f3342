//! The standard scenes, made in memory.

use crate::body::BodySpec;
use crate::generate::{Container, Generator, GridOfColumns, Pile, Pyramid, Stack};
use crate::scene::Scene;
use crate::shape::ShapeSpec;

fn unit_cube() -> ShapeSpec {
    ShapeSpec::Box {
        half_extents: [0.5; 3],
    }
}

/// A scene with a floor at height 0 and the shape `cube` of 1 m.
fn on_a_floor(name: String) -> Scene {
    let floor = ShapeSpec::Box {
        half_extents: [60.0, 1.0, 60.0],
    };
    Scene {
        name,
        shapes: [("floor", floor), ("cube", unit_cube())]
            .into_iter()
            .collect(),
        bodies: vec![BodySpec::fixed("floor").named("floor").at(0.0, -1.0, 0.0)],
        ..Scene::default()
    }
}

/// A flat pyramid of unit cubes, 3 cm apart in their rows.
pub fn pyramid(rows: u32) -> Scene {
    let pyramid = Pyramid {
        body: BodySpec::dynamic("cube"),
        rows,
        gap: 0.03,
        ..Pyramid::default()
    };
    let generate = vec![Generator::Pyramid(pyramid)];
    Scene {
        generate,
        steps: 300,
        ..on_a_floor(format!("pyramid_{rows}"))
    }
}

/// One unit cube on top of the other.
pub fn tower(count: u32) -> Scene {
    let stack = Stack {
        body: BodySpec::dynamic("cube"),
        count,
        ..Stack::default()
    };
    let generate = vec![Generator::Stack(stack)];
    Scene {
        generate,
        ..on_a_floor(format!("tower_{count}"))
    }
}

/// Stacks of unit cubes on a square grid, 3 m apart.
pub fn columns(columns: [u32; 2], height: u32) -> Scene {
    let grid = GridOfColumns {
        body: BodySpec::dynamic("cube"),
        columns,
        height,
        spacing: [3.0; 2],
        ..GridOfColumns::default()
    };
    let generate = vec![Generator::GridOfColumns(grid)];
    Scene {
        generate,
        steps: 200,
        ..on_a_floor(format!("columns_{}_{}_{height}", columns[0], columns[1]))
    }
}

/// Bodies of `shape` (at most 0.5 m in diameter) that fall into a container 6 m wide: layers of
/// 8 x 8, at least `count` bodies.
pub fn pile(shape: ShapeSpec, count: u32, seed: u64) -> Scene {
    let layers = count.div_ceil(64).max(1);
    let pile = Pile {
        name: None,
        body: BodySpec::dynamic(shape),
        shapes: Vec::new(),
        counts: [8, 8, layers],
        spacing: [0.7; 3],
        jitter: 0.09,
        random_rotation: true,
        seed,
        at: [0.0; 3],
        container: Some(Container {
            inside: [6.0; 2],
            height: f64::from(layers).max(5.0),
            thickness: 2.0,
        }),
    };
    Scene {
        name: format!("pile_{count}"),
        generate: vec![Generator::Pile(pile)],
        ..Scene::default()
    }
}
