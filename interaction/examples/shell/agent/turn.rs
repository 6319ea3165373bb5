//! A turn as it stands in the log.

use super::tools::{Call, Told};
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;
use gatelog_interaction::agent::BoxError;
use gatelog_validator::facts::Facts;
use serde_json::{Value, json};

/// A call that is in the log.
pub(crate) struct Placed {
    /// Its id.
    pub(crate) id: String,
    /// Seq of its `tool/call`.
    seq: u64,
}

/// An open turn.
pub(crate) struct Turn {
    session: Session,
    number: u64,
    step: u64,
    messages: u64,
}

impl Turn {
    /// Starts the next turn of a session.
    pub(crate) async fn begin(session: &Session) -> Result<Self, BoxError> {
        let asked = session.clone();
        // The gate blocks, and what blocks has threads of its own.
        let number = tokio::task::spawn_blocking(move || {
            let mut gate = asked.gate()?;
            let facts: &Facts = gate.facts()?;
            Ok::<_, AppendError>(facts.turns + 1)
        });
        let turn = Self { session: session.clone(), number: number.await??, step: 0, messages: 0 };
        turn.append(vec![Draft::new("turn/start", json!({"turn": turn.number}).to_string())])
            .await?;
        Ok(turn)
    }

    async fn append(&self, drafts: Vec<Draft>) -> Result<u64, BoxError> {
        Ok(self.session.append_async(drafts, Durability::Synced).await?.first_seq)
    }

    fn message_id(&mut self) -> String {
        self.messages += 1;
        format!("message-{}-{}", self.number, self.messages)
    }

    fn boundary(&self, kind: &str) -> Draft {
        Draft::new(kind, json!({"turn": self.number, "step": self.step}).to_string())
    }

    /// Adds what the model is to read.
    pub(crate) async fn user(&mut self, text: &str, source: Value) -> Result<(), BoxError> {
        let message = json!({
            "content": [{"type": "text", "text": text}], "source": source, "role": "user",
            "id": self.message_id(),
        });
        let draft = Draft::new("user/message", message.to_string()).appended();
        self.append(vec![draft]).await?;
        Ok(())
    }

    fn assistant(&mut self, content: &Value) -> Draft {
        let message = json!({
            "id": self.message_id(), "role": "assistant", "content": content,
            "source": {"kind": "model", "provider": "shell", "model": "echo"},
        });
        let data = json!({"turn": self.number, "step": self.step, "message": message});
        Draft::new("assistant/message", data.to_string()).appended().citing(&[])
    }

    /// Adds a step in which the model says something and calls nothing.
    pub(crate) async fn answer(&mut self, text: &str) -> Result<(), BoxError> {
        self.step += 1;
        let start = self.boundary("step/start");
        let said = self.assistant(&json!([{"type": "text", "text": text}]));
        self.append(vec![start, said, self.boundary("step/end")]).await?;
        Ok(())
    }

    /// Begins a step in which the model calls a tool.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<Placed, BoxError> {
        self.step += 1;
        let id = format!("call-{}-{}", self.number, self.step);
        let start = self.boundary("step/start");
        let arguments = call.arguments.to_string();
        let said = self.assistant(&json!([
            {"type": "tool-call", "id": id, "name": call.name, "arguments": arguments},
        ]));
        let data = json!({
            "turn": self.number, "step": self.step, "callId": id, "name": call.name,
            "arguments": arguments,
        });
        let first = self.append(vec![start, said, Draft::new("tool/call", data.to_string())]);
        let seq = first.await? + 2;
        Ok(Placed { id, seq })
    }

    /// Adds the result of a call, and ends its step.
    pub(crate) async fn result(&mut self, placed: &Placed, told: &Told) -> Result<(), BoxError> {
        let block = json!({
            "type": "tool-result", "toolCallId": placed.id, "isError": told.error.is_some(),
            "content": [{"type": "text", "text": told.text}],
        });
        let message = json!({
            "source": {"kind": "tool", "callId": placed.id}, "content": [block], "role": "user",
            "id": self.message_id(),
        });
        let mut data = json!({"turn": self.number, "step": self.step, "message": message});
        if let Some((name, code)) = &told.error {
            data["error"] = json!({"name": name});
            if let Some(code) = code {
                data["error"]["code"] = json!(code);
            }
        }
        let result = Draft::new("tool/result", data.to_string()).appended().citing(&[placed.seq]);
        self.append(vec![result, self.boundary("step/end")]).await?;
        Ok(())
    }

    /// Ends the turn.
    pub(crate) async fn end(self, reason: &Value) -> Result<(), BoxError> {
        let data = json!({"turn": self.number, "reason": reason});
        self.append(vec![Draft::new("turn/end", data.to_string())]).await?;
        Ok(())
    }
}
