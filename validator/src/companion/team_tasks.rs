//! The tasks of a team: their revisions, and the graph of what waits for what.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.15, tasks.

use std::collections::{HashMap, HashSet};

use gatelog_engine::json::{Json, Text};

use super::shape::positive;

/// How many tasks and blockers the graph checks of one log may look at, all together.
///
/// The host looks at the whole graph for each task event. A team has a few dozen tasks; a log that
/// was made to be slow stops being checked here, and the family says so.
const LOOKS_MAX: usize = 4_000_000;

type Id = Box<[u8]>;

/// What is wrong with a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its revision is not the next one.
    Revision(String),
    /// The graph with it is not sound.
    Graph(String),
}

/// The tasks of one team, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    in_order: Vec<Task>,
    places: HashMap<Id, usize>,
    looks: usize,
}

/// A task at its last revision.
#[derive(Clone, Debug)]
pub(super) struct Task {
    id: Id,
    revision: f64,
    deleted: bool,
    blocked_by: Vec<Id>,
}

impl Task {
    /// Reads a task that is valid.
    pub(super) fn of(task: Json<'_>) -> Option<Self> {
        let id = task.get("id")?.as_text()?.to_wtf8().into();
        let revision = positive(task.get("revision"))?;
        let deleted = task.get("status")?.is_str("deleted");
        let blockers = task.get("blockedBy")?.elements();
        let blocked_by =
            blockers.filter_map(|id| id.as_text()).map(|id: Text<'_>| id.to_wtf8().into());
        Some(Self { id, revision, deleted, blocked_by: blocked_by.collect() })
    }
}

impl Tasks {
    /// Returns whether the graph is still checked.
    pub(super) fn is_checked(&self) -> bool {
        self.looks <= LOOKS_MAX
    }

    /// Judges a task against the others.
    pub(super) fn judge(&self, task: &Task) -> Result<(), Fault> {
        let id = || shown(&task.id);
        match self.places.get(&task.id).map(|place| &self.in_order[*place]) {
            None if task.revision != 1.0 => {
                let text = format!("team task \"{}\" must begin at revision 1", id());
                return Err(Fault::Revision(text));
            }
            Some(prior) if task.revision != prior.revision + 1.0 => {
                let text = format!("team task \"{}\" revision is not contiguous", id());
                return Err(Fault::Revision(text));
            }
            _ => {}
        }
        if !self.is_checked() {
            return Ok(());
        }
        self.judge_graph(task).map_err(Fault::Graph)
    }

    /// Takes a task in. Where the graph is not sound with it, what cannot be relied on is left
    /// out, so that later tasks are not held to it.
    pub(super) fn apply(&mut self, task: Task) {
        let is_sound = !self.is_checked() || self.judge_graph(&task).is_ok();
        self.looks += self.in_order.iter().map(|task| 1 + task.blocked_by.len()).sum::<usize>();
        let place = *self.places.entry(task.id.clone()).or_insert(self.in_order.len());
        if place == self.in_order.len() {
            self.in_order.push(task.clone());
        }
        self.in_order[place] = task;
        if is_sound {
            return;
        }
        self.in_order[place].blocked_by.clear();
        let gone: HashSet<Id> =
            self.in_order.iter().filter(|task| task.deleted).map(|task| task.id.clone()).collect();
        for task in &mut self.in_order {
            task.blocked_by.retain(|blocker| !gone.contains(blocker));
        }
    }

    /// Judges the graph with one task put in or replaced, in the host's order.
    fn judge_graph(&self, candidate: &Task) -> Result<(), String> {
        let graph = Graph { tasks: self, candidate };
        for task in graph.in_order().filter(|task| !task.deleted) {
            graph.judge_blockers(task)?;
        }
        graph.judge_cycles()
    }
}

/// The tasks with one of them put in or replaced.
struct Graph<'a> {
    tasks: &'a Tasks,
    candidate: &'a Task,
}

impl<'a> Graph<'a> {
    fn in_order(&self) -> impl Iterator<Item = &'a Task> {
        let candidate = self.candidate;
        let known = self.tasks.in_order.iter();
        let known = known.map(move |task| if task.id == candidate.id { candidate } else { task });
        let is_new = !self.tasks.places.contains_key(&candidate.id);
        known.chain(is_new.then_some(candidate))
    }

    fn get(&self, id: &Id) -> Option<&'a Task> {
        if *id == self.candidate.id {
            return Some(self.candidate);
        }
        self.tasks.places.get(id).map(|place| &self.tasks.in_order[*place])
    }

    fn judge_blockers(&self, task: &Task) -> Result<(), String> {
        let mut seen = HashSet::new();
        for blocker in &task.blocked_by {
            let (id, name) = (|| shown(&task.id), || shown(blocker));
            if *blocker == task.id {
                return Err(format!("team task \"{}\" cannot block itself", id()));
            }
            if !seen.insert(blocker) {
                return Err(format!("team task \"{}\" repeats blocker \"{}\"", id(), name()));
            }
            if self.get(blocker).is_none_or(|blocker| blocker.deleted) {
                let (id, name) = (id(), name());
                return Err(format!("blocker task \"{name}\" for \"{id}\" is missing or deleted"));
            }
        }
        Ok(())
    }

    /// Walks from every task to what it waits for, without recursion: a chain may be long.
    fn judge_cycles(&self) -> Result<(), String> {
        let mut done: HashSet<&Id> = HashSet::new();
        let mut open: HashSet<&Id> = HashSet::new();
        for start in self.in_order() {
            let mut path: Vec<(&Task, usize)> = Vec::new();
            let mut next = Some(start);
            loop {
                if let Some(task) = next.take() {
                    if open.contains(&task.id) {
                        let id = shown(&task.id);
                        return Err(format!("task dependency cycle includes \"{id}\""));
                    }
                    if !task.deleted && !done.contains(&task.id) {
                        open.insert(&task.id);
                        path.push((task, 0));
                    }
                }
                let Some((task, place)) = path.last_mut() else { break };
                if let Some(blocker) = task.blocked_by.get(*place) {
                    *place += 1;
                    next = self.get(blocker);
                } else {
                    open.remove(&task.id);
                    done.insert(&task.id);
                    path.pop();
                }
            }
        }
        Ok(())
    }
}

/// Returns an id for a message.
pub(super) fn shown(id: &[u8]) -> String {
    String::from_utf8_lossy(id).into_owned()
}
