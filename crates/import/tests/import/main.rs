//! Reports of other load generators, whole, damaged and cut.

mod commands;
mod cut;
mod damaged;
mod figures;
mod layouts;
mod lengths;
mod published;
mod support;
mod tables;
mod warnings;
