//! The chain of listeners: order, scope, claims, unloading.
