//! JSON files that Deadheat wrote, to be shown or compared again.

use std::{
    io,
    path::{Path, PathBuf},
};

use deadheat_model::record::{self, Record};
use deadheat_runner::files;
use serde::Deserialize;

/// The longest file that is read. The record of a load of hours has some MB.
const LONGEST: u64 = 256 << 20;
/// How the names of Deadheat's formats begin.
const PREFIX: &str = "deadheat-";
/// A file has the name of its format in its first bytes.
const BEGINNING: usize = 256;

/// A JSON file with the name and the version of one of Deadheat's formats.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    bytes: Vec<u8>,
    header: FileHeader,
}

/// What such a file says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileHeader {
    format: String,
    schema: u32,
}

/// Why a file of Deadheat cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// The file cannot be read at all.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is not JSON, or its values are not those of its format.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has another format, or none.
    #[error("it is not {expected}")]
    Other {
        /// What was expected.
        expected: &'static str,
    },
    /// Another version of Deadheat wrote it.
    #[error("its schema is {found}, and this Deadheat reads {known}")]
    Schema {
        /// The version of its format.
        found: u32,
        /// The version that is read.
        known: u32,
    },
}

impl RecordFile {
    /// Reads a file; `None`: it is not one of Deadheat's.
    ///
    /// # Errors
    /// When it cannot be read, or is one of Deadheat's that was cut off or changed.
    pub fn read(path: &Path) -> Result<Option<Self>, RecordFileError> {
        let bytes = files::read_typed(path, LONGEST)?;
        match serde_json::from_slice::<FileHeader>(files::without_byte_order_mark(&bytes)) {
            Ok(header) if header.format.starts_with(PREFIX) => Ok(Some(Self {
                path: path.to_owned(),
                bytes,
                header,
            })),
            Err(error) if begins_like_one(&bytes) => Err(error.into()),
            _ => Ok(None),
        }
    }

    /// Its path, as the user typed it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of its format, such as `deadheat-load`.
    pub fn format(&self) -> &str {
        &self.header.format
    }

    /// Its record, in this version of the format.
    ///
    /// # Errors
    /// When it has another version, or values that the record cannot have.
    pub fn record<R: Record>(&self, schema: u32) -> Result<R, RecordFileError> {
        if self.header.schema != schema {
            return Err(RecordFileError::Schema {
                found: self.header.schema,
                known: schema,
            });
        }
        Ok(record::read(files::without_byte_order_mark(&self.bytes))?)
    }
}

fn begins_like_one(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    String::from_utf8_lossy(beginning).contains(&format!("\"{PREFIX}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;

    fn read(text: &str) -> Result<Option<RecordFile>, RecordFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, text).unwrap();
        RecordFile::read(&path)
    }

    #[test]
    fn a_file_of_deadheat_says_what_it_is() {
        let file = read("\u{feff}{\"a\": 1, \"schema\": 2, \"format\": \"deadheat-x\"}");
        let file = file.unwrap().unwrap();
        assert_eq!(file.format(), "deadheat-x");
        assert_eq!(file.record::<Value>(2).unwrap()["a"], 1);
        let error = file.record::<Value>(3).unwrap_err().to_string();
        assert_eq!(error, "its schema is 2, and this Deadheat reads 3");
        for other in ["", "text", "{}", "{\"format\": \"x\"}", "{\"format\": 1}"] {
            assert!(read(other).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn one_that_was_cut_off_is_an_error() {
        let cut = read("{\n  \"schema\": 1,\n  \"format\": \"deadheat-x\",\n  \"a\":");
        assert!(matches!(cut, Err(RecordFileError::Json(_))), "{cut:?}");
    }
}
