//! What a session's events add up to, for whoever shows it: folds with a view.
//!
//! A projection is never asked by a companion, and may be left out without changing a verdict.
//!
//! | name | version | shows |
//! |---|---|---|
//! | `policy` | 1 | the approval policy in force, and what set it |
//! | `sandbox` | 1 | the sandbox mode in force, and what set it |
//! | `permissions` | 2 | the select of presets, `custom` derived; whether the session was seeded |
//! | `approvals` | 1 | open and decided questions |
//! | `commands` | 1 | commands and what came of them |
//! | `turns` | 1 | turns and their steps |
//! | `usage` | 1 | tokens by model, each counted once |
//! | `title` | 1 | the last title |
//! | `todo` | 1 | the last todo list |
//! | `request_header` | 1 | the last request header |

mod raw;
mod kept;
mod knob;
mod permissions;
mod turns;
mod approvals;
mod commands;
mod usage;
mod title;
mod todo;
mod request;

pub use approvals::{Approval, Approvals, ApprovalsView};
pub use commands::{Command, Commands};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Document, is_safe_integer, is_seq};
use gatelog_engine::replay::Projected;
use gatelog_engine::rules::SessionHeader;
pub use kept::{Kept, Resume};
pub use knob::{Composed, KnobView, Policy, Sandbox, Set};
pub use permissions::{Permissions, PermissionsView, Preset, PresetOption, PresetTable};
pub use raw::Raw;
pub use request::{Request, RequestView};
pub use title::{Title, TitleView};
pub use todo::{Todo, TodoView};
pub use turns::{Step, Turn, Turns};
pub use usage::{ModelUsage, Tokens, Usage, UsageView};

/// The names of all projections, in the order in which they are shown.
pub const NAMES: [&str; 10] = [
    "policy",
    "sandbox",
    "permissions",
    "approvals",
    "commands",
    "turns",
    "usage",
    "title",
    "todo",
    "request_header",
];

/// What an installation of the host brings along.
#[derive(Clone, Debug, Default)]
pub struct Installation {
    /// What it is composed with.
    pub composed: Composed,
    /// Its permission presets.
    pub presets: PresetTable,
}

impl Installation {
    /// Makes all projections of a session, in the order of [`NAMES`].
    pub fn all(&self, header: &SessionHeader) -> Vec<Box<dyn Projected>> {
        let composed = || self.composed.clone();
        vec![
            Box::new(Kept(Policy::new(composed()))),
            Box::new(Kept(Sandbox::new(composed()))),
            Box::new(Kept(Permissions::new(self.presets.clone(), composed()))),
            Box::new(Kept(Approvals::new(composed()))),
            Box::new(Kept(Commands::default())),
            Box::new(Kept(Turns::default())),
            Box::new(Kept(Usage::new(inherited(header)))),
            Box::new(Kept(Title::default())),
            Box::new(Kept(Todo::default())),
            Box::new(Kept(Request::default())),
        ]
    }
}

/// Returns how many events a session inherited, by its header.
fn inherited(header: &SessionHeader) -> u64 {
    let document = Document::parse(header.json.clone()).ok();
    let seed = document.as_ref().and_then(|header| header.root().get("seedLength")?.as_number());
    seed.filter(|seed| is_seq(*seed)).map_or(0, |seed| seed as u64)
}

/// Returns the time of an event, in whole milliseconds since 1970.
fn time_ms(event: &Event<'_>) -> i64 {
    if is_safe_integer(event.time_ms) { event.time_ms as i64 } else { 0 }
}
