//! The progress bar, on standard error, for work that takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far the work is, in bytes read.
#[derive(Debug)]
pub(crate) struct Progress {
    read_bytes: Arc<AtomicU64>,
    total_bytes: u64,
    started: Instant,
    /// Whether there is a terminal to draw on.
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Makes a bar that is drawn only if it is wanted and the work has taken long since its start.
    pub(crate) fn new(started: Instant, total_bytes: u64, wanted: bool) -> Self {
        let read_bytes = Arc::new(AtomicU64::new(0));
        Self { read_bytes, total_bytes, started, wanted, bar: None }
    }

    /// Returns the counter to which the workers add the bytes that they have read.
    pub(crate) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read_bytes)
    }

    /// Draws the bar anew, or for the first time when patience has ended.
    pub(crate) fn tick(&mut self) {
        if self.wanted && self.bar.is_none() && self.started.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total_bytes));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.read_bytes.load(Ordering::Relaxed).min(self.total_bytes));
        }
    }

    /// Takes the bar away while something is printed.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar and returns the seconds since the start.
    pub(crate) fn finish(self) -> f64 {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed().as_secs_f64()
    }
}

fn bar(total_bytes: u64) -> ProgressBar {
    let template = "{bar:32} {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    let target = ProgressDrawTarget::stderr_with_hz(10);
    ProgressBar::with_draw_target(Some(total_bytes), target).with_style(style.progress_chars("=> "))
}

#[cfg(test)]
mod tests {
    use super::{Progress, bar};
    use std::time::Instant;

    #[test]
    fn short_work_shows_no_bar() {
        let mut progress = Progress::new(Instant::now(), 10, true);
        progress.tick();
        assert!(progress.bar.is_none());
    }

    #[test]
    fn the_template_is_well_formed() {
        assert_eq!(bar(7).length(), Some(7));
    }
}
