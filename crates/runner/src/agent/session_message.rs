//! What the coordinator and an agent say about a session that runs on the agent's host.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::listing::Listed;

/// What the coordinator says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub(super) enum SessionOrder {
    /// These are the files of the project that is called by this name.
    Project { name: String, files: Vec<Listed> },
    /// The next piece of the files that the agent wants.
    Piece { bytes: Bytes },
    /// Run deadheat with these arguments.
    Run { arguments: Vec<String> },
    /// The user has asked it to end.
    Interrupt,
    /// The session's folder is here.
    Arrived,
}

/// What an agent says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub(super) enum SessionAnswer {
    /// These files of the project are missing or different, by their places in its list.
    Wants { files: Vec<usize> },
    /// All files of the project are in this folder, and the session's folder is to be made in that one.
    Unpacked { project: String, results: String },
    /// Deadheat has written this.
    Said { stream: Stream, bytes: Bytes },
    /// It has ended. What its session's folder has follows, if there is one.
    Ended {
        how: Ending,
        session: Option<Folder>,
    },
    /// The next piece of the session's files.
    Piece { bytes: Bytes },
    /// The session's folder is there no more.
    Forgotten,
}

/// A stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// A session's folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Folder {
    pub(super) name: String,
    pub(super) files: Vec<Listed>,
}

/// Bytes of a file or a stream, in a message that is JSON.
#[derive(Debug)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        Ok(Self(bytes))
    }
}
