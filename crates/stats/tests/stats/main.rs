//! The statistics against SciPy's figures, against their own laws, and on records built by hand.

mod capacity;
mod heats;
mod history;
mod load;
mod load_fixture;
mod properties;
mod random;
mod reference;
mod sequential;
mod standings;
mod versus;
mod versus_runs;
