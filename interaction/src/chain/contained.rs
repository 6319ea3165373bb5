//! A future of somebody else whose panic ends here.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a panic said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

impl Panicked {
    pub(crate) fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "for no reason that can be shown".to_owned()))
    }
}

/// Calls something foreign; a panic is a value.
pub(crate) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Panicked::of(&*panic))
}

/// Polls something foreign; a panic is its result, also one while the finished future is dropped.
pub(crate) struct Contained<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> Contained<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<T> Future for Contained<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = contained(|| {
            let polled = self.0.as_mut()?.as_mut().poll(context);
            if polled.is_ready() {
                self.0 = None;
            }
            Some(polled)
        });
        match polled {
            Ok(Some(polled)) => polled.map(Ok),
            // It has ended before, and its result was taken.
            Ok(None) => Poll::Pending,
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A future that is done at once, and whose destructor panics.
    struct Bomb;

    impl Future for Bomb {
        type Output = u8;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u8> {
            Poll::Ready(7)
        }
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor of a test");
        }
    }

    #[tokio::test]
    async fn a_panic_while_the_finished_future_is_dropped_is_its_result() {
        let panicked = Contained::new(Bomb).await;
        assert_eq!(panicked, Err(Panicked("a destructor of a test".to_owned())));
    }
}
