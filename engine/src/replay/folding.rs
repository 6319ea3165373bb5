//! Projections folded along one session, from its start or from checkpoints.

use super::checkpoint::Checkpoint;
use super::prefix::{Prefix, PrefixDigest};
use super::projected::Projected;
use crate::event::Event;
use crate::rules::SessionHeader;

/// The view of one projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Name of the projection.
    pub name: &'static str,
    /// Version of the view.
    pub version: u32,
    /// The view, one JSON value.
    pub json: String,
}

/// A checkpoint that does not fit the session: it is of another one, of another version, or beyond
/// the end of this one. Nothing was folded from it, so its projection starts anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Names of the projections.
    pub names: Vec<&'static str>,
}

/// A projection, and what it waits for.
struct Member {
    projection: Box<dyn Projected>,
    /// The checkpoint that is taken up when its seq is reached; until then nothing is folded.
    waiting: Option<Checkpoint>,
    /// Its checkpoint turned out not to fit.
    is_unfit: bool,
}

/// Projections folded along one session.
pub struct Folding {
    members: Vec<Member>,
    prefix: Prefix,
}

impl Folding {
    /// Starts at the first event.
    pub fn new(header: &SessionHeader, projections: Vec<Box<dyn Projected>>) -> Self {
        Self::resume(header, projections, &[])
    }

    /// Starts each projection at its checkpoint, if there is one for its name and version. All
    /// events must be given all the same: they are digested, which shows that the checkpoint fits.
    pub fn resume(
        header: &SessionHeader,
        projections: Vec<Box<dyn Projected>>,
        checkpoints: &[Checkpoint],
    ) -> Self {
        let member = |projection: Box<dyn Projected>| {
            let fits = |checkpoint: &&Checkpoint| {
                checkpoint.name == projection.name() && checkpoint.version == projection.version()
            };
            let waiting = checkpoints.iter().filter(fits).max_by_key(|found| found.seq).cloned();
            Member { projection, waiting, is_unfit: false }
        };
        let members = projections.into_iter().map(member).collect();
        Self { members, prefix: Prefix::new(header) }
    }

    /// Takes the next event.
    pub fn take(&mut self, event: &Event<'_>) {
        self.take_up(event.seq);
        for member in &mut self.members {
            if member.waiting.is_none() && !member.is_unfit {
                member.projection.fold(event);
            }
        }
        self.prefix.take(event);
    }

    /// Takes the checkpoints up that are at a seq, and leaves those aside that were passed.
    fn take_up(&mut self, seq: u64) {
        let mut digest: Option<PrefixDigest> = None;
        for member in &mut self.members {
            let Some(waiting) = member.waiting.take_if(|waiting| waiting.seq <= seq) else {
                continue;
            };
            let digest = *digest.get_or_insert_with(|| self.prefix.digest());
            member.is_unfit = waiting.seq != seq
                || waiting.digest != digest
                || !member.projection.load(&waiting.state);
        }
    }

    /// Ends with the last event that was taken.
    ///
    /// # Errors
    ///
    /// [`Unfit`] names the projections that have to be folded from the start.
    pub fn finish(&mut self) -> Result<(), Unfit> {
        self.take_up(self.prefix.next_seq());
        let is_unfit = |member: &&Member| member.is_unfit || member.waiting.is_some();
        let unfit = self.members.iter().filter(is_unfit);
        let names: Vec<_> = unfit.map(|member| member.projection.name()).collect();
        if names.is_empty() { Ok(()) } else { Err(Unfit { names }) }
    }

    /// Returns the seq that comes next.
    pub fn next_seq(&self) -> u64 {
        self.prefix.next_seq()
    }

    /// Returns the views, in the order of the projections.
    pub fn views(&self) -> Vec<View> {
        let view = |member: &Member| {
            let projection = &member.projection;
            let (name, version) = (projection.name(), projection.version());
            View { name, version, json: projection.json() }
        };
        self.members.iter().map(view).collect()
    }

    /// Returns a checkpoint of each projection.
    pub fn checkpoints(&self) -> Vec<Checkpoint> {
        let (seq, digest) = (self.prefix.next_seq(), self.prefix.digest());
        let checkpoint = |member: &Member| {
            let projection = &member.projection;
            let (name, version) = (projection.name().to_owned(), projection.version());
            Checkpoint { name, version, seq, digest, state: projection.save() }
        };
        self.members.iter().map(checkpoint).collect()
    }
}
