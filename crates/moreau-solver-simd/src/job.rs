//! What is done to all blocks.

/// What is done to a block, or to a share of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A visit of all contacts, from where `beta` puts their impulses.
    Sweep,
    /// Adds what the impulses do to the velocities.
    Apply,
    /// The natural map of each contact.
    Maps,
    /// Of the contacts that wait.
    WaitingMaps,
    /// Bodies: v ahead by `beta`, as the impulses of the next sweep.
    Advance,
    /// Sweeps side by side, with the numbers of a [`crate::wave::Plan`]; they move bodies ahead too.
    Sweeps,
    /// The same, a layer at a time.
    Layers,
}

/// A task with its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) task: Task,
    /// Which of the two lists of impulses is the last.
    pub(crate) current: usize,
    pub(crate) beta: f64,
    /// Whether a sweep visits packs that rest.
    pub(crate) whole: bool,
}

impl Job {
    pub(crate) fn to_words(self) -> [u64; 2] {
        let task = match self.task {
            Task::Sweep => 0,
            Task::Apply => 1,
            Task::Maps => 2,
            Task::Advance => 3,
            Task::WaitingMaps => 4,
            Task::Sweeps => 5,
            Task::Layers => 6,
        };
        [
            task << 2 | u64::from(self.whole) << 1 | self.current as u64,
            self.beta.to_bits(),
        ]
    }

    pub(crate) fn from_words([first, second]: [u64; 2]) -> Self {
        let task = match first >> 2 {
            0 => Task::Sweep,
            1 => Task::Apply,
            2 => Task::Maps,
            3 => Task::Advance,
            4 => Task::WaitingMaps,
            5 => Task::Sweeps,
            _ => Task::Layers,
        };
        Self {
            task,
            current: (first & 1) as usize,
            beta: f64::from_bits(second),
            whole: first & 2 != 0,
        }
    }
}
