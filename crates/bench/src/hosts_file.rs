//! `--hosts FILE`: values of options that come from a file.

use std::{collections::BTreeSet, path::Path};

use deadheat_runner::manifest::{HostsFile, NamedHosts};
use deadheat_shell::output;

/// A file of hosts, and which options have their values from it.
#[derive(Clone, Debug)]
pub(crate) struct FromFile {
    file: HostsFile,
    taken: BTreeSet<String>,
}

impl FromFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Its mistakes, drawn.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file =
            HostsFile::read(path).map_err(|errors| errors.render(output::colour_of_notes()))?;
        Ok(Self {
            file,
            taken: BTreeSet::new(),
        })
    }

    /// What it says.
    pub(crate) fn named(&self) -> NamedHosts {
        self.file.named.clone()
    }

    /// Notes that an option has its value from here, if there is one; whether there is.
    pub(crate) fn takes(&mut self, option: &str, is_there: bool) -> bool {
        if is_there {
            self.taken.insert(option.to_owned());
        }
        is_there
    }

    /// The options that have their values from here.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(String::as_str)
    }

    /// Gives an option that has no value yet the one from here.
    pub(crate) fn fill<T>(&mut self, option: &str, into: &mut Option<T>, value: Option<T>) {
        if into.is_none() && self.takes(option, value.is_some()) {
            *into = value;
        }
    }

    /// The message about an option, drawn with its line if the value is from here.
    pub(crate) fn drawn(&self, option: &str, message: String) -> String {
        if !self.taken.contains(option) {
            return message;
        }
        let title = message.trim_start_matches("--");
        let mistake = self.file.mistake(option, title);
        mistake.render(output::colour_of_notes())
    }

    /// What messages call the value of an option that is from here.
    pub(crate) fn called(&self, option: &str) -> Option<String> {
        let is_here = self.taken.contains(option);
        is_here.then(|| format!("`{option}` ({})", self.file.line_of(option)))
    }
}
