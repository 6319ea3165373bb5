//! How a session is made: whole, by its first batch, or not at all.

use super::contained::contained;
use super::held::{Held, unknown};
use super::init::Init;
use super::live::Status;
use super::lock::lock;
use super::state::{State, could_not_read};
use crate::backend::{AppendError, Batch, Durability, Refusal};
use crate::json::{Scanner, Tape};
use crate::rules::{Draft, SessionHeader};

impl Held {
    /// Creates the session whose gate this is.
    pub(crate) fn create(
        &mut self,
        header: &SessionHeader,
        durability: Durability,
        init: impl FnOnce(&mut Init<'_>) -> Result<(), Refusal>,
    ) -> Result<(), AppendError> {
        self.prepare_to_create(header)?;
        let shared = std::sync::Arc::clone(&self.live.shared);
        let _creation = shared.creating.begin();
        let drafts = self.gather(header, init).map_err(AppendError::Refused)?;
        let judge = contained(|| shared.rules.judge(&self.live.id, header));
        let judge = judge.map_err(|said| internal("the rules", &said));
        let judge = judge.and_then(|judge| judge.map_err(Refusal::Violation));
        self.slot.state = Some(Box::new(State::new(judge.map_err(AppendError::Refused)?)));
        let created = self.create_with(header, drafts, durability);
        if created.is_err() {
            self.slot.state = None;
        } else {
            shared.set_recovered(&self.live.id);
            self.live.set_status(Status::Open);
        }
        created
    }

    fn prepare_to_create(&mut self, header: &SessionHeader) -> Result<(), AppendError> {
        self.look().map_err(AppendError::Refused)?;
        let is_there = self.live.status() == Status::Open
            || self.live.shared.backend.find(&self.live.id).map_err(could_not_read)?.is_some();
        if is_there {
            return Err(AppendError::Refused(Refusal::Exists));
        }
        // What was taken back was of the session that this one replaces.
        self.slot.rewound = None;
        let mut tape = Tape::new();
        let what = match Scanner::new().scan(&header.json, &mut tape) {
            Ok(root) if tape.json(&header.json, root).is_object() => return Ok(()),
            Ok(_) => "the header of a session is an object".to_owned(),
            Err(defect) => format!("the header is no JSON: {}", defect.what),
        };
        Err(AppendError::Refused(Refusal::Malformed { what }))
    }

    /// Asks `init`, and then whoever is asked at creations, for the drafts of the first batch.
    fn gather(
        &self,
        header: &SessionHeader,
        init: impl FnOnce(&mut Init<'_>) -> Result<(), Refusal>,
    ) -> Result<Vec<Draft>, Refusal> {
        let mut gathered = Init::new(&self.live.id, header);
        contained(|| init(&mut gathered)).map_err(|said| internal("init", &said))??;
        let creations = lock(&self.live.shared.creations).clone();
        for creation in creations.iter() {
            let created = contained(|| creation.created(&mut gathered));
            created.map_err(|said| internal("a creation observer", &said))??;
        }
        Ok(gathered.into_drafts())
    }

    fn create_with(
        &mut self,
        header: &SessionHeader,
        drafts: Vec<Draft>,
        durability: Durability,
    ) -> Result<(), AppendError> {
        let planned = self.stamp(drafts, durability, None)?;
        let batch = Batch::clone(&planned.batch);
        let live = std::sync::Arc::clone(&self.live);
        let result = live.shared.pass(live.generation).and_then(|_passage| {
            let create = || live.shared.backend.create(&live.id, header, batch, durability);
            contained(create).unwrap_or_else(|said| Err(unknown(&said)))
        });
        self.settle(&planned, result).map(drop)
    }
}

fn internal(who: &str, said: &str) -> Refusal {
    Refusal::Internal { what: format!("{who} panicked while a session was created: {said}") }
}
