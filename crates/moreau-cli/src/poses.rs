//! Poses and velocities as CSV: one row a body and step, numbers that read back to the bit.
//!
//! `step` 0 is the initial state; `body` counts from 0 in id order; position is that of the body's
//! frame (m), the quaternion turns body axes to world axes, `v` is the velocity of the centre of
//! mass (m/s), `w` the angular velocity (rad/s), both in the world frame.

use crate::fault::Fault;
use crate::target::{Draft, Target};
use moreau::World;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

const HEADER: &str = "step,time,body,name,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz";

/// A CSV file that grows while a run goes on.
#[derive(Debug)]
pub(crate) struct PoseFile {
    path: PathBuf,
    out: BufWriter<Draft>,
    /// Quoted where they must be; in id order.
    names: Vec<String>,
}

impl PoseFile {
    /// Writes the header and the initial state.
    pub(crate) fn create(target: &Target, world: &World, names: &[String]) -> Result<Self, Fault> {
        let path = target.path();
        let draft = target.begin().map_err(|error| Fault::write(path, &error))?;
        let names = names.iter().map(|name| quoted(name)).collect();
        let mut poses = Self {
            path: path.into(),
            out: BufWriter::new(draft),
            names,
        };
        poses.keep(|out, _| writeln!(out, "{HEADER}"))?;
        poses.write(world)?;
        Ok(poses)
    }

    /// Adds the state of all bodies.
    pub(crate) fn write(&mut self, world: &World) -> Result<(), Fault> {
        self.keep(|out, names| rows(out, world, names))
    }

    /// Flushes the rest, and puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let draft = self.out.into_inner().map_err(|error| error.into_error());
        draft
            .and_then(Draft::keep)
            .map_err(|error| Fault::write(&self.path, &error))
    }

    fn keep(
        &mut self,
        write: impl FnOnce(&mut BufWriter<Draft>, &[String]) -> std::io::Result<()>,
    ) -> Result<(), Fault> {
        write(&mut self.out, &self.names).map_err(|error| Fault::write(&self.path, &error))
    }
}

fn rows(out: &mut impl Write, world: &World, names: &[String]) -> std::io::Result<()> {
    for (index, body) in world.bodies().enumerate() {
        let name = names.get(index).map_or("", String::as_str);
        write!(out, "{},{:?},{index},{name}", world.steps(), world.time())?;
        let v = body.velocity();
        let position = body.position().to_array();
        let rotation = body.rotation().to_array();
        let velocity = [v.linear.to_array(), v.angular.to_array()];
        for x in position
            .iter()
            .chain(&rotation)
            .chain(velocity.iter().flatten())
        {
            // The shortest decimal that reads back to the same bits.
            write!(out, ",{x:?}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A CSV field (RFC 4180).
pub(crate) fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::{Body, Shape, Vec3, WorldSettings, vec3};

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let cases = [
            ("ball", "ball"),
            ("a,b", "\"a,b\""),
            ("6\" ball", "\"6\"\" ball\""),
        ];
        for (name, expect) in cases {
            assert_eq!(quoted(name), expect);
        }
    }

    #[test]
    fn numbers_read_back_to_the_bit() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let ball = Body::dynamic(Shape::sphere(0.1))
            .at(vec3(0.1, 1e-300, -1.0 / 3.0))
            .moving(vec3(1e22, 0.0, -0.0), vec3(std::f64::consts::PI, 0.0, 0.0));
        let id = world.add(ball).unwrap();
        let mut out = Vec::new();
        rows(&mut out, &world, &["ball".into()]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let fields: Vec<_> = text.trim_end().split(',').collect();
        assert_eq!(fields.len(), HEADER.split(',').count());
        assert_eq!(fields[..4], ["0", "0.0", "0", "ball"]);
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let body = world.body(id).unwrap();
        let vector = |i: usize| Vec3::new(number(i), number(i + 1), number(i + 2));
        assert_eq!(vector(4), body.position());
        assert_eq!(
            [number(7), number(8), number(9), number(10)],
            body.rotation().to_array()
        );
        assert_eq!(
            vector(11).to_array().map(f64::to_bits),
            body.velocity().linear.to_array().map(f64::to_bits)
        );
        assert_eq!(vector(14), body.velocity().angular);
    }
}
