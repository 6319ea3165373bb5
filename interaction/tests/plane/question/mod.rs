//! Questions, the tool that asks them, plan review.
