//! Foreign work that somebody waits for, until it is no longer wanted.

use super::abandon::OnAbandon;
use super::shown::UNRENDERABLE;
use crate::cancel::{Cancel, Reason};
use crate::chain::{Contained, Panicked};
use crate::plane::Plane;
use std::future::Future;
use tokio::sync::oneshot;

/// Why there is no return to wait for.
pub(super) enum Unattended {
    Cancelled(Reason),
    Panicked(Panicked),
}

/// Runs foreign work in a task of its own and waits for what it returns. If the signal is given
/// first, or by the time that it has returned, the wait ends with that; the work is then driven to
/// its end, or dropped after a while, and `kept` is kept until then.
pub(super) async fn attended<T: Send + 'static>(
    plane: &Plane,
    cancel: &Cancel,
    on_abandon: OnAbandon,
    kept: impl Send + 'static,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Unattended> {
    let (returned, returns) = oneshot::channel();
    let abandoned = cancel.cancelled();
    plane.drive(async move {
        let work = Contained::new(work);
        let abandon = async move {
            match on_abandon {
                OnAbandon::Detach => std::future::pending().await,
                OnAbandon::AbortAfter(grace) => {
                    abandoned.await;
                    tokio::time::sleep(grace).await;
                }
            }
        };
        tokio::select! {
            biased;
            // Nobody may be waiting any more; then nobody hears it.
            returns = work => drop(returned.send(returns)),
            () = abandon => {}
        }
        drop(kept);
    });
    let returns = tokio::select! {
        biased;
        // First: of a return and a signal that are there at once, the signal counts.
        () = cancel.cancelled() => {
            return Err(Unattended::Cancelled(cancel.reason().unwrap_or_default()));
        }
        returns = returns => returns,
    };
    match returns {
        Ok(Ok(returns)) => Ok(returns),
        Ok(Err(panicked)) => Err(Unattended::Panicked(shown(panicked))),
        // The task went away under its work: its future panicked where it was dropped.
        Err(_) => Err(Unattended::Panicked(Panicked(UNRENDERABLE.to_owned()))),
    }
}

/// A panic whose value is no text is a thrown value that cannot be rendered.
fn shown(panicked: Panicked) -> Panicked {
    if panicked == Panicked::of(&()) { Panicked(UNRENDERABLE.to_owned()) } else { panicked }
}
