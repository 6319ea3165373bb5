//! Calls into foreign code, whose panics are contained.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls, and turns a panic into what it said. What the call may have left half done must be thrown
/// away by the caller.
pub(crate) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| said(&*panic))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it did not say why".to_owned())
}
