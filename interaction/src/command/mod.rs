//! Slash commands: grammar, registry, execution, attachments.
