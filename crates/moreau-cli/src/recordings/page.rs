//! The page of a recorded run: what `moreau-record` reads, as `moreau-page` takes it.

use super::{fault, pick};
use crate::fault::Fault;
use crate::output::short;
use crate::progress::Progress;
use crate::run::page_gate;
use crate::target::Target;
use crate::{interrupt, output, places, table};
use moreau::scene::{GateResult, Scene};
use moreau::{BodyId, Joint, Vec3, World};
use moreau_page::{
    About, BodyRecord, BodyState, ContactState, Contacts, Frame, Gate, IslandState, JointRecord,
    SERIES_COLUMNS, Sample, Stage, html, state_sample, up,
};
use moreau_record::{Ending, FrameReport, IslandRecord, RecordError, RecordedRun, Recording};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

/// Writes the page of a run to `out`; `opens` says whether it is opened then. Ctrl-C ends it with the frames
/// that were read by then.
pub(crate) fn write(
    file: &Path,
    run: Option<i64>,
    (out, opens): (&Path, bool),
    quiet: bool,
) -> Result<ExitCode, Fault> {
    places::apart(&[file], &[("-o", out)])?;
    let recording = Recording::open(file).map_err(|error| fault(&error))?;
    let run = pick(&recording, run)?;
    let target = Target::new(out)?;
    let mut reader = {
        let _waiting = Progress::waiting("reading reports", quiet);
        Reader::new(&run).map_err(|error| fault(&error))?
    };
    let mut page = moreau_page::Recording::new(reader.stage(), run.first_frame(), run.last_frame());
    let frames = run.last_frame() - run.first_frame() + 1;
    let mut progress = Progress::new(frames, "frame", quiet);
    let mut read = 0;
    let gently = interrupt::gently();
    for frame in run.frames() {
        if interrupt::asked() {
            break;
        }
        let frame = frame.map_err(|error| fault(&error))?;
        reader
            .push(&frame, &mut page)
            .map_err(|error| fault(&error))?;
        progress.step();
        read += 1;
    }
    drop(progress);
    drop(gently);
    let waiting = Progress::waiting("writing the page", quiet);
    page.finish();
    let about = about(&run, file, &reader.reports);
    target.write(html(&page, &about).as_bytes())?;
    drop(waiting);
    let rest = if read < frames {
        format!(" of {frames}; interrupted")
    } else {
        String::new()
    };
    output::print(&format!(
        "{}, run {} of {}: {read} frames{rest}\npage: {}\n",
        run.info().scene,
        run.number(),
        file.display(),
        output::page(out, opens)
    ))?;
    Ok(ExitCode::from(if read < frames {
        interrupt::EXIT
    } else {
        0
    }))
}

/// What the page says of the run besides its frames.
fn about(run: &RecordedRun<'_>, file: &Path, reports: &[FrameReport]) -> About {
    let info = run.info();
    let bad = reports.iter().filter(|r| !r.certified()).count();
    let worst = reports.iter().map(|r| r.residual).fold(0.0, f64::max);
    let (steps, worst) = (reports.len(), short(worst));
    let mut verdict = match (steps, bad) {
        (0, _) => "No steps were recorded".into(),
        (1, 0) => format!("The recorded step is certified: residual {worst} m/s"),
        (_, 0) => format!("All {steps} recorded steps are certified: worst residual {worst} m/s"),
        _ => {
            format!("{bad} of {steps} recorded steps are NOT certified: worst residual {worst} m/s")
        }
    };
    let planned = match info.steps {
        0 => String::new(),
        planned => format!(" of {planned}"),
    };
    verdict += &match info.ending {
        Some(Ending::Finished) => String::new(),
        Some(Ending::Interrupted) => format!(". Interrupted after {steps}{planned} steps"),
        Some(Ending::Failed) => format!(". The step after {steps}{planned} failed"),
        None => format!(". {steps}{planned} steps so far: the run goes on, or was cut short"),
    };
    let mean = run.times().ok().and_then(|times| {
        let (first, last) = (times.first()?.1, times.last()?.1);
        Some((last - first) / steps.max(1) as f64)
    });
    let scene = info.scene_json.as_deref();
    let scene = scene.and_then(|text| Scene::from_json(text).ok());
    About {
        gates: gates(run, scene.as_ref()),
        description: scene.map(|scene| scene.description).unwrap_or_default(),
        verdict,
        certified: bad == 0 && steps > 0 && info.ending == Some(Ending::Finished),
        note: format!(
            "Recorded as run {} of {}, started {} UTC, solver {}, {}",
            info.run,
            file.file_name().unwrap_or_default().to_string_lossy(),
            info.started,
            info.solver,
            if info.build.is_empty() {
                "by an unknown program"
            } else {
                &info.build
            },
        ),
        // Where steps vary it is played at their mean.
        ..About::named(
            &info.scene,
            if info.dt > 0.0 {
                info.dt
            } else {
                mean.unwrap_or(0.0)
            },
        )
    }
}

/// How the scene's gates came out; of a run that was cut short, what they are.
fn gates(run: &RecordedRun<'_>, scene: Option<&Scene>) -> Vec<Gate> {
    let recorded = run.gates().unwrap_or_default();
    if !recorded.is_empty() {
        return recorded.iter().map(page_gate).collect();
    }
    let open = |(index, gate): (usize, &moreau::scene::Gate)| {
        // The scene's own step; that of a run with another dt is at the same time.
        let step = gate.at_step.unwrap_or(scene.map_or(0, |scene| scene.steps));
        let gate = GateResult::new(gate, index, step, None);
        Gate {
            text: format!("{}: not recorded how it came out", table::subject(&gate)),
            ..page_gate(&gate)
        }
    };
    let expect = scene.map_or(&[][..], |scene| &scene.expect);
    expect.iter().enumerate().map(open).collect()
}

/// Reads frames in order.
struct Reader<'a> {
    run: &'a RecordedRun<'a>,
    reports: Vec<FrameReport>,
    /// The state of all bodies in the frame read last, by index.
    bodies: Vec<BodyState>,
    centers: Vec<Vec3>,
    /// Ids of the bodies that are there, sorted, with their indices.
    there: Vec<(BodyId, u32)>,
    /// Spans in which bodies touched.
    touches: Vec<(u64, u64, (u32, u32))>,
}

impl<'a> Reader<'a> {
    fn new(run: &'a RecordedRun<'a>) -> Result<Self, RecordError> {
        let state = |body: &moreau_record::BodyRecord| BodyState {
            pose: body.pose,
            linear: Vec3::ZERO,
            angular: Vec3::ZERO,
            asleep: false,
        };
        let center = |body: &moreau_record::BodyRecord| {
            let center = body.mass.center_of_mass;
            if center == Vec3::ZERO {
                body.pose.translation
            } else {
                body.pose.transform_point(center)
            }
        };
        let touches = run.touches()?.into_iter();
        let touches = touches.map(|touch| {
            let last = touch.last_frame.unwrap_or(run.last_frame());
            (touch.first_frame, last, (touch.a as u32, touch.b as u32))
        });
        Ok(Self {
            run,
            reports: run.reports()?,
            bodies: run.bodies().iter().map(state).collect(),
            centers: run.bodies().iter().map(center).collect(),
            there: Vec::new(),
            touches: touches.collect(),
        })
    }

    /// All bodies and joints that the run ever had, and when it had them.
    fn stage(&self) -> Stage {
        let run = self.run;
        let (first, last) = (run.first_frame(), run.last_frame());
        let span = |from: u64, to: Option<u64>| {
            let span = (from, to.unwrap_or(last));
            (span != (first, last)).then_some(span)
        };
        let body = |body: &moreau_record::BodyRecord| {
            let (p, q) = (body.pose.translation, body.pose.rotation);
            BodyRecord {
                name: body.name.clone(),
                kind: body.kind,
                shape: body.shape,
                moves: body.moves(),
                pose: [p.x, p.y, p.z, q.x, q.y, q.z, q.w],
                mass_kg: body.mass.mass,
                friction: body.material.friction,
                restitution: body.material.restitution,
                steps: span(body.first_frame, body.last_frame),
            }
        };
        // A joint is held by a record of each of its bodies at a time.
        let joint = |record: &'a moreau_record::JointRecord| {
            let of = |id: BodyId| run.bodies().iter().filter(move |body| body.id == id);
            let Joint { a, b, .. } = record.joint;
            let pairs = of(a).flat_map(move |a| of(b).map(move |b| (a, b)));
            pairs.filter_map(move |(a, b)| {
                let from = record.first_frame.max(a.first_frame).max(b.first_frame);
                let ends = [record.last_frame, a.last_frame, b.last_frame];
                let to = ends.into_iter().flatten().min();
                (from <= to.unwrap_or(last)).then(|| JointRecord {
                    steps: span(from, to),
                    ..JointRecord::of(&record.joint, a.body, b.body)
                })
            })
        };
        Stage {
            bodies: run.bodies().iter().map(body).collect(),
            shapes: run.shapes().to_vec(),
            joints: run.joints().iter().flat_map(joint).collect(),
            up: up(run.info().settings.gravity),
        }
    }

    /// Adds a frame to the page.
    fn push(
        &mut self,
        frame: &moreau_record::Frame,
        page: &mut moreau_page::Recording,
    ) -> Result<(), RecordError> {
        let run = self.run;
        let number = frame.frame;
        for (index, state) in &frame.states {
            self.bodies[*index] = BodyState {
                pose: run.bodies()[*index].pose_of(state),
                linear: state.velocity.linear,
                angular: state.velocity.angular,
                asleep: frame.asleep.binary_search(index).is_ok(),
            };
            self.centers[*index] = state.center_of_mass;
        }
        self.find_who_is_there(number);
        let points;
        let pairs: BTreeSet<_>;
        let pairs_in_order: Vec<_>;
        let contacts = if run.keeps_contacts(number) {
            let records = run.contacts(number)?;
            points = records
                .iter()
                .filter_map(|record| self.point(&record.contact))
                .collect::<Vec<_>>();
            Contacts::Points(&points)
        } else {
            let now = self.touches.iter();
            let now = now.filter(|(first, last, _)| (*first..=*last).contains(&number));
            pairs = now.map(|(_, _, pair)| *pair).collect();
            pairs_in_order = pairs.into_iter().collect();
            Contacts::Pairs(&pairs_in_order)
        };
        let islands = run.islands(number)?;
        let islands: Vec<_> = islands.iter().filter_map(|r| self.island(r)).collect();
        page.push(&Frame {
            step: number,
            sample: self.sample(frame),
            bodies: &self.bodies,
            contacts,
            islands: &islands,
        });
        Ok(())
    }

    fn find_who_is_there(&mut self, frame: u64) {
        let bodies = self.run.bodies();
        let change = |b: &moreau_record::BodyRecord| {
            b.first_frame == frame || b.last_frame.is_some_and(|last| last + 1 == frame)
        };
        if !self.there.is_empty() && !bodies.iter().any(change) {
            return;
        }
        let there = bodies.iter().filter(|body| body.is_in(frame));
        self.there = there.map(|body| (body.id, body.body as u32)).collect();
        self.there.sort_unstable();
    }

    /// The index of a body that is there.
    fn index(&self, id: BodyId) -> Option<u32> {
        let at = self.there.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.there[at].1)
    }

    fn island(&self, r: &IslandRecord) -> Option<IslandState> {
        let whole = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Some(IslandState {
            first: self.index(r.first_body)?,
            bodies: whole(r.bodies),
            contact_points: whole(r.contact_points),
            joints: whole(r.joints),
            solver: r.solver,
            stop: r.stop,
            sweeps: whole(r.sweeps),
            factorizations: whole(r.factorizations),
            residual: r.residual,
            worst_contact: r.worst_contact.map(whole),
            guarded: r.guarded,
        })
    }

    /// A contact point by the indices of its bodies.
    fn point(&self, contact: &moreau::Contact) -> Option<ContactState> {
        let (a, b) = (self.index(contact.a)?, self.index(contact.b)?);
        let center = |i: u32| self.centers[i as usize];
        let (on_a, on_b) = (center(a) + contact.lever_a, center(b) + contact.lever_b);
        Some(ContactState {
            a,
            b,
            point: (on_a + on_b) * 0.5,
            contact: *contact,
        })
    }

    /// The frame's figures in the order of [`SERIES_COLUMNS`].
    fn sample(&self, frame: &moreau_record::Frame) -> Sample {
        let found = self.reports.binary_search_by_key(&frame.frame, |r| r.frame);
        let Ok(found) = found else {
            // The first frame has the world's own state in place of a report.
            let start = self.run.start().ok();
            let world = start.and_then(|start| World::from_snapshot(&start).ok());
            let mut sample = match world {
                Some(world) if world.steps() == frame.frame => state_sample(&world),
                _ => [f64::NAN; SERIES_COLUMNS.len()],
            };
            sample[0] = frame.time;
            return sample;
        };
        let r = &self.reports[found];
        let states = frame.states.iter();
        let speeds = states.map(|(_, state)| state.velocity.linear.length());
        let mut sample = [f64::NAN; SERIES_COLUMNS.len()];
        sample[..11].copy_from_slice(&[
            frame.time,
            r.kinetic_energy,
            r.potential_energy,
            r.contact_points as f64,
            r.residual,
            r.max_penetration,
            r.sweeps as f64,
            r.islands as f64,
            f64::from(u8::from(r.certified())),
            speeds.fold(0.0, f64::max),
            r.times.total,
        ]);
        // A world that did not measure its stages has zeros there.
        if r.times.stages().iter().any(|seconds| *seconds > 0.0) {
            sample[11..20].copy_from_slice(&r.times.stages());
        }
        sample[20] = r.sleeping_bodies as f64;
        sample
    }
}
