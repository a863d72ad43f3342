//! Errors that say where: file, line, column and the path inside the JSON.

use crate::locate::locate;
use moreau_collision::ShapeError;
use moreau_pipeline::WorldError;
use std::fmt;

/// A place in a scene file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; `None` for text that came from elsewhere.
    pub file: Option<String>,
    /// Line, from 1; `None` for a scene that was built in memory.
    pub line: Option<usize>,
    /// Column in bytes, from 1.
    pub column: Option<usize>,
    /// Path inside the JSON, such as `bodies[3].density`; empty for the whole scene.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("scene"))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        match self.path.as_str() {
            "" => Ok(()),
            path => write!(f, ": {path}"),
        }
    }
}

/// Why a scene cannot be read or built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Read {
        /// Which file.
        file: String,
        /// What the system said.
        reason: String,
    },
    /// The text is not JSON, or a field is missing, unknown or of another type.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// What is wrong.
        message: String,
    },
    /// A field has a value that is not allowed.
    #[error("{place}: is {value}, must be {allowed}")]
    Invalid {
        /// Where.
        place: Box<Place>,
        /// The value, printed.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// A shape that cannot be made.
    #[error("{place}: {source}")]
    Shape {
        /// Where.
        place: Box<Place>,
        /// What is wrong with it.
        source: Box<ShapeError>,
    },
    /// The world refused something that the scene asks for.
    #[error("{place}: {source}")]
    World {
        /// Where.
        place: Box<Place>,
        /// What it said.
        source: Box<WorldError>,
    },
    /// A line of the plain text comparison format that cannot be read.
    #[error("line {line}: {message}")]
    Text {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl SceneError {
    /// Where in the file; `None` for errors that have no place in a JSON text.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Read { .. } | Self::Text { .. } => None,
            Self::Syntax { place, .. }
            | Self::Invalid { place, .. }
            | Self::Shape { place, .. }
            | Self::World { place, .. } => Some(place),
        }
    }

    fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Read { .. } | Self::Text { .. } => None,
            Self::Syntax { place, .. }
            | Self::Invalid { place, .. }
            | Self::Shape { place, .. }
            | Self::World { place, .. } => Some(place),
        }
    }

    /// Adds the file's name.
    pub(crate) fn in_file(mut self, file: &str) -> Self {
        if let Some(place) = self.place_mut() {
            place.file = Some(file.into());
        }
        self
    }

    /// Looks up line and column of the path in the text that the scene came from.
    pub(crate) fn in_text(mut self, text: &str) -> Self {
        if let Some(place) = self.place_mut()
            && place.line.is_none()
        {
            let (line, column) = locate(text, &place.path);
            (place.line, place.column) = (Some(line), Some(column));
        }
        self
    }
}

/// A path inside the JSON, built on the stack while a scene is walked.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Self {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Path::Index(self, index)
    }

    pub(crate) fn place(&self) -> Box<Place> {
        Box::new(Place {
            path: self.to_string(),
            ..Place::default()
        })
    }

    /// The error that the world refused what is at this path.
    pub(crate) fn refused(&self, source: WorldError) -> SceneError {
        let place = self.place();
        match source {
            WorldError::BadShape { source, .. } => {
                let source = Box::new(source);
                SceneError::Shape { place, source }
            }
            source => {
                let source = Box::new(source);
                SceneError::World { place, source }
            }
        }
    }

    /// The error that the value at this path is not allowed.
    pub(crate) fn invalid(&self, value: impl fmt::Display, allowed: &str) -> SceneError {
        SceneError::Invalid {
            place: self.place(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
