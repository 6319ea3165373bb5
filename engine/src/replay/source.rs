//! Where replay reads sessions from.

use crate::backend::{Backend, Error, ErrorKind, Stored};
use crate::event::Event;
use crate::rules::SessionHeader;
use crate::store::sheet::Reader;
use std::ops::ControlFlow;

/// Takes one session: its header, then its events.
pub trait SessionSink: Send {
    /// Takes the header, before the first event.
    fn header(&mut self, header: &SessionHeader);

    /// Takes one event, and may stop.
    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()>;
}

/// Sessions that can be read, each by a name; several at a time.
pub trait EventSource: Sync {
    /// Returns the names of all sessions, in their order.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    fn names(&self) -> Result<Vec<String>, Error>;

    /// Returns the path that a session is read from, for people; its name, if that is one.
    fn path(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Reads one session from its start. It is streamed: no more of it is in memory than one frame,
    /// or a few.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    fn read(&self, name: &str, sink: &mut dyn SessionSink) -> Result<(), Error>;
}

impl EventSource for &dyn Backend {
    fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.sessions()?.into_iter().map(|session| session.id).collect())
    }

    fn read(&self, name: &str, sink: &mut dyn SessionSink) -> Result<(), Error> {
        let Some(session) = self.find(name)? else {
            let message = format!("there is no session \"{name}\"");
            return Err(Error::new(ErrorKind::NoSession, message));
        };
        sink.header(&session.header);
        let (mut reader, mut unread) = (Reader::default(), None);
        Backend::read(*self, name, 0, &mut |stored| match show(&mut reader, stored, |event| {
            sink.event(event)
        }) {
            Ok(flow) => flow,
            Err(error) => {
                unread = Some(error);
                ControlFlow::Break(())
            }
        })?;
        unread.map_or(Ok(()), Err)
    }
}

/// Hands a stored event to whoever looks at events.
///
/// # Errors
///
/// [`ErrorKind::Corrupt`] if it holds what is no JSON.
pub fn with_event<R>(stored: &Stored<'_>, act: impl FnOnce(&Event<'_>) -> R) -> Result<R, Error> {
    show(&mut Reader::default(), stored, act)
}

/// As [`with_event`], with a reader that is used again.
pub(super) fn show<R>(
    reader: &mut Reader,
    stored: &Stored<'_>,
    act: impl FnOnce(&Event<'_>) -> R,
) -> Result<R, Error> {
    reader.show(stored, act).map_err(|_| {
        let message = format!("event {} holds what is no JSON", stored.seq);
        Error::corrupt("json/malformed", message)
    })
}
