//! A projection as a registry knows it.

use crate::projection::Kept;
use gatelog_engine::replay::Projected;
use gatelog_engine::rules::SessionHeader;
use std::fmt;
use std::sync::Arc;

type Make = dyn Fn(&SessionHeader) -> Box<dyn Projected> + Send + Sync;
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// A projection that can be registered: how it is made, and who may see its view.
#[derive(Clone)]
pub struct Unit {
    pub(super) key: &'static str,
    pub(super) version: u32,
    pub(super) is_shown: bool,
    make: Arc<Make>,
    check: Option<Arc<Check>>,
}

impl Unit {
    /// Makes a unit whose view is shown to clients. Its key and version are those of what `make`
    /// makes, which must be the same each time.
    pub fn shown(
        make: impl Fn(&SessionHeader) -> Box<dyn Projected> + Send + Sync + 'static,
    ) -> Self {
        let nobody = SessionHeader { dialect: 0, json: b"{}".to_vec() };
        let first = make(&nobody);
        let (key, version) = (first.name(), first.version());
        Self { key, version, is_shown: true, make: Arc::new(make), check: None }
    }

    /// Makes a unit of a built-in projection.
    pub fn of<P>(make: impl Fn() -> P + Send + Sync + 'static) -> Self
    where
        P: 'static,
        Kept<P>: Projected,
    {
        Self::shown(move |_| Box::new(Kept(make())))
    }

    /// Keeps the view from clients: it stands in checkpoints and in no snapshot.
    #[must_use]
    pub fn host_only(mut self) -> Self {
        self.is_shown = false;
        self
    }

    /// Says what a view must be like. One that is not is never served.
    #[must_use]
    pub fn checked(
        mut self,
        check: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Returns the key under which the view is shown.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the version of state and view.
    pub fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn make(&self, header: &SessionHeader) -> Box<dyn Projected> {
        (self.make)(header)
    }

    /// Returns the view of a projection, if it is as it must be.
    pub(super) fn view(&self, projection: &dyn Projected) -> Result<String, ViewError> {
        let view = projection.json();
        match self.check.as_ref().map_or(Ok(()), |check| check(&view)) {
            Ok(()) => Ok(view),
            Err(what) => Err(ViewError::Unfit { key: self.key.to_owned(), what }),
        }
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit")
            .field("key", &self.key)
            .field("version", &self.version)
            .field("is_shown", &self.is_shown)
            .finish_non_exhaustive()
    }
}

/// Why a view is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewError {
    /// Nobody registered the projection.
    Unregistered {
        /// Its key.
        key: String,
    },
    /// The view is not as its unit says it must be.
    Unfit {
        /// Its key.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// The log could not be read.
    Unread {
        /// What happened.
        what: String,
    },
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unregistered { key } => {
                write!(f, "session projection \"{key}\" is not registered")
            }
            Self::Unfit { key, what } => {
                write!(f, "session projection \"{key}\" has a view that must not be shown: {what}")
            }
            Self::Unread { what } => write!(f, "the log could not be read: {what}"),
        }
    }
}

impl std::error::Error for ViewError {}
