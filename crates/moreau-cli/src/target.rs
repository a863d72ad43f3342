//! Files that are written whole or not at all: beside their place first, and renamed when they are done, so
//! that a full disk does not cost the file that was there.
//!
//! What cannot be replaced (pipes, terminals, `/dev/stdout`) is written where it is.

use crate::fault::Fault;
use crate::output;
use std::fs::File;
use std::io::{Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are not done yet.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Most links from one name of a file to the next.
const MOST_LINKS: usize = 40;

/// Removes what is not done; for who ends the program at once.
pub(crate) fn clear() {
    for draft in DRAFTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        let _ = std::fs::remove_file(draft);
    }
}

/// Where a file will be written to.
#[derive(Debug)]
pub(crate) struct Target {
    /// As it was given.
    path: PathBuf,
    /// The file that is replaced; none where that is not possible.
    goal: Option<PathBuf>,
}

impl Target {
    /// Makes the directories above `path`, and finds out whether it can be written, before the work that it is
    /// to hold is done in vain.
    pub(crate) fn new(path: &Path) -> Result<Self, Fault> {
        output::make_room(path)?;
        let mut target = Self {
            path: path.into(),
            goal: regular(path),
        };
        target.probe().map_err(|error| Fault::write(path, &error))?;
        Ok(target)
    }

    /// As it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is, or will be, a file that can be read again.
    pub(crate) fn is_regular(&self) -> bool {
        self.goal.is_some() || self.path.is_file()
    }

    /// Starts to write it.
    pub(crate) fn begin(&self) -> IoResult<Draft> {
        match &self.goal {
            Some(goal) => Draft::beside(goal),
            None => Ok(Draft {
                file: File::create(&self.path)?,
                way: None,
            }),
        }
    }

    /// Writes all of it.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Fault> {
        let write = || {
            let mut draft = self.begin()?;
            draft.write_all(bytes)?;
            draft.keep()
        };
        write().map_err(|error| Fault::write(&self.path, &error))
    }

    fn probe(&mut self) -> IoResult<()> {
        let there = match std::fs::metadata(&self.path) {
            // A pipe would be waited for here.
            Ok(data) if data.is_file() || data.is_dir() => {
                File::options().write(true).open(&self.path)?;
                true
            }
            Ok(_) => return Ok(()),
            Err(_) => false,
        };
        match &self.goal {
            None => Ok(()),
            Some(goal) => match Draft::beside(goal) {
                Ok(_) => Ok(()),
                // The file may be written, but nothing put beside it.
                Err(_) if there => {
                    self.goal = None;
                    Ok(())
                }
                Err(error) => Err(error),
            },
        }
    }
}

/// The regular file that a path leads to or would make; none where it is something else.
fn regular(path: &Path) -> Option<PathBuf> {
    let mut path = std::path::absolute(path).ok()?;
    for _ in 0..MOST_LINKS {
        let folder = path.parent()?.canonicalize().ok()?;
        // What some program has open: whatever takes its name is another file.
        let descriptors = ["/dev", "/dev/fd"].map(Path::new);
        if descriptors.contains(&folder.as_path()) || folder.starts_with("/proc") {
            return None;
        }
        let here = folder.join(path.file_name()?);
        match std::fs::symlink_metadata(&here) {
            Ok(data) if data.is_symlink() => path = folder.join(std::fs::read_link(&here).ok()?),
            Ok(data) => return data.is_file().then_some(here),
            Err(_) => return Some(here),
        }
    }
    None
}

/// A file that is being written. Dropped before it is kept, it leaves what was there.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// Where it is, and what it will replace; none where it is there already.
    way: Option<(PathBuf, PathBuf)>,
}

impl Draft {
    fn beside(goal: &Path) -> IoResult<Self> {
        let mut number = 0;
        let (file, draft) = loop {
            let name = format!(".moreau-{}-{number}.tmp", std::process::id());
            let draft = goal.with_file_name(name);
            match File::create_new(&draft) {
                Ok(file) => break (file, draft),
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(error);
                }
                // Another of ours, or what a killed program left.
                Err(_) => number += 1,
            }
        };
        drafts(|drafts| drafts.push(draft.clone()));
        Ok(Self {
            file,
            way: Some((draft, goal.into())),
        })
    }

    /// Puts it in its place.
    pub(crate) fn keep(mut self) -> IoResult<()> {
        let Some((draft, goal)) = &self.way else {
            return Ok(());
        };
        if let Ok(old) = std::fs::metadata(goal) {
            self.file.set_permissions(old.permissions())?;
        }
        std::fs::rename(draft, goal)?;
        drafts(|drafts| drafts.retain(|other| other != draft));
        self.way = None;
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some((draft, _)) = &self.way {
            let _ = std::fs::remove_file(draft);
            drafts(|drafts| drafts.retain(|other| other != draft));
        }
    }
}

fn drafts(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut DRAFTS.lock().unwrap_or_else(PoisonError::into_inner));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_at_once_leaves_no_draft() {
        let name = format!("moreau-target-{}.txt", std::process::id());
        let file = std::env::temp_dir().join(name);
        let target = Target::new(&file).unwrap();
        target.write(b"old").unwrap();
        let mut draft = target.begin().unwrap();
        draft.write_all(b"new").unwrap();
        let (beside, _) = draft.way.clone().unwrap();
        assert!(beside.exists());
        clear();
        assert!(!beside.exists());
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        std::fs::remove_file(&file).unwrap();
    }
}
