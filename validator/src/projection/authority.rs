//! What an agent may do at some point of its session: preset, sandbox mode, approval policy.

use gatelog_engine::companion::{Fold, Projection};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

/// The authority in force, folded from `permission/preset`, `sandbox/mode` and `approval/policy`.
///
/// Each event replaces its own part; a part that no event named is unknown, because what a host
/// assumes then is not in the log. A payload without its member changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Authority {
    view: AuthorityView,
}

/// The last word of each part, and the seq of the event that said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorityView {
    /// Name of the permission preset.
    pub preset: Option<(String, u64)>,
    /// Mode of the sandbox.
    pub sandbox: Option<(String, u64)>,
    /// Approval policy.
    pub policy: Option<(String, u64)>,
}

impl Fold for Authority {
    fn fold(&mut self, event: &Event<'_>) {
        let (key, part) = match event.kind {
            "permission/preset" => ("preset", &mut self.view.preset),
            "sandbox/mode" => ("mode", &mut self.view.sandbox),
            "approval/policy" => ("policy", &mut self.view.policy),
            _ => return,
        };
        if let Some(word) = event.field(key).as_ref().and_then(Json::as_text) {
            *part = Some((word.to_lossy().into_owned(), event.seq));
        }
    }
}

impl Projection for Authority {
    type View = AuthorityView;

    fn name(&self) -> &'static str {
        "authority"
    }

    fn version(&self) -> u32 {
        1
    }

    fn view(&self) -> AuthorityView {
        self.view.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::event::Place;
    use gatelog_engine::json::Document;

    fn folded(events: &[(&str, &str)]) -> AuthorityView {
        let mut authority = Authority::default();
        for (seq, (kind, data)) in (0..).zip(events) {
            let data = Document::parse(*data).expect("the case is JSON");
            authority.fold(&Event {
                seq,
                members: 1,
                time_ms: 0.0,
                last_time_ms: 0.0,
                kind,
                data: data.root(),
                packed: false,
                ignorable: false,
                sources: None,
                surface: None,
                place: Place::default(),
            });
        }
        authority.view()
    }

    #[test]
    fn the_last_word_of_each_part_is_in_force() {
        let view = folded(&[
            ("permission/preset", r#"{"preset":"workspace-write"}"#),
            ("sandbox/mode", r#"{"mode":"workspace-write"}"#),
            ("approval/policy", r#"{"policy":"ask"}"#),
            ("turn/start", r#"{"turn":1}"#),
            ("approval/policy", r#"{"policy":"never"}"#),
        ]);
        assert_eq!(view.policy, Some(("never".into(), 4)));
        assert_eq!(view.preset, Some(("workspace-write".into(), 0)));
        assert_eq!(view.sandbox, Some(("workspace-write".into(), 1)));
    }

    #[test]
    fn a_part_that_nobody_named_is_unknown_and_a_broken_payload_changes_nothing() {
        let view = folded(&[
            ("approval/policy", r#"{"policy":"ask"}"#),
            ("approval/policy", "null"),
            ("approval/policy", r#"{"policy":7}"#),
        ]);
        assert_eq!(view.policy, Some(("ask".into(), 0)));
        assert_eq!((view.preset, view.sandbox), (None, None));
    }
}
