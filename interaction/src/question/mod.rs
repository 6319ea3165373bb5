//! Questions to a person, the tool that asks them, and plan review.
