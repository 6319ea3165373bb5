//! Where lines come from and where text goes: a terminal, or a script.

use gatelog_interaction::cancel::Cancel;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// A longer line is taken for several.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// How many lines may be typed ahead.
const LINES_AHEAD: usize = 64;

/// Ctrl-C, in a script.
const INTERRUPT: &str = "^C";

/// What came in place of a line.
pub(crate) enum Heard {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Nobody is there any more.
    End,
}

enum Lines {
    Script(VecDeque<String>),
    Typed(mpsc::Receiver<String>),
}

/// One person, whoever wants something of them: the prompt, an approval, a question.
pub(crate) struct Console {
    out: Mutex<Box<dyn Write + Send>>,
    lines: tokio::sync::Mutex<Lines>,
    /// What Ctrl-C takes back.
    running: Mutex<Option<Cancel>>,
    interrupted: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console {
    fn new(lines: Lines, out: Box<dyn Write + Send>) -> Arc<Self> {
        Arc::new(Self {
            out: Mutex::new(out),
            lines: tokio::sync::Mutex::new(lines),
            running: Mutex::default(),
            interrupted: Notify::new(),
        })
    }

    /// Takes lines from a script, and shows them, so that what comes out reads like a session.
    pub(crate) fn scripted(script: &str, out: Box<dyn Write + Send>) -> Arc<Self> {
        Self::new(Lines::Script(script.lines().map(str::to_owned).collect()), out)
    }

    /// Takes lines from standard input, and Ctrl-C from the system. Must be called in a runtime.
    #[allow(dead_code, reason = "a test has no terminal")]
    pub(crate) fn typed(out: Box<dyn Write + Send>) -> Arc<Self> {
        let (typed, lines) = mpsc::channel(LINES_AHEAD);
        std::thread::spawn(move || {
            loop {
                let mut line = String::new();
                let read = io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line);
                let line = line.trim_end_matches(['\r', '\n']).to_owned();
                if !read.is_ok_and(|count| count > 0) || typed.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        let console = Self::new(Lines::Typed(lines), out);
        let interrupting = Arc::clone(&console);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                interrupting.interrupt();
            }
        });
        console
    }

    /// Shows a line. If nobody can see it, there is nobody to be told.
    pub(crate) fn say(&self, text: &str) {
        self.show(&format!("{text}\n"));
    }

    fn show(&self, text: &str) {
        let mut out = lock(&self.out);
        drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Shows a prompt and waits for a line.
    pub(crate) async fn hear(&self, prompt: &str) -> Heard {
        let mut lines = self.lines.lock().await;
        match &mut *lines {
            Lines::Script(left) => {
                let Some(line) = left.pop_front() else { return Heard::End };
                self.say(&format!("{prompt}{line}"));
                if line != INTERRUPT {
                    return Heard::Line(line);
                }
                self.interrupt();
                Heard::Interrupt
            }
            Lines::Typed(typed) => {
                self.show(prompt);
                tokio::select! {
                    biased;
                    () = self.interrupted.notified() => {
                        self.show("\n");
                        Heard::Interrupt
                    }
                    line = typed.recv() => line.map_or(Heard::End, Heard::Line),
                }
            }
        }
    }

    /// Begins something that Ctrl-C takes back.
    pub(crate) fn begin(&self) -> Cancel {
        let cancel = Cancel::new();
        *lock(&self.running) = Some(cancel.clone());
        cancel
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        *lock(&self.running) = None;
    }

    fn interrupt(&self) {
        let running = lock(&self.running).clone();
        if let Some(cancel) = running {
            cancel.cancel();
        }
        self.interrupted.notify_waiters();
    }
}
