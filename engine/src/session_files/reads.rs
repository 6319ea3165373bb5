//! What the store says of its sessions without writing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::config::Encoding;
use super::files::{Files, Session, lock};
use super::look::{self, Look, Loose};
use super::place::{Found, other_encoding};
use crate::backend::{Error, ErrorKind, SessionInfo, Take};
use crate::dsh::segment::decode_segment;
use crate::rules::SessionHeader;

/// Portions of events that wait between the thread that reads and the one that takes.
const PORTIONS: usize = 4;

impl Files {
    /// Looks at a session that is not open for write.
    fn look(&self, session: &mut Session, id: &str) -> Result<Option<Look>, Error> {
        let path = match self.root.find(&*self.volume, id)? {
            Found::Log(path) => path,
            Found::Nothing => return Ok(None),
            Found::Newer(path) => {
                let message = "the session has only a log of a newer format: open a store of that";
                return Err(Error::new(ErrorKind::Unsupported, message).at(path, None));
            }
            Found::OtherEncoding(path) => return Err(other_encoding(&path)),
        };
        let look = look::look(&*self.volume, &self.root, self.layout, &path)?;
        session.seen = Some((path, look.stat, look.events - look.recovered.len() as u64));
        Ok(Some(look))
    }

    pub(super) fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let shared = self.session(id);
        let mut session = lock(&shared);
        let (header, next_seq, last_time_ms, sure) = if let Some(log) = &session.log {
            (log.header.clone(), log.next_seq(), log.last_time_ms, log.synced_seq())
        } else {
            let Some(look) = self.look(&mut session, id)? else {
                drop(session);
                self.forget(id, &shared);
                return Ok(None);
            };
            let sure = look.events - look.recovered.len() as u64;
            (look.header, look.events, look.last_time_ms, sure)
        };
        Ok(Some(SessionInfo {
            id: id.to_owned(),
            header: SessionHeader { dialect: self.layout.format, json: header },
            next_seq,
            last_time_ms,
            last_epoch: None,
            unconfirmed: next_seq - sure,
        }))
    }

    /// Returns the sessions whose logs the host opens, and those that it refuses for their content
    /// not: looking for one of them says why.
    pub(super) fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        // An id that is no text has no name here.
        let id =
            |folder: OsString| String::from_utf8(decode_segment(folder.as_encoded_bytes())?).ok();
        let folders = self.root.sessions(&*self.volume)?;
        let ids: BTreeSet<String> = folders.into_iter().filter_map(id).collect();
        let mut infos = Vec::with_capacity(ids.len());
        for id in ids {
            match self.find(&id) {
                Ok(info) => infos.extend(info),
                Err(error) if is_of_content(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(infos)
    }

    pub(super) fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let session = self.session(id);
        let mut guard = lock(&session);
        if guard.log.is_none() && guard.seen.is_none() {
            self.look(&mut guard, id)?;
        }
        let (path, until, sure, first, queue) = match (&guard.log, &guard.seen) {
            (Some(log), _) => {
                let queue = log.queue().to_vec();
                (log.path.clone(), log.written_seq(), log.synced_seq(), log.written_seq(), queue)
            }
            (None, Some((path, _, sure))) => (path.clone(), u64::MAX, *sure, 0, Vec::new()),
            (None, None) => {
                let message = format!("there is no session {}", super::shown(id));
                return Err(Error::new(ErrorKind::NoSession, message));
            }
        };
        // Whoever takes may ask for the same session again.
        drop(guard);
        if from < until && !self.read_log(&path, from..until, sure, take)? {
            return Ok(());
        }
        for (event, seq) in queue.iter().zip(first..) {
            // In plain text batches leave no trace, and so they have none before they are written.
            let batch = if self.config.encoding == Encoding::Plain { seq } else { first };
            let loose = Loose::of(event, seq, batch);
            if seq >= from && take(&loose.stored(false)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Hands events of a log on, and says whether more are wanted.
    fn read_log(
        &self,
        path: &Path,
        seqs: Range<u64>,
        sure: u64,
        take: &mut Take<'_>,
    ) -> Result<bool, Error> {
        let (to, portions) = sync_channel(PORTIONS);
        thread::scope(|scope| {
            let reading = move || look::send(&*self.volume, &self.root, path, seqs, to);
            let reader = thread::Builder::new().spawn_scoped(scope, reading);
            let reader = reader.map_err(|error| {
                Error::new(ErrorKind::Io, format!("cannot start a thread to read with: {error}"))
            })?;
            let mut wants = true;
            'all: for portion in &portions {
                for event in portion {
                    if take(&event.stored(event.seq < sure)).is_break() {
                        wants = false;
                        break 'all;
                    }
                }
            }
            // The reader sees that nobody takes any more.
            drop(portions);
            let ended = reader.join().unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Io, "the thread that read the log panicked"))
            });
            if wants { ended.map(|()| true) } else { Ok(false) }
        })
    }
}

/// Returns whether an error is about one log and not about the disk.
fn is_of_content(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Corrupt | ErrorKind::Unsupported)
}
