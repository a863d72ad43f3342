use crate::error::{Path, SceneError};
use moreau_pipeline::{FastPath, Sleeping, SolverChoice, WorldSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Knobs of the world that differ from their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsSpec {
    /// Contacts are found up to this separation, m, 0 or more. Default 0.02.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction_distance: Option<f64>,
    /// Relative motion up to which a pair's contact points are kept: a fraction of the smaller body's
    /// bounding radius and an angle in rad, 0 (never kept) to 0.1. Default 2e-4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recycling: Option<f64>,
    /// Gap up to which a contact counts as closed in islands at rest that Newton solves, m, 0 or more.
    /// Default 1e-10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_gap: Option<f64>,
    /// Speed below which a body that contacts push stays exactly where it is, m/s, 0 (none) or more. Default 1e-9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill: Option<f64>,
    /// Contacts that close slower than this do not bounce, m/s, 0 or more. Default 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce_threshold: Option<f64>,
    /// Most dynamic bodies of an island in which bounces that follow one another within a step are taken one
    /// by one, 0 or more; 0: only those of bullets. Default 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered_impacts: Option<u32>,
    /// Work that the parts of a step may cost in which impacts are taken one by one, for any group of bodies, in
    /// looks at a pair or a contact point. Default 6000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered_base_work: Option<u64>,
    /// Work that they may cost beyond that, as a multiple of that of the group's step without them. Default 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered_work_factor: Option<u32>,
    /// Keeps simultaneous impacts with friction from creating energy. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_guard: Option<bool>,
    /// Starts each solve from the impulses of the last step. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<bool>,
    /// Lets islands that lie still fall asleep: an empty object by the default rule, none never, for a
    /// scene is there to be measured. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleeping: Option<SleepingSpec>,
    /// Removal of overlaps. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_correction: Option<PositionCorrectionSpec>,
    /// The default solver. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverSpec>,
}

/// When islands fall asleep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepingSpec {
    /// Largest speed of any point of a body that counts as still, m/s, 0 or more. Default 1e-5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// For how long all bodies of an island must be still, s, 0 or more. Default 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// Removal of overlaps by pseudo-velocities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositionCorrectionSpec {
    /// Part of the overlap beyond the slop that one step takes out, 0 to 1. Default 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Overlap that is left alone, m, 0 or more. Default 1e-4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slop: Option<f64>,
    /// Largest speed of a correction, m/s, 0 or more. Default 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_speed: Option<f64>,
    /// Sweeps of the pseudo-velocity solve. Default 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
}

/// Which solver, and the solvers' knobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverSpec {
    /// Which solver. Default auto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<SolverChoiceSpec>,
    /// Choice auto: largest work of one factorisation that is solved exactly, multiply-adds.
    /// Default 5000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_work_limit: Option<u64>,
    /// Choice auto: most contact points of an island that is solved exactly. Default 2500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_contact_limit: Option<usize>,
    /// Choice auto: multiply-adds that the exact solve of any island may cost. Default 40000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_base_work: Option<u64>,
    /// Choice auto: multiply-adds that it may cost beyond that for each contact and row. Default 80000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_contact_work: Option<u64>,
    /// Choice auto: whether an island that was not solved exactly is put off for some steps before that is tried again.
    /// Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_wait: Option<bool>,
    /// Choice auto: the limits of calm islands, whose contacts stay as they are. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calm: Option<CalmSpec>,
    /// Choice auto: what solves the islands above these limits. Default simd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast: Option<FastPathSpec>,
    /// Choice auto: sweeps times contacts and rows up to which an island that `fast` solves gets more than
    /// `simd.max_sweeps`, at most four times as many. Default 250000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_sweeps: Option<u64>,
    /// The exact frictionless solver. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_set: Option<ActiveSetSpec>,
    /// Sweeps over SIMD lanes. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simd: Option<SimdSpec>,
    /// Sequential impulses. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgs: Option<PgsSpec>,
    /// Block sweeps. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockSpec>,
    /// Newton. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newton: Option<NewtonSpec>,
}

/// Which of the solvers solve the islands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolverChoiceSpec {
    /// Each island by the solver that suits it: the exact frictionless solver where there is no
    /// friction and few rows, Newton where its work is within the limits, the fast path elsewhere.
    Auto,
    /// Sweeps over SIMD lanes, with momentum, for every island.
    Simd,
    /// Sequential impulses for every island.
    Pgs,
    /// Block sweeps with Anderson acceleration for every island.
    Block,
    /// The exact frictionless solver for every island. A step with an island that has friction, or
    /// more rows than it takes, fails.
    ActiveSet,
    /// Newton for every island, whatever it costs.
    Newton,
}

/// What solves the islands that are too large to be solved exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastPathSpec {
    /// Sweeps over SIMD lanes, with momentum.
    Simd,
    /// Sequential impulses.
    Pgs,
    /// Block sweeps with Anderson acceleration.
    Block,
}

/// How far choice auto goes to solve calm islands exactly: those with at most one contact in a hundred that closed or
/// opened with more than 1 mm/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalmSpec {
    /// Most contact points. Default 12500; 0: calm islands are treated as all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_limit: Option<usize>,
    /// Largest work of one factorisation, multiply-adds. Default 60000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_limit: Option<u64>,
    /// Multiply-adds that the exact solve may cost for each contact and row, beyond exact_base_work. Default 150000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_work: Option<u64>,
    /// Multiply-adds that it may cost in all. Default 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_work: Option<u64>,
}

/// Knobs of the exact frictionless solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActiveSetSpec {
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Most contacts and rows together of an island that it takes. Default 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<usize>,
}

/// Knobs of block sweeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockSpec {
    /// Most sweeps over an island. Default 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// How many earlier sweeps Anderson acceleration combines, at most 32; 0 switches it off.
    /// Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anderson_window: Option<u32>,
}

/// Knobs of sweeps over SIMD lanes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimdSpec {
    /// Most sweeps over an island. Default 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The natural map is looked at after this many sweeps, 1 or more. Default 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_every: Option<u32>,
    /// Whether each sweep starts ahead of where the last one ended. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerate: Option<bool>,
    /// Whether an answer that did not get there is the one with the best worst contact, and not the
    /// last. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_best: Option<bool>,
}

/// Knobs of sequential impulses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PgsSpec {
    /// Most sweeps over an island. Default 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Over-relaxation, above 0 and below 2. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<f64>,
}

/// Knobs of Newton's method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewtonSpec {
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Natural map that the cheap stages go on to where they can, m/s, 0 or more. Default 1e-10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<f64>,
    /// Natural map that a warm start which is nearly the answer is polished to, m/s, 0 (never) or more.
    /// Default 1e-14.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polish: Option<f64>,
    /// Work that the factorisations of one solve may cost together, multiply-adds. Default 80000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_work: Option<u64>,
}

fn set<T: Copy>(to: &mut T, from: Option<T>) {
    if let Some(value) = from {
        *to = value;
    }
}

impl SettingsSpec {
    /// The world's settings: defaults, but for what is given here, and for sleeping, which is off where
    /// it is not. Gravity is the scene's.
    pub fn world_settings(&self) -> WorldSettings {
        let mut out = WorldSettings::default();
        set(&mut out.prediction_distance, self.prediction_distance);
        set(&mut out.recycling, self.recycling);
        set(&mut out.closed_gap, self.closed_gap);
        set(&mut out.standstill, self.standstill);
        set(&mut out.bounce_threshold, self.bounce_threshold);
        set(&mut out.ordered_impacts, self.ordered_impacts);
        set(&mut out.ordered_base_work, self.ordered_base_work);
        set(&mut out.ordered_work_factor, self.ordered_work_factor);
        set(&mut out.energy_guard, self.energy_guard);
        set(&mut out.warm_start, self.warm_start);
        out.sleeping = self.sleeping.as_ref().map(|sleeping| {
            let mut rule = Sleeping::default();
            set(&mut rule.speed, sleeping.speed);
            set(&mut rule.time, sleeping.time);
            rule
        });
        if let Some(correction) = &self.position_correction {
            set(&mut out.position_correction.rate, correction.rate);
            set(&mut out.position_correction.slop, correction.slop);
            set(&mut out.position_correction.max_speed, correction.max_speed);
            set(
                &mut out.position_correction.max_sweeps,
                correction.max_sweeps,
            );
        }
        if let Some(solver) = &self.solver {
            set(
                &mut out.solver.choice,
                solver.choice.map(SolverChoice::from),
            );
            set(&mut out.solver.exact_work_limit, solver.exact_work_limit);
            set(
                &mut out.solver.exact_contact_limit,
                solver.exact_contact_limit,
            );
            set(&mut out.solver.exact_base_work, solver.exact_base_work);
            set(
                &mut out.solver.exact_contact_work,
                solver.exact_contact_work,
            );
            set(&mut out.solver.exact_wait, solver.exact_wait);
            if let Some(calm) = &solver.calm {
                set(&mut out.solver.calm.contact_limit, calm.contact_limit);
                set(&mut out.solver.calm.work_limit, calm.work_limit);
                set(&mut out.solver.calm.contact_work, calm.contact_work);
                set(&mut out.solver.calm.max_work, calm.max_work);
            }
            set(&mut out.solver.fast, solver.fast.map(FastPath::from));
            set(&mut out.solver.fast_sweeps, solver.fast_sweeps);
            if let Some(active_set) = &solver.active_set {
                set(&mut out.solver.active_set.tolerance, active_set.tolerance);
                set(&mut out.solver.active_set.max_rows, active_set.max_rows);
            }
            if let Some(block) = &solver.block {
                set(&mut out.solver.block.max_sweeps, block.max_sweeps);
                set(&mut out.solver.block.tolerance, block.tolerance);
                set(&mut out.solver.block.anderson_window, block.anderson_window);
            }
            if let Some(simd) = &solver.simd {
                set(&mut out.solver.simd.max_sweeps, simd.max_sweeps);
                set(&mut out.solver.simd.tolerance, simd.tolerance);
                set(&mut out.solver.simd.check_every, simd.check_every);
                set(&mut out.solver.simd.accelerate, simd.accelerate);
                set(&mut out.solver.simd.keep_best, simd.keep_best);
            }
            if let Some(pgs) = &solver.pgs {
                set(&mut out.solver.pgs.max_sweeps, pgs.max_sweeps);
                set(&mut out.solver.pgs.tolerance, pgs.tolerance);
                set(&mut out.solver.pgs.relaxation, pgs.relaxation);
            }
            if let Some(newton) = &solver.newton {
                set(&mut out.solver.newton.tolerance, newton.tolerance);
                set(&mut out.solver.newton.aim, newton.aim);
                set(&mut out.solver.newton.polish, newton.polish);
                set(&mut out.solver.newton.max_work, newton.max_work);
            }
        }
        out
    }
}

impl From<SolverChoiceSpec> for SolverChoice {
    fn from(choice: SolverChoiceSpec) -> Self {
        match choice {
            SolverChoiceSpec::Auto => Self::Auto,
            SolverChoiceSpec::Simd => Self::Simd,
            SolverChoiceSpec::Pgs => Self::Pgs,
            SolverChoiceSpec::Block => Self::Block,
            SolverChoiceSpec::ActiveSet => Self::ActiveSet,
            SolverChoiceSpec::Newton => Self::Newton,
        }
    }
}

impl From<FastPathSpec> for FastPath {
    fn from(fast: FastPathSpec) -> Self {
        match fast {
            FastPathSpec::Simd => Self::Simd,
            FastPathSpec::Pgs => Self::Pgs,
            FastPathSpec::Block => Self::Block,
        }
    }
}

impl SolverSpec {
    /// The world looks at these only in its first step.
    pub(crate) fn check(&self, path: &Path<'_>) -> Result<(), SceneError> {
        let newton = self.newton.clone().unwrap_or_default();
        let active_set = self.active_set.clone().unwrap_or_default();
        let block = self.block.clone().unwrap_or_default();
        let simd = self.simd.clone().unwrap_or_default();
        let bounds = [
            ("active_set", "tolerance", active_set.tolerance),
            ("block", "tolerance", block.tolerance),
            ("simd", "tolerance", simd.tolerance),
            (
                "pgs",
                "tolerance",
                self.pgs.as_ref().and_then(|pgs| pgs.tolerance),
            ),
            ("newton", "tolerance", newton.tolerance),
            ("newton", "aim", newton.aim),
            ("newton", "polish", newton.polish),
        ];
        for (kind, field, value) in bounds {
            if let Some(x) = value
                && !(x >= 0.0 && x.is_finite())
            {
                return Err(path
                    .key(kind)
                    .key(field)
                    .invalid(x, "0 or more, and finite"));
            }
        }
        if let Some(window) = block.anderson_window
            && window > 32
        {
            let path = path.key("block");
            let window = f64::from(window);
            return Err(path.key("anderson_window").invalid(window, "at most 32"));
        }
        if simd.check_every == Some(0) {
            let path = path.key("simd");
            return Err(path.key("check_every").invalid(0.0, "1 or more"));
        }
        match self.pgs.as_ref().and_then(|pgs| pgs.relaxation) {
            Some(x) if !(x > 0.0 && x < 2.0) => {
                let path = path.key("pgs");
                Err(path.key("relaxation").invalid(x, "above 0 and below 2"))
            }
            _ => Ok(()),
        }
    }
}
