//! The example of a shell, driven by its scripts on each store: what it shows, what a second run
//! finds, and that its log is sound.

#[path = "../examples/shell/agent/mod.rs"]
mod agent;

use agent::{Console, Kind, Options};
use gatelog_engine::backend::Backend;
use gatelog_engine::dsh::discover::{Options as Places, discover};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::session_files::{FilesConfig, SessionFiles};
use gatelog_engine::storage::Disk;
use gatelog_validator::report::{Report, Verdict};
use gatelog_validator::rule::{Profile, Severity};
use gatelog_validator::store::{StoreOptions, verify_store};
use gatelog_validator::verify::{Options as How, verify};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const KINDS: [Kind; 2] = [Kind::Native, Kind::Dsh];

/// Keeps what was shown.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("sound").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A directory of its own for each test and store.
struct Place {
    kind: Kind,
    dir: PathBuf,
}

impl Place {
    fn new(test: &str, kind: Kind) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shell-{test}-{kind:?}"));
        drop(fs::remove_dir_all(&dir));
        fs::create_dir_all(dir.join("workspace")).expect("the target directory is writable");
        Self { kind, dir }
    }

    fn store(&self) -> PathBuf {
        self.dir.join("store")
    }

    async fn play(
        &self,
        session: &str,
        is_bare: bool,
        preset: Option<&str>,
        script: &str,
    ) -> String {
        let options = Options {
            store: self.kind,
            is_bare,
            dir: self.store(),
            session: session.to_owned(),
            workspace: self.dir.join("workspace"),
            preset: preset.map(str::to_owned),
        };
        let shown = Shown::default();
        let console = Console::scripted(script, Box::new(shown.clone()));
        agent::run(&options, &console).await.expect("the shell ends well");
        let bytes = shown.0.lock().expect("sound").clone();
        String::from_utf8(bytes).expect("it shows text")
    }

    /// Plays one of the scripts and compares what it shows.
    async fn plays(&self, session: &str, is_bare: bool, name: &str) {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shell/scripts");
        let script = fs::read_to_string(scripts.join(format!("{name}.txt"))).expect("it is there");
        let shown = self.play(session, is_bare, None, &script).await;
        let expected = scripts.join(format!("{name}.expected"));
        if std::env::var_os("GATELOG_BLESS").is_some() {
            fs::write(&expected, &shown).expect("the repository is writable");
        }
        let expected = fs::read_to_string(expected).expect("it is there");
        assert_eq!(shown, expected, "{name} on {:?}", self.kind);
    }

    /// The events of a session, as the store reads them back: type and payload.
    fn events(&self, session: &str) -> Vec<(String, Value)> {
        let (disk, machine) = (Arc::new(Disk), Arc::new(ThisMachine));
        let backend: Arc<dyn Backend> = match self.kind {
            Kind::Native => {
                let log = Log::open(disk, &self.store(), machine, LogConfig::default());
                Arc::new(log.expect("nobody has it open"))
            }
            Kind::Dsh => {
                let files = SessionFiles::open(disk, self.store(), machine, FilesConfig::new(0));
                Arc::new(files.expect("it is there"))
            }
        };
        let mut events = Vec::new();
        let read = backend.read(session, 0, &mut |event| {
            let data = serde_json::from_slice(event.data).expect("a payload is JSON");
            events.push((event.kind.to_owned(), data));
            ControlFlow::Continue(())
        });
        read.expect("it is sound");
        backend.close().expect("it is sound");
        events
    }

    /// What is wrong with what lies on the disk, under strict rules, extras included.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut add = |report: &Report| {
            if report.verdict != Verdict::Sound {
                faults.push(format!("{:?}: {:?}", report.session, report.verdict));
            }
            for finding in &report.findings {
                if finding.severity != Severity::Note {
                    faults.push(format!("{}: {}", finding.rule, finding.message));
                }
            }
        };
        if self.kind == Kind::Native {
            let (store, sessions) =
                verify_store(&Disk, &self.store(), &StoreOptions::default(), &|_| {});
            assert!(!sessions.is_empty(), "there is something to verify");
            sessions.iter().for_each(&mut add);
            faults.extend(store.findings.iter().map(|finding| finding.message.clone()));
            return faults;
        }
        let places = Places { base: self.dir.clone() };
        let targets = discover(&Disk, &self.store(), &places).targets;
        assert!(!targets.is_empty(), "there is something to verify");
        let how = How { profile: Profile::Strict, ..How::default() };
        for target in &targets {
            add(&verify(&Disk, target, &how, &|_| {}));
        }
        faults
    }

    fn is_sound(&self) {
        assert_eq!(self.faults(), Vec::<String>::new(), "{:?}", self.kind);
    }
}

fn of<'e>(events: &'e [(String, Value)], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|(of, _)| of == kind).map(|(_, data)| data).collect()
}

#[tokio::test]
async fn a_session_is_played_and_resumed_with_its_policy() {
    for kind in KINDS {
        let place = Place::new("resumed", kind);
        place.plays("main", false, "work").await;
        place.is_sound();
        place.plays("main", false, "resume").await;
        place.is_sound();
        let events = place.events("main");
        let policies: Vec<_> =
            of(&events, "approval/policy").iter().map(|data| data["policy"].clone()).collect();
        // Pinned, then full access, then, after the resumption, asked for again.
        assert_eq!(policies, [json!("ask"), json!("never"), json!("ask")]);
        let outcomes: Vec<_> =
            of(&events, "approval/decided").iter().map(|data| data["outcome"].clone()).collect();
        let words = ["rejected", "allowed-once", "cancelled", "allowed-once", "unavailable"];
        assert_eq!(outcomes, words);
        assert_eq!(of(&events, "approval/asked").len(), outcomes.len());
        assert_eq!(of(&events, "turn/start").len(), of(&events, "turn/end").len());
    }
}

#[tokio::test]
async fn a_turn_that_was_taken_back_ends_as_aborted() {
    for kind in KINDS {
        let place = Place::new("aborted", kind);
        place.play("main", false, None, "write a one\n^C\nask Which?\n^C\nhello\n").await;
        let events = place.events("main");
        let reasons: Vec<_> =
            of(&events, "turn/end").iter().map(|data| data["reason"]["kind"].clone()).collect();
        assert_eq!(reasons, [json!("aborted"), json!("aborted"), json!("completed")]);
        assert!(!place.dir.join("workspace/a").exists(), "nothing was written");
        place.is_sound();
    }
}

#[tokio::test]
async fn a_note_is_cited_by_the_command_that_made_it() {
    for kind in KINDS {
        let place = Place::new("cited", kind);
        place.play("main", false, None, "/note remember\n").await;
        let events = place.events("main");
        let done = of(&events, "command/done")[0];
        let cited = done["sourceEventSeq"].as_u64().expect("a success cites its event") as usize;
        assert_eq!(events[cited], ("shell/note".to_owned(), json!({"text": "remember"})));
        place.is_sound();
    }
}

#[tokio::test]
async fn a_preset_from_the_environment_is_for_new_sessions() {
    for kind in KINDS {
        let place = Place::new("preset", kind);
        let shown = place.play("main", false, Some("read-only"), "").await;
        assert_eq!(
            shown,
            "session main, new\npermission read-only, sandbox read-only, approval ask\n"
        );
        let shown = place.play("main", false, Some("danger-full-access"), "").await;
        assert_eq!(
            shown,
            "session main, resumed\npermission read-only, sandbox read-only, approval ask\n"
        );
        place.is_sound();
    }
}

#[tokio::test]
async fn the_loop_runs_without_any_service() {
    for kind in KINDS {
        let place = Place::new("bare", kind);
        place.plays("bare", true, "bare").await;
        let events = place.events("bare");
        let foreign = |kind: &str| {
            ["approval/", "permission/", "sandbox/", "command/"]
                .iter()
                .any(|of| kind.starts_with(of))
        };
        assert!(!events.iter().any(|(kind, _)| foreign(kind)), "{events:?}");
        assert!(!place.dir.join("workspace/plan.txt").exists(), "nothing was written");
        place.is_sound();
        // Services that come later pin what was made without them.
        let shown = place.play("bare", false, None, "").await;
        let status = "permission workspace-write, sandbox workspace-write, approval ask\n";
        assert_eq!(shown, format!("session bare, resumed\n{status}"));
        let events = place.events("bare");
        let pinned = of(&events, "permission/preset");
        assert_eq!(pinned, [&json!({"preset": "workspace-write"})]);
        place.is_sound();
    }
}
