//! The todo list of a session: the last one that was written, whole.

use super::kept::Resume;
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};

/// The list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoView {
    /// Its entries.
    pub todos: Option<Raw>,
    /// Seq of the event.
    pub seq: u64,
}

/// The todo list of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    todo: Option<TodoView>,
}

impl Fold for Todo {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "todo/write" {
            let todos = Raw::member(event.data, "todos");
            self.todo = Some(TodoView { todos, seq: event.seq });
        }
    }
}

impl Projection for Todo {
    type View = Option<TodoView>;

    fn name(&self) -> &'static str {
        "todo"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["todo/write"])
    }

    fn view(&self) -> Option<TodoView> {
        self.todo.clone()
    }
}

impl Resume for Todo {}
