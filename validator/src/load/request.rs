//! The shape of `request/header` in format 0.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 6.2 (E).

use crate::load::message::has_provider_and_model;
use gatelog_engine::companion::RuleId;
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

/// The one type that is judged here.
pub const KIND: &str = "request/header";

/// Judges a `request/header`; the first rule that it breaks.
///
/// # Errors
///
/// The rule, and the host's words for it without their subject.
pub fn judge(event: &Event<'_>) -> Result<(), (RuleId, &'static str)> {
    if event.kind != KIND {
        return Ok(());
    }
    let header = event.data.get("header").filter(Json::is_object);
    let config = header.and_then(|header| header.get("config"));
    let Some(config) = config.filter(|config| has_provider_and_model(*config)) else {
        return Err(("request/provider-model", "lacks provider/model"));
    };
    if config.get("reasoningEffort").is_some_and(|effort| !effort.is_nonempty_string()) {
        return Err(("request/reasoning-effort", "has an invalid reasoningEffort"));
    }
    let Some(defaults) = header.and_then(|header| header.get("adapterDefaults")) else {
        return Ok(());
    };
    let is_lawful = defaults.is_object()
        && defaults.members().all(|(key, marker)| {
            let known = ["reasoningEffort", "maxTokens"].into_iter().find(|name| key.eq_str(name));
            marker.as_bool() == Some(true) && known.is_some_and(|key| config.get(key).is_some())
        });
    if is_lawful {
        Ok(())
    } else {
        Err(("request/adapter-defaults", "has invalid adapterDefaults"))
    }
}
