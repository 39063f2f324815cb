//! The statistics against SciPy's figures, against their own laws, and on sessions built by hand.

mod controls;
mod cost;
mod course;
mod fixture;
mod heats;
mod history;
mod latency;
mod limits;
mod load;
mod load_fixture;
mod properties;
mod reference;
mod sequential;
mod sessions;
mod simulation;
mod simulation_docs;
mod standings;
mod versus;
mod void;
