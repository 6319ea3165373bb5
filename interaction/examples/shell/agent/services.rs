//! The services, mounted around a store and a session.

use super::console::{Console, Heard};
use super::note;
use super::tools::{self, Call, Told, WRITE};
use async_trait::async_trait;
use gatelog_engine::store::{Session, Store};
use gatelog_interaction::agent::{Agent, Agents, BoxError, LiveAgent, NoticeQueue};
use gatelog_interaction::approval::{Approval, ApprovalOutcome, ApprovalService, answerer};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use gatelog_interaction::command::{CommandDescriptor, CommandRegistry};
use gatelog_interaction::plane::Plane;
use gatelog_interaction::preset::{
    ComposedDefaults, KEY, NAMESPACE, PresetService, PresetTable, Settings, permission_command,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::{
    Answer, AskTool, ProviderGuard, Question, QuestionAsk, QuestionError, QuestionProvider,
    Questions,
};
use gatelog_interaction::sandbox::{Enforcement, Sandbox, SandboxMode};
use gatelog_interaction::scope::{Authority, Scope};
use gatelog_interaction::text::is_blank;
use gatelog_interaction::tool::{PreDecision, Refused, ToolCall, ToolSeam, Verdict};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

const COMPOSED: ComposedDefaults = ComposedDefaults::of_mode(SandboxMode::WorkspaceWrite);

/// The person's own default, which was read from the environment.
struct Chosen(Option<String>);

impl Settings for Chosen {
    fn get(&self, namespace: &str, key: &str) -> Result<Option<String>, BoxError> {
        let is_known = (namespace, key) == (NAMESPACE, KEY);
        Ok(self.0.clone().filter(|_| is_known))
    }

    fn set(&self, _: &str, _: &str, _: &str) -> Result<(), BoxError> {
        Err("set DSH_PERMISSION_MODE instead".into())
    }
}

/// Says that every mode can be had. The tools look at paths themselves, which is no sandbox.
struct Stub;

impl Enforcement for Stub {
    fn usable(&self, _: SandboxMode) -> bool {
        true
    }
}

/// What is mounted before there is a session.
pub(crate) struct Mounting {
    plane: Plane,
    agents: Agents,
    presets: PresetService,
}

impl Mounting {
    /// Mounts presets, so that sessions are pinned when they are made.
    pub(crate) fn begin(store: &Store, preset: Option<String>) -> Result<Self, BoxError> {
        let agents = Agents::new();
        let plane = Plane::new(tokio::runtime::Handle::current(), Profile::STRICT)
            .with_agents(Arc::new(agents.clone()));
        let presets = PresetService::new(&plane, PresetTable::shipped(), COMPOSED, None)?;
        presets.set_settings(Some(Arc::new(Chosen(preset))))?;
        presets.mount(store, Vec::new);
        Ok(Self { plane, agents, presets })
    }

    /// Mounts the rest, for the agent of a session.
    pub(crate) async fn finish(
        self,
        session: &Session,
        console: &Arc<Console>,
    ) -> Result<Services, BoxError> {
        let Self { plane, agents, presets } = self;
        // One that was made without presets gets them now; any other is left as it is.
        presets.adopt(session).await?;
        let (scope, notices) = (Scope::new("shell"), Arc::new(NoticeQueue::default()));
        let agent = Agent::new("shell", session.clone(), scope.clone(), notices.clone());
        let live = agents.enter(agent, None);
        let approvals = ApprovalService::new(&plane, None);
        let asked = Arc::clone(console);
        let person = answerer(move |approval| answer(Arc::clone(&asked), approval));
        approvals.registrar(Authority::Root).scoped(&scope, Place::Last, person)?.keep();
        let questions = Questions::new(&plane);
        let provider = questions.provider(Authority::Root, Person(Arc::clone(console)))?;
        let mode = COMPOSED.executor_mode;
        let sandbox = Sandbox::new(&plane, mode, Some(Arc::new(Stub)));
        let seam = ToolSeam::new(&plane, Some(Arc::new(approvals.clone())));
        let before = BeforeWriting(sandbox.clone());
        seam.register_pre_execute(Authority::Root, None, Place::Last, before)?.keep();
        let registry = CommandRegistry::new(plane.clone());
        let registrar = registry.registrar(Authority::Root);
        registrar.global(permission_command(&presets))?.keep();
        registrar.global(note::command())?.keep();
        Ok(Services {
            plane,
            presets,
            approvals,
            questions,
            sandbox,
            seam,
            registry,
            notices,
            live,
            provider,
        })
    }
}

/// All that is mounted.
pub(crate) struct Services {
    plane: Plane,
    pub(crate) presets: PresetService,
    pub(crate) approvals: ApprovalService,
    questions: Questions,
    pub(crate) sandbox: Sandbox,
    seam: ToolSeam,
    pub(crate) registry: CommandRegistry,
    /// What the model is to read before its next step.
    pub(crate) notices: Arc<NoticeQueue>,
    live: LiveAgent,
    provider: ProviderGuard,
}

impl Services {
    pub(crate) fn agent(&self) -> &Agent {
        self.live.agent()
    }

    /// Returns a line on each command.
    pub(crate) fn commands(&self) -> Vec<String> {
        let line = |command: Arc<CommandDescriptor>| {
            let hint = command.input.as_ref().map(|input| format!(" ({})", input.hint));
            format!("/{}{}: {}", command.name, hint.unwrap_or_default(), command.description)
        };
        self.registry.list(self.agent()).into_iter().map(line).collect()
    }

    /// Carries a call out, if it may be.
    pub(crate) async fn carry_out(
        &self,
        call: &Call,
        id: &str,
        workspace: &Path,
        cancel: &Cancel,
    ) -> Told {
        let agent = self.agent();
        let asked = ToolCall::new(agent.session(), call.name, id, call.arguments.to_string())
            .by(agent)
            .until(cancel.clone());
        match self.seam.decide(asked).await {
            Verdict::Refused(refused) => return refusal(&refused),
            Verdict::Failed(error) => return Told::badly(format!("Error: {error}")),
            Verdict::Dispatch => {}
        }
        if call.name == AskTool::NAME {
            let tool = AskTool::new(&self.questions);
            let asked = tool.call(&call.arguments, Some(agent), Some(cancel.clone())).await;
            return match asked {
                Ok(output) => Told::well(output.text()),
                Err(failure) => Told {
                    text: format!("Error: {}", failure.message),
                    error: Some((failure.name, failure.code)),
                },
            };
        }
        match self.sandbox.check_call(agent, None).await {
            Ok(mode) => tools::run(call, workspace, Some(mode)),
            Err(error) => Told::badly(format!("Error: {error}")),
        }
    }

    /// Takes everything away again.
    pub(crate) async fn unmount(mut self) {
        self.provider.withdraw();
        self.questions.shutdown();
        self.approvals.shutdown().await;
        self.plane.drained().await;
    }
}

fn refusal(refused: &Refused) -> Told {
    match refused.code {
        Some(code) => Told::coded(refused.text(), "ToolRefused", code.as_str()),
        None => Told::badly(refused.text()),
    }
}

/// Lets no file be written that nobody was asked about, unless everything is allowed.
struct BeforeWriting(Sandbox);

#[async_trait]
impl Listener<ToolCall> for BeforeWriting {
    async fn call(
        &self,
        call: Arc<ToolCall>,
        next: Next<ToolCall>,
    ) -> Result<PreDecision, ListenerError> {
        if call.name() != WRITE {
            return next.run().await;
        }
        let mode = self.0.effective(call.session(), None).await;
        match mode.map_err(ListenerError::failed)? {
            SandboxMode::ReadOnly => {
                Ok(PreDecision::Deny { reason: "the sandbox mode is read-only".to_owned() })
            }
            SandboxMode::WorkspaceWrite => {
                // An approval shows no arguments, so the reason says what it is about.
                let arguments: Value = serde_json::from_str(call.arguments()).unwrap_or_default();
                let path = arguments.get("path").and_then(Value::as_str).unwrap_or("a file");
                Ok(PreDecision::Ask { reason: Some(format!("it changes {path}")) })
            }
            SandboxMode::DangerFullAccess => next.run().await,
        }
    }
}

/// Puts an approval to the person. Nobody there is nobody to allow anything.
async fn answer(console: Arc<Console>, approval: Arc<Approval>) -> Option<ApprovalOutcome> {
    let request = approval.request();
    let reason = request.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    let prompt = format!("allow {}{reason}? [y/n] ", request.tool_name());
    loop {
        match console.hear(&prompt).await {
            Heard::Line(line) if line.trim() == "y" => return Some(ApprovalOutcome::AllowedOnce),
            Heard::Line(line) if line.trim() == "n" => return Some(ApprovalOutcome::Rejected),
            Heard::Line(_) => {}
            // The turn was cancelled, and what is said now is void.
            Heard::Interrupt => return Some(ApprovalOutcome::Cancelled),
            Heard::End => return None,
        }
    }
}

/// Puts questions to the person: a label or its number chooses, an empty line skips, and all else
/// is an answer of the person's own.
struct Person(Arc<Console>);

impl Person {
    async fn ask(&self, question: &Question) -> Result<Answer, QuestionError> {
        self.0.say(&question.question);
        let labels: Vec<_> =
            question.options.iter().flatten().map(|option| option.label.as_str()).collect();
        for (at, label) in labels.iter().enumerate() {
            self.0.say(&format!("  {}. {label}", at + 1));
        }
        let Heard::Line(line) = self.0.hear("? ").await else {
            return Err(QuestionError::cancelled());
        };
        let said = line.trim();
        let numbered = said.parse::<usize>().ok().and_then(|at| labels.get(at.checked_sub(1)?));
        let chosen = labels.iter().find(|label| **label == said).or(numbered);
        let custom = (chosen.is_none() && !is_blank(said)).then(|| said.to_owned());
        let selected = chosen.map(|label| (*label).to_owned()).into_iter().collect();
        Ok(Answer { id: question.id.clone(), selected, custom })
    }
}

#[async_trait]
impl QuestionProvider for Person {
    async fn answer(&self, ask: Arc<QuestionAsk>, _: Cancel) -> Result<Vec<Answer>, BoxError> {
        let mut answers = Vec::new();
        for question in ask.questions() {
            answers.push(self.ask(question).await?);
        }
        Ok(answers)
    }
}
