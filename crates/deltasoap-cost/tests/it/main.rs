//! The model: whole descriptions, and queues beside what is known of them.

mod composites;
mod queueing;
