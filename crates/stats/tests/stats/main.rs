//! The statistics against SciPy's figures, against their own laws, and on sessions built by hand.

mod fixture;
mod history;
mod load;
mod load_fixture;
mod properties;
mod published;
mod published_fixture;
mod reference;
mod sessions;
