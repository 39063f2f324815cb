//! What the hidden command of the deadheat binary does: serves, and writes its address into a file.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{DELAY, server};
use crate::{files::write_whole, services::ServiceError};

/// What the server is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The file that gets the address, whole or not at all.
    pub address_file: PathBuf,
    /// From a request's head to its answer.
    pub delay: Duration,
}

impl ServeOptions {
    /// From the hidden command's arguments: `--address-file FILE [--delay 500ms]`.
    ///
    /// # Errors
    /// When an argument is unknown, lacks its value or cannot be read.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Self, ServiceError> {
        let wrong = |problem: String| {
            ServiceError::new(
                "reading the slow upstream's arguments",
                problem,
                "this command is for deadheat's own use; pass `--address-file FILE [--delay 500ms]`",
            )
        };
        let mut address_file = None;
        let mut delay = DELAY;
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            let mut value = || {
                args.next()
                    .ok_or_else(|| wrong(format!("{name} lacks its value")))
            };
            match name.as_str() {
                "--address-file" => address_file = Some(PathBuf::from(value()?)),
                "--delay" => {
                    let text = value()?;
                    delay = humantime::parse_duration(&text)
                        .map_err(|error| wrong(format!("--delay {text}: {error}")))?;
                }
                _ => return Err(wrong(format!("{name} is unknown"))),
            }
        }
        Ok(Self {
            address_file: address_file
                .ok_or_else(|| wrong("--address-file is missing".to_owned()))?,
            delay,
        })
    }
}

/// Serves until the process is ended; writes the address into the file first.
///
/// # Errors
/// When it cannot listen, cannot write the address, or the event loop breaks.
pub fn serve(options: &ServeOptions) -> Result<Infallible, ServiceError> {
    let file = &options.address_file;
    server::run(options.delay, |address| announce(file, address)).map_err(|error| {
        ServiceError::new(
            format!(
                "serving as the slow upstream on 127.0.0.1, with its address in {}",
                file.display()
            ),
            error,
            "check the limits of this machine (`ulimit -n`, a full disk)",
        )
    })
}

fn announce(file: &Path, address: SocketAddr) -> io::Result<()> {
    write_whole(file, address.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<ServeOptions, ServiceError> {
        ServeOptions::from_args(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_named() {
        let options = parse(&["--delay", "20ms", "--address-file", "/x"]).unwrap();
        assert_eq!(options.delay, Duration::from_millis(20));
        assert_eq!(options.address_file, Path::new("/x"));
        assert_eq!(parse(&["--address-file", "/x"]).unwrap().delay, DELAY);
        for (args, problem) in [
            (&["--port", "1"][..], "--port is unknown"),
            (&["--delay"], "--delay lacks its value"),
            (&["--delay", "soon"], "--delay soon: "),
            (&[], "--address-file is missing"),
        ] {
            let error = parse(args).unwrap_err();
            assert!(error.problem.starts_with(problem), "{error}");
        }
    }
}
