//! A steady step takes no memory.
//!
//! `GlobalAlloc` is an unsafe trait: its implementation must hand out what it says. This one hands
//! every call on to the system's allocator, unchanged, and only counts.
#![allow(unsafe_code)]

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, Sleeping, World, WorldSettings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

/// The thread's own count; one that is about to end has none.
fn count() {
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + 1));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const DT: f64 = 1.0 / 60.0;

fn world(sleeping: Option<Sleeping>) -> World {
    let mut world = World::new(WorldSettings {
        sleeping,
        ..WorldSettings::default()
    })
    .unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    world
}

/// How often `steps` steps take memory, of which at most every third factors a matrix. Those may.
fn taken(world: &mut World, steps: usize) -> u64 {
    let (mut sum, mut factoring) = (0, 0);
    for _ in 0..steps {
        let before = TAKEN.get();
        let report = world.step(DT).unwrap();
        if report.factorizations == 0 {
            sum += TAKEN.get() - before;
        } else {
            factoring += 1;
        }
    }
    assert!(
        3 * factoring <= steps,
        "{factoring} of {steps} steps factor"
    );
    sum
}

fn warm_up(world: &mut World) {
    let before = TAKEN.get();
    for _ in 0..120 {
        world.step(DT).unwrap();
    }
    assert!(TAKEN.get() > before);
}

fn stack(sleeping: Option<Sleeping>) -> World {
    let mut world = world(sleeping);
    for i in 0..10 {
        let at = vec3(0.0, 0.5 + f64::from(i), 0.0);
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(at);
        world.add(cube).unwrap();
    }
    world
}

/// Cubes in layers, each layer shifted a little.
fn pile(count: u32) -> World {
    let mut world = world(None);
    for i in 0..count {
        let (layer, row, column) = (i / 25, i / 5 % 5, i % 5);
        let shift = 0.02 * f64::from(layer % 2);
        let at = vec3(
            0.52 * f64::from(column) + shift,
            0.25 + 0.5 * f64::from(layer),
            0.52 * f64::from(row) + shift,
        );
        let cube = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25)).at(at);
        world.add(cube).unwrap();
    }
    world
}

#[test]
fn the_allocator_counts() {
    let before = TAKEN.get();
    let list = std::hint::black_box(vec![1, 2, 3]);
    assert_eq!(TAKEN.get() - before, 1, "{list:?}");
}

#[test]
fn a_stack_at_rest() {
    let mut world = stack(None);
    warm_up(&mut world);
    assert_eq!(taken(&mut world, 60), 0);
}

#[test]
fn a_stack_that_sleeps() {
    let mut world = stack(Some(Sleeping::default()));
    warm_up(&mut world);
    assert_eq!(world.step(DT).unwrap().sleeping_bodies, 10);
    assert_eq!(taken(&mut world, 60), 0);
}

#[test]
fn a_settled_pile() {
    let mut world = pile(200);
    warm_up(&mut world);
    assert_eq!(taken(&mut world, 60), 0);
}

#[test]
fn balls_that_roll() {
    let mut world = world(None);
    for i in 0..20 {
        let (speed, radius) = (0.2 + 0.1 * f64::from(i % 5), 0.3);
        let ball = Body::dynamic(Shape::sphere(radius))
            .at(vec3(0.0, radius, f64::from(i)))
            .moving(vec3(speed, 0.0, 0.0), vec3(0.0, 0.0, -speed / radius));
        world.add(ball).unwrap();
    }
    warm_up(&mut world);
    assert_eq!(taken(&mut world, 240), 0);
}
