//! Sessions of servers: `run`, `stacks`, `setup` and `doctor`, and what a session says.

pub mod doctor;
pub mod document;
pub mod heats;
pub mod live;
pub mod meant;
pub mod options;
pub mod other_hosts;
pub mod plan_text;
pub mod profile;
pub mod progress;
pub mod run;
pub mod select;
pub mod setup;
pub mod slurm;
pub mod stacks;
