//! What is chosen once when the services are built: texts, shapes and tolerance.

/// Whose words are used where the host and this crate differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// This crate's.
    Strict,
    /// The host's newer ones.
    Host,
    /// Those of its release 0.1.1.
    Host011,
}

/// The shape of the `permissions` view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Options, current value, and both knobs as they are in force.
    Full,
    /// Options and current value.
    Host,
}

/// How the services behave where sources differ. It changes no outcome and nothing that is
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Profile {
    /// Whose words are used.
    pub texts: Texts,
    /// Refusals of tools carry a code.
    pub codes: bool,
    /// A cancelled approval aborts the call even if the caller was not cancelled.
    pub cancelled_is_abort: bool,
    /// After a grant cancellation is looked at before the guards speak.
    pub abort_before_guards: bool,
    /// Batches of questions and of answers are judged whole.
    pub validates_answers: bool,
    /// A second terminal provider of answers is refused while there is one.
    pub one_provider: bool,
    /// The shape of the `permissions` view.
    pub view: View,
}

impl Profile {
    /// This crate's own.
    pub const STRICT: Self = Self {
        texts: Texts::Strict,
        codes: true,
        cancelled_is_abort: true,
        abort_before_guards: true,
        validates_answers: true,
        one_provider: true,
        view: View::Full,
    };

    /// The host's.
    pub const DSH: Self = Self {
        texts: Texts::Host,
        codes: false,
        cancelled_is_abort: false,
        abort_before_guards: false,
        validates_answers: false,
        one_provider: false,
        view: View::Host,
    };

    /// The host's, in the words of its release 0.1.1.
    pub const DSH_0_1_1: Self = Self { texts: Texts::Host011, one_provider: true, ..Self::DSH };
}

impl Default for Profile {
    fn default() -> Self {
        Self::STRICT
    }
}
