//! Snapshots: a mark, the format's version (u16, little endian), then the state in postcard.

use crate::trial::MEMORY;
use crate::world::WorldState;
use crate::{SnapshotError, World, WorldError};

const MARK: &[u8; 8] = b"moreauW\0";
const VERSION: u16 = 18;

impl World {
    /// The whole state as bytes: settings, bodies, joints, free ids, contacts and remembered
    /// impulses. Threads and a solver set by hand are not part of it.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        // Serializing into memory fails for no value of these types.
        postcard::to_extend(&self.state, bytes).expect("a world's state can be serialized")
    }

    /// Puts the world into the state of `bytes`. The future is then bit for bit that of the world
    /// that made them. Solver, threads and profiling stay as they are.
    ///
    /// # Errors
    /// Where the bytes are not a snapshot that this build reads; the world is then unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), WorldError> {
        let state = decode(bytes)?;
        let mut world = Self::from_state(state);
        world.pool = self.pool.take();
        world.profiling = self.profiling;
        if self.solver.is_own() {
            world.solver = self.solver.fork();
            world.solver.set_settings(world.state.settings.solver);
        }
        *self = world;
        Ok(())
    }

    /// A world in the state of `bytes`, on one thread, with the default solver.
    ///
    /// # Errors
    /// Where the bytes are not a snapshot that this build reads.
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, WorldError> {
        Ok(Self::from_state(decode(bytes)?))
    }
}

fn decode(bytes: &[u8]) -> Result<WorldState, SnapshotError> {
    let rest = bytes
        .strip_prefix(MARK.as_slice())
        .ok_or(SnapshotError::Foreign)?;
    let damaged = |reason: String| SnapshotError::Damaged { reason };
    let (version, rest) = rest
        .split_first_chunk::<2>()
        .ok_or_else(|| damaged("it ends in its header".into()))?;
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        return Err(SnapshotError::Version {
            found,
            expected: VERSION,
        });
    }
    let (state, rest): (WorldState, &[u8]) =
        postcard::take_from_bytes(rest).map_err(|e| damaged(e.to_string()))?;
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes follow its end", rest.len())));
    }
    check(&state).map_err(damaged)?;
    Ok(state)
}

/// What a step relies on must hold in bytes from anywhere.
fn check(state: &WorldState) -> Result<(), String> {
    state.settings.validate().map_err(|e| e.to_string())?;
    if !(state.time.is_finite() && state.last_dt.is_finite() && state.last_dt >= 0.0) {
        return Err(format!(
            "time {} s or last step {} s",
            state.time, state.last_dt
        ));
    }
    if state.steps > u64::MAX / 2 || state.trials_until > state.steps + MEMORY {
        return Err(format!(
            "{} steps, trials until {}",
            state.steps, state.trials_until
        ));
    }
    let empty: Vec<u32> = (0..state.bodies.len() as u32)
        .filter(|i| state.bodies[*i as usize].value.is_none())
        .collect();
    let mut free = state.free_bodies.clone();
    free.sort_unstable();
    if free != empty {
        return Err("its list of free bodies does not fit its bodies".into());
    }
    let empty: Vec<u32> = (0..state.joints.len() as u32)
        .filter(|i| state.joints[*i as usize].value.is_none())
        .collect();
    let mut free = state.free_joints.clone();
    free.sort_unstable();
    if free != empty {
        return Err("its list of free joints does not fit its joints".into());
    }
    for (index, slot) in state.bodies.iter().enumerate() {
        if let Some(body) = &slot.value {
            body.check()
                .map_err(|what| format!("body {index}: {what}"))?;
            if !body.trial.is_sound(state.steps) {
                return Err(format!("body {index}: its last attempt is still to come"));
            }
        }
    }
    let alive = |id: crate::BodyId| {
        let slot = state.bodies.get(id.index as usize);
        slot.is_some_and(|s| s.generation == id.generation && s.value.is_some())
    };
    for joint in state.joints.iter().filter_map(|slot| slot.value.as_ref()) {
        if !alive(joint.joint.a) || !alive(joint.joint.b) {
            return Err(format!("joint {} names a body that is not there", joint.id));
        }
    }
    if let Some(c) = state.contacts.iter().find(|c| !alive(c.a) || !alive(c.b)) {
        return Err(format!(
            "the contact of {} and {} names a body that is not there",
            c.a, c.b
        ));
    }
    let ordered = |(a, b): &(crate::BodyId, crate::BodyId)| a < b && alive(*a) && alive(*b);
    if !(state.ignored.iter().all(ordered) && state.ignored.is_sorted()) {
        return Err("its list of ignored pairs is not in order".into());
    }
    state.sleepers.check(state)?;
    if state
        .edited
        .iter()
        .any(|slot| *slot as usize >= state.bodies.len())
    {
        return Err("its list of edited bodies names one that is not there".into());
    }
    if !state.sensor_events.is_sorted() {
        return Err("its list of sensor events is not in order".into());
    }
    let kept = &state.kept;
    if !kept
        .iter()
        .all(|k| alive(k.a) && alive(k.b) && k.is_sound())
        || !kept.is_sorted_by(|k, l| k.pair() < l.pair())
    {
        return Err("its list of kept manifolds is not usable".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::VERSION;
    use crate::trial::{Cost, MEMORY, Outcome, Trial};
    use crate::world::WorldState;
    use crate::{Body, Joint, Sleeping, World, WorldSettings};
    use moreau_collision::Shape;
    use moreau_math::Vec3;

    /// The names of all fields and variants of a JSON text, each with those that it lies in, in the order in
    /// which they come first.
    fn names(json: &str) -> Vec<String> {
        let (mut names, mut path) = (Vec::new(), Vec::new());
        let mut pieces = json
            .split('"')
            .skip(1)
            .step_by(2)
            .zip(json.split('"').skip(2).step_by(2));
        let mut depth = json
            .split('"')
            .next()
            .map_or(0, |start| start.matches('{').count());
        for (name, rest) in &mut pieces {
            path.truncate(depth.saturating_sub(1));
            path.push(name.to_string());
            let full = path.join(".");
            if !names.contains(&full) {
                names.push(full);
            }
            for c in rest.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
            }
            path.truncate(depth);
        }
        names
    }

    /// Postcard knows fields by their order alone: where they change, so must the version.
    #[test]
    fn the_version_is_that_of_the_fields() {
        let settings = WorldSettings {
            sleeping: Some(Sleeping::default()),
            ..WorldSettings::default()
        };
        let mut world = World::new(settings).unwrap();
        let ground = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let cube = || Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
        let low = world.add(cube().at(Vec3::Y * 0.5)).unwrap();
        let high = world.add(cube().at(Vec3::Y * 1.5)).unwrap();
        let far = world
            .add(Body::fixed(Shape::sphere(1.0)).at(Vec3::X * 9.0))
            .unwrap();
        world
            .add_joint(Joint::ball(low, Vec3::X, far, Vec3::ZERO))
            .unwrap();
        world.ignore_pair(ground, far, true).unwrap();
        world.step(1e-3).unwrap();
        assert!(world.contacts().iter().any(|c| c.b == high));
        let json = serde_json::to_string(&world.state).unwrap();
        let found = names(&json).join("\n") + "\n";
        let file = format!(
            "{}/tests/layout/version_{VERSION}.txt",
            env!("CARGO_MANIFEST_DIR")
        );
        if std::env::var_os("MOREAU_UPDATE").is_some() {
            std::fs::write(&file, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == expected,
            "the state's fields are not those of snapshots of version {VERSION}: raise VERSION, rename {file}, and \
             write it with\n    MOREAU_UPDATE=1 cargo test -p moreau-pipeline --lib the_version"
        );
    }

    #[test]
    fn what_no_step_leaves_is_refused() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
        let cube = world.add(cube).unwrap().index as usize;
        world.step(1e-3).unwrap();
        let sound = world.snapshot();
        let failed = |step: u64| Trial::default().after(step, Cost::Large, Outcome::Far);
        let damages: [fn(&mut WorldState); 3] = [
            |state| state.steps = u64::MAX,
            |state| state.trials_until = 2 + MEMORY,
            |state| state.trials_until = u64::MAX,
        ];
        for damage in damages {
            world.restore(&sound).unwrap();
            damage(&mut world.state);
            assert!(World::from_snapshot(&world.snapshot()).is_err());
        }
        for (step, is_sound) in [(0, true), (1, false), (u64::MAX, false)] {
            world.restore(&sound).unwrap();
            world.state.bodies[cube].value.as_mut().unwrap().trial = failed(step);
            let restored = World::from_snapshot(&world.snapshot());
            assert_eq!(restored.is_ok(), is_sound, "step {step}");
        }
    }
}
