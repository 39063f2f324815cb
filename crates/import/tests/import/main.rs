//! Reports of other load generators, whole, damaged and cut.

mod cut;
mod damaged;
mod figures;
mod published;
mod support;
mod tables;
mod warnings;
