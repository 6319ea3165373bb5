//! The events of approvals and of their policy, as drafts.

use super::outcome::ApprovalOutcome;
use super::policy::{ApprovalPolicy, KnobSource};
use super::request::{ApprovalId, ApprovalRequest};
use gatelog_engine::rules::Draft;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    id: &'a str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Policy {
    policy: ApprovalPolicy,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

fn draft(kind: &str, data: &impl Serialize) -> Draft {
    Draft::new(kind, serde_json::to_vec(data).expect("members of texts are JSON"))
}

pub(super) fn asked(id: &ApprovalId, request: &ApprovalRequest) -> Draft {
    let (tool_name, call_id, reason) = (request.tool_name(), request.call_id(), request.reason());
    draft("approval/asked", &Asked { id: id.as_str(), tool_name, call_id, reason })
}

/// Makes the decision about an id that is given as JSON text.
pub(super) fn decided(id_json: &str, outcome: ApprovalOutcome) -> Draft {
    let data = format!(r#"{{"id":{id_json},"outcome":"{}"}}"#, outcome.word());
    Draft::new("approval/decided", data)
}

/// Makes the event that sets the policy of a session.
pub(crate) fn policy(policy: ApprovalPolicy, source: KnobSource) -> Draft {
    draft("approval/policy", &Policy { policy, source: source.word() })
}
