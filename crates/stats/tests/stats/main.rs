//! The statistics against SciPy's figures, against their own laws, and on records built by hand.

mod capacity;
mod comparison;
mod heats;
mod properties;
mod random;
mod reference;
mod sequential;
mod sessions;
mod standings;
