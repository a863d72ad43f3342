use moreau_pipeline::{StageTimes, StepReport};
use rusqlite::{Connection, Row, params};

/// What a recorded step did: the fields of [`StepReport`] that a recording keeps, under the same names.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field is that of StepReport")]
pub struct FrameReport {
    pub frame: u64,
    pub bodies: u64,
    pub pairs: u64,
    pub manifolds: u64,
    pub recycled: u64,
    pub contact_points: u64,
    pub seam_points: u64,
    pub stopped_bodies: u64,
    pub joints: u64,
    pub islands: u64,
    pub largest_island: u64,
    pub warm_started: u64,
    pub sweeps: u64,
    pub total_sweeps: u64,
    pub factorizations: u64,
    /// m/s.
    pub residual: f64,
    /// An index in the frame's contacts.
    pub worst_contact: Option<u64>,
    pub uncertified_islands: u64,
    pub guarded_islands: u64,
    /// m.
    pub max_penetration: f64,
    /// J.
    pub kinetic_energy: f64,
    /// J.
    pub potential_energy: f64,
    pub sleeping_bodies: u64,
    /// `None`, as the five below, of a run that was recorded before schema version 5.
    pub awake_bodies: Option<u64>,
    pub sleeping_islands: Option<u64>,
    pub woken_islands: Option<u64>,
    pub ordered_impacts: Option<u64>,
    pub ordered_work: Option<u64>,
    pub hurried_groups: Option<u64>,
    /// s; all but the total are 0 where the world did not measure them.
    pub times: StageTimes,
    /// What each solver did; those that did nothing are left out.
    pub solvers: Vec<ShareReport>,
}

/// What one solver did in a step: the fields of [`moreau_pipeline::SolverShare`].
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field is that of SolverShare")]
pub struct ShareReport {
    pub solver: String,
    pub islands: u64,
    pub uncertified_islands: u64,
    pub contact_points: u64,
    pub sweeps: u64,
    pub factorizations: u64,
    /// m/s.
    pub residual: f64,
}

impl FrameReport {
    /// Whether every island's solve converged to its tolerance.
    pub fn certified(&self) -> bool {
        self.uncertified_islands == 0
    }

    /// The report of a step.
    pub fn of(report: &StepReport) -> Self {
        let solvers = report.solvers.iter().filter(|(_, share)| share.islands > 0);
        Self {
            frame: report.step,
            bodies: report.bodies as u64,
            pairs: report.pairs as u64,
            manifolds: report.manifolds as u64,
            recycled: report.recycled as u64,
            contact_points: report.contact_points as u64,
            seam_points: report.seam_points as u64,
            stopped_bodies: report.stopped_bodies as u64,
            joints: report.joints as u64,
            islands: report.islands as u64,
            largest_island: report.largest_island as u64,
            warm_started: report.warm_started as u64,
            sweeps: report.sweeps.into(),
            total_sweeps: report.total_sweeps,
            factorizations: report.factorizations,
            residual: report.residual,
            worst_contact: report.worst_contact.map(|c| c as u64),
            uncertified_islands: report.uncertified_islands as u64,
            guarded_islands: report.guarded_islands as u64,
            max_penetration: report.max_penetration,
            kinetic_energy: report.kinetic_energy,
            potential_energy: report.potential_energy,
            sleeping_bodies: report.sleeping_bodies as u64,
            awake_bodies: Some(report.awake_bodies as u64),
            sleeping_islands: Some(report.sleeping_islands as u64),
            woken_islands: Some(report.woken_islands as u64),
            ordered_impacts: Some(report.ordered_impacts as u64),
            ordered_work: Some(report.ordered_work),
            hurried_groups: Some(report.hurried_groups as u64),
            times: report.profile.map_or(
                StageTimes {
                    total: report.seconds,
                    ..StageTimes::default()
                },
                |profile| profile.times,
            ),
            solvers: solvers
                .map(|(solver, share)| ShareReport {
                    solver: solver.name().into(),
                    islands: share.islands as u64,
                    uncertified_islands: share.uncertified_islands as u64,
                    contact_points: share.contact_points as u64,
                    sweeps: share.sweeps,
                    factorizations: share.factorizations,
                    residual: share.residual,
                })
                .collect(),
        }
    }

    pub(crate) fn insert(&self, connection: &Connection, run: i64) -> rusqlite::Result<()> {
        const INSERT: &str = "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let int = |x: u64| x as i64;
        let counts = [
            self.frame,
            self.bodies,
            self.pairs,
            self.manifolds,
            self.recycled,
            self.contact_points,
            self.seam_points,
            self.stopped_bodies,
            self.joints,
            self.islands,
            self.largest_island,
            self.warm_started,
            self.sweeps,
            self.total_sweeps,
            self.factorizations,
        ];
        let mut statement = connection.prepare_cached(INSERT)?;
        let mut at = 1;
        let mut bind = |value: &dyn rusqlite::ToSql| {
            at += 1;
            statement.raw_bind_parameter(at - 1, value)
        };
        bind(&run)?;
        for count in counts {
            bind(&int(count))?;
        }
        bind(&self.residual)?;
        bind(&self.worst_contact.map(int))?;
        bind(&int(self.uncertified_islands))?;
        bind(&int(self.guarded_islands))?;
        let t = &self.times;
        for real in [
            self.max_penetration,
            self.kinetic_energy,
            self.potential_energy,
            t.broad_phase,
            t.narrow_phase,
            t.islands,
            t.assembly,
            t.solve,
            t.correction,
            t.integration,
            t.continuous,
            t.commit,
            t.total,
        ] {
            bind(&real)?;
        }
        bind(&int(self.sleeping_bodies))?;
        for count in [
            self.awake_bodies,
            self.sleeping_islands,
            self.woken_islands,
            self.ordered_impacts,
            self.ordered_work,
            self.hurried_groups,
        ] {
            bind(&count.map(int))?;
        }
        statement.raw_execute()?;
        let mut statement = connection
            .prepare_cached("INSERT INTO solver_reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        for s in &self.solvers {
            statement.execute(params![
                run,
                int(self.frame),
                s.solver,
                int(s.islands),
                int(s.uncertified_islands),
                int(s.contact_points),
                int(s.sweeps),
                int(s.factorizations),
                s.residual,
            ])?;
        }
        Ok(())
    }

    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let count = |name: &str| row.get::<_, i64>(name).map(|x| x as u64);
        // What is not a number is stored as none.
        let real = |name: &str| Ok(row.get::<_, Option<f64>>(name)?.unwrap_or(f64::NAN));
        let real: &dyn Fn(&str) -> rusqlite::Result<f64> = &real;
        let known = |name: &str| Ok(row.get::<_, Option<i64>>(name)?.map(|x| x as u64));
        let known: &dyn Fn(&str) -> rusqlite::Result<Option<u64>> = &known;
        Ok(Self {
            frame: count("frame")?,
            bodies: count("bodies")?,
            pairs: count("pairs")?,
            manifolds: count("manifolds")?,
            recycled: count("recycled")?,
            contact_points: count("contact_points")?,
            seam_points: count("seam_points")?,
            stopped_bodies: count("stopped_bodies")?,
            joints: count("joints")?,
            islands: count("islands")?,
            largest_island: count("largest_island")?,
            warm_started: count("warm_started")?,
            sweeps: count("sweeps")?,
            total_sweeps: count("total_sweeps")?,
            factorizations: count("factorizations")?,
            residual: real("residual")?,
            worst_contact: known("worst_contact")?,
            uncertified_islands: count("uncertified_islands")?,
            guarded_islands: count("guarded_islands")?,
            max_penetration: real("max_penetration")?,
            kinetic_energy: real("kinetic_energy")?,
            potential_energy: real("potential_energy")?,
            sleeping_bodies: count("sleeping_bodies")?,
            awake_bodies: known("awake_bodies")?,
            sleeping_islands: known("sleeping_islands")?,
            woken_islands: known("woken_islands")?,
            ordered_impacts: known("ordered_impacts")?,
            ordered_work: known("ordered_work")?,
            hurried_groups: known("hurried_groups")?,
            times: StageTimes {
                broad_phase: real("time_broad_phase")?,
                narrow_phase: real("time_narrow_phase")?,
                islands: real("time_islands")?,
                assembly: real("time_assembly")?,
                solve: real("time_solve")?,
                correction: real("time_correction")?,
                integration: real("time_integration")?,
                continuous: real("time_continuous")?,
                commit: real("time_commit")?,
                total: real("time_total")?,
            },
            solvers: Vec::new(),
        })
    }
}

impl ShareReport {
    /// The frame, and a solver's share of it.
    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<(u64, Self)> {
        let count = |name: &str| row.get::<_, i64>(name).map(|x| x as u64);
        let share = Self {
            solver: row.get("solver")?,
            islands: count("islands")?,
            uncertified_islands: count("uncertified_islands")?,
            contact_points: count("contact_points")?,
            sweeps: count("sweeps")?,
            factorizations: count("factorizations")?,
            residual: row.get::<_, Option<f64>>("residual")?.unwrap_or(f64::NAN),
        };
        Ok((count("frame")?, share))
    }
}
