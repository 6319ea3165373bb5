//! Slash commands: grammar, registry, execution, attachments.
//!
//! A line is a command if its first byte is a slash and a name follows; all behind the name is the
//! command's own. A command that is known is run for a person, never sent to a model: `command/run`
//! is in the log before its handler is entered, and `command/done` before anybody hears of success.
//! What the handler says is shown by whoever dispatched the line.
//!
//! Scripted hosts, whose definitions and results are JSON, have one edge each:
//! [`CommandDefinition::from_json`] and [`scripted`]. The texts about wrong types come from there.

mod name;
mod line;
mod shown;
mod result;
mod attachment;
mod lifecycle;
mod handler;
mod scripted;
mod shape;
mod definition;
mod changes;
mod error;
mod shared;
mod registration;
mod registry;
mod abandon;
mod attended;
mod admission;
mod execution;

pub use abandon::OnAbandon;
pub use attachment::{
    Attachment, AttachmentBlock, AttachmentCode, AttachmentError, AttachmentId, AttachmentStore,
    EmbeddedStore, EncodedImage, FileRef, ImageLimits, ImageRef, ImageUpload, MediaType, NotOpened,
    ReceiptGuard, ReceiptResolver, ReceiptsTaken, StoreFailure, WireError,
};
pub use changes::{CommandsObserver, ObserverGuard};
pub use definition::{CommandDefinition, CommandDescriptor, CommandInput};
pub use error::{CommandError, CommandRegisterError};
pub use execution::{CommandExecution, Dispatch, ExecuteOptions};
pub use handler::{CommandHandler, CommandInvocation};
pub use lifecycle::CommandId;
pub use line::{ParsedLine, parse};
pub use name::{CommandName, NotACommandName};
pub use registration::CommandRegistration;
pub use registry::{CommandRegistrar, CommandRegistry};
pub use result::{BadResult, CommandResult, NonBlank};
pub use scripted::{ScriptFailure, ScriptValue, Scripted, ScriptedHandler, scripted};
pub use shape::BadDefinition;
