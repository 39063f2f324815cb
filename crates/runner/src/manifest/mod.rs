//! Manifests: what stacks and workloads there are, and which of them a user means.
//!
//! [`find_root`] finds the project's folder, [`load`] reads every `stacks/*/stack.toml`, `workloads/*.toml` and
//! `published/*.toml` in it into a [`Catalogue`], [`select`] picks from that by globs, and [`repeat`] what repeats
//! published tables. Mistakes in manifests are collected over all files
//! and drawn with their line ([`ManifestError::render`]). [`HostsFile`] reads a file of other hosts in the same way,
//! and [`OptionsFile`] one with defaults for options.

mod catalogue;
mod decode;
mod error;
mod hosts;
mod options;
mod published;
mod repeat;
mod select;
mod stack;
mod tree;
mod workload;

pub use catalogue::{
    Catalogue, LoadError, ROOT_VARIABLE, Reading, RootError, Stack, find_root, load, read,
};
pub use error::{ManifestError, ManifestErrors, nearest};
pub use hosts::{HostsFile, NamedHosts};
pub use options::{Given, NamedOption, OptionsFile, OptionsTable};
pub use repeat::{PublishedSelection, Repetition, repeat};
pub use select::{Reach, SelectError, SelectedWorkload, Selection, pack, select, select_targets};
