//! A file that names the other hosts of a session. Its keys are options of the command line.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    decode::{Decoded, decode},
    error::{ManifestError, ManifestErrors, Source},
    tree,
};
use crate::{agent::Launcher, files};

/// What a file of hosts says: each key is what the option of its name takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct NamedHosts {
    /// The hosts that load the servers.
    pub generator: Vec<String>,
    /// The host of the database: HOST or HOST=ADDRESS.
    pub database: Option<String>,
    /// How hosts are reached.
    #[serde(deserialize_with = "launcher")]
    pub launcher: Option<Launcher>,
    /// Where Deadheat is on the hosts.
    pub agent: Option<PathBuf>,
    /// The CPUs of each generator, as a list such as 0-3.
    pub generator_cpus: Option<String>,
    /// This machine's address, on which the servers listen.
    pub address: Option<IpAddr>,
}

fn launcher<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Launcher>, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

/// A file of hosts that reads, with the places of its values.
#[derive(Clone, Debug)]
pub struct HostsFile {
    /// What it says.
    pub named: NamedHosts,
    source: Source,
    places: BTreeMap<String, Range<usize>>,
}

impl HostsFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// All its mistakes: keys that there are not, values of the wrong type; or that it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ManifestErrors> {
        let text = files::read_typed_text(path).map_err(|error| {
            let title = format!("reading this file of hosts: {error}");
            ManifestErrors(vec![ManifestError::of_file(path, title)])
        })?;
        Self::new(Source {
            path: path.to_owned(),
            text: text.into(),
        })
    }

    fn new(source: Source) -> Result<Self, ManifestErrors> {
        let Decoded {
            value,
            tree,
            errors,
        } = decode::<NamedHosts>(&source);
        let (Some(named), Some(tree), true) = (value, tree, errors.is_empty()) else {
            return Err(ManifestErrors(errors));
        };
        let keys = tree.keys(&tree::Path::default()).into_iter();
        let places = keys.filter_map(|(key, _)| Some((key.clone(), tree.value_span(&[&key])?)));
        let places = places.collect();
        drop(tree);
        let file = Self {
            named,
            source,
            places,
        };
        if file.places.contains_key("generator") && file.named.generator.is_empty() {
            let title = "`generator` names no host";
            let error = file
                .mistake("generator", title)
                .label("name one, or omit it");
            return Err(ManifestErrors(vec![error]));
        }
        Ok(file)
    }

    /// What is wrong with the value of `key`, for somebody who knows more about it; to be drawn with its line.
    pub fn mistake(&self, key: &str, title: impl Into<String>) -> ManifestError {
        let place = self.places.get(key).cloned();
        ManifestError::at(&self.source, place.unwrap_or(0..0), title)
    }

    /// The line of `key`: "hosts.toml:2".
    pub fn line_of(&self, key: &str) -> String {
        let position = self.mistake(key, "").position();
        let line = position.map_or(1, |(line, _)| line);
        format!("{}:{line}", self.source.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HostsFile, ManifestErrors> {
        HostsFile::new(Source {
            path: "hosts.toml".into(),
            text: text.into(),
        })
    }

    #[test]
    fn keys_are_what_options_take() {
        // The example of the documents.
        let document = include_str!("../../../../docs/hosts.md");
        let (_, example) = document.split_once("```toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let file = read(example).unwrap();
        let expected = NamedHosts {
            generator: vec!["load1".to_owned(), "load2".to_owned()],
            database: Some("db1=10.0.0.3".to_owned()),
            launcher: Some("ssh -p 2222 {host}".parse().unwrap()),
            agent: Some("/usr/local/bin/deadheat".into()),
            generator_cpus: Some("0-3".to_owned()),
            address: Some([10, 0, 0, 1].into()),
        };
        assert_eq!(file.named, expected);
        assert_eq!(file.line_of("database"), "hosts.toml:3");
        assert_eq!(read("").unwrap().named, NamedHosts::default());
    }

    #[test]
    fn mistakes_are_drawn_with_their_line() {
        let cases = [
            (
                "agent = \"x\"\ngeneratr = [\"a\"]",
                "hosts.toml:2:1",
                "did you mean `generator`?",
            ),
            ("[hosts]\na = 1", "hosts.toml:1:2", "unknown key `hosts`"),
            ("generator = \"a\"", "hosts.toml:1:13", "expected an array"),
            ("\ngenerator = [1]", "hosts.toml:2:14", "a string"),
            ("generator = []", "hosts.toml:1:13", "names no host"),
            ("generator-cpus = 3", "hosts.toml:1:18", "a string"),
            ("launcher = \"ssh a\"", "hosts.toml:1:12", "{host}"),
            ("address = \"a\"", "hosts.toml:1:11", "IP address"),
            ("address = 1", "hosts.toml:1:11", "expected an IP address"),
            ("agent = 1", "hosts.toml:1:9", "expected a string"),
            ("agent =", "hosts.toml:1:", "this is not TOML"),
        ];
        for (text, place, said) in cases {
            let error = read(text).unwrap_err().to_string();
            assert!(
                error.contains(place) && error.contains(said),
                "{text}: {error}"
            );
        }
        // All of them at once.
        let errors = read("a1 = 1\nagent = 2\n").unwrap_err();
        assert_eq!(errors.0.len(), 2, "{errors}");
    }

    #[test]
    fn what_others_find_wrong_is_drawn_as_well() {
        let file = read("\ndatabase = \"db\"").unwrap();
        let drawn = file.mistake("database", "no such host").render(false);
        assert!(
            drawn.contains("no such host") && drawn.contains("hosts.toml:2:12"),
            "{drawn}"
        );
    }
}
