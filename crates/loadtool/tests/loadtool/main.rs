//! What is said of loads, on records built by hand.

mod load;
mod load_figures;
mod load_fixture;
