//! The bodies of requests: from options, and from files that lines of `--urls` name.

use std::{
    io,
    path::{Path, PathBuf},
};

use deadheat_model::load::Body;
use deadheat_runner::files;

use super::form;
use crate::options::RequestArgs;

/// A body, and the type that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) body: Body,
    /// The value of `Content-Type`, if it follows from the body.
    pub(crate) content_type: Option<String>,
}

/// Reads bodies, and keeps count of what all of them take together.
#[derive(Debug)]
pub(crate) struct Bodies {
    left: u64,
    framing: fn(Vec<u8>) -> Body,
}

impl Bodies {
    /// Reads bodies that are sent in this framing.
    pub(crate) fn new(framing: fn(Vec<u8>) -> Body) -> Self {
        Self {
            left: files::LONGEST_BODY,
            framing,
        }
    }

    /// The bodies of the options, to be sent in turn. The list is empty without any; a gRPC call always has a message,
    /// which may be empty.
    pub(crate) fn of_options(&mut self, args: &RequestArgs) -> Result<Vec<Sent>, String> {
        if let Some(text) = &args.body {
            return Ok(vec![self.sent(text.clone().into_bytes(), None)]);
        }
        if !args.form.is_empty() {
            let (bytes, content_type) = form::encode(&args.form, &mut |path| self.read(path))
                .map_err(|error| format!("--form {error}"))?;
            return Ok(vec![self.sent(bytes, Some(content_type))]);
        }
        let file = |path: &PathBuf| {
            self.of_file(path)
                .map_err(|error| format!("--body-file {}: {error}", path.display()))
        };
        if args.grpc.is_some() && args.body_file.is_empty() {
            return Ok(vec![self.sent(Vec::new(), None)]);
        }
        args.body_file.iter().map(file).collect()
    }

    /// The body that a line names.
    pub(crate) fn of_file(&mut self, path: &Path) -> io::Result<Sent> {
        let bytes = self.read(path)?;
        Ok(self.sent(bytes, None))
    }

    fn sent(&self, bytes: Vec<u8>, content_type: Option<String>) -> Sent {
        Sent {
            body: (self.framing)(bytes),
            content_type,
        }
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = if path == Path::new("-") {
            files::bounded(io::stdin().lock(), files::LONGEST_BODY)
        } else {
            files::read_typed(path, files::LONGEST_BODY)
        }?;
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            io::Error::other(format!(
                "all bodies together are longer than {} MiB, which is the most that is read",
                files::LONGEST_BODY >> 20
            ))
        })?;
        Ok(bytes)
    }
}
