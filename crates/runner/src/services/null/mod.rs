//! The null server: it does nothing but answer, as fast as an honest server can. What the generator reaches with it is
//! the machine's ceiling. HTTP/1.1 has event loops of its own here; HTTP/2 and TLS are those of kept libraries, so a generator may
//! be faster than this server there.
//!
//! It runs as a process of its own (the deadheat binary again, with a hidden command), started, pinned and stopped as
//! the stacks are.

mod request_counter;
mod server;
mod streams;

use std::{
    convert::Infallible,
    env,
    error::Error,
    fs,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_rustls::rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use self::{server::Addresses, streams::Answers};
use super::ServiceError;

/// The hidden command's name.
pub const COMMAND: &str = "__null";

/// The options of the server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its port for HTTP/2 without TLS, if it has one.
    pub h2c: Option<u16>,
    /// Its port for TLS, with the files of its certificate and key, if it has one.
    pub tls: Option<(u16, PathBuf, PathBuf)>,
    /// How many loops it runs, each on a CPU of its own where there are as many.
    pub loops: usize,
    /// The content type of its answer.
    pub content_type: String,
    /// The file with the body of its answer.
    pub body: PathBuf,
}

impl ServeOptions {
    /// The arguments that [`ServeOptions::from_args`] reads.
    pub fn args(content_type: &str, body: &Path) -> Vec<String> {
        vec![
            "--content-type".to_owned(),
            content_type.to_owned(),
            "--body".to_owned(),
            body.display().to_string(),
        ]
    }

    /// From the hidden command's arguments, `--content-type TYPE --body FILE`, and the environment that stacks have:
    /// `HOST`, `PORT` and `CPUS`, and `H2C_PORT`, `TLS_PORT`, `TLS_CERT` and `TLS_KEY` where it speaks that.
    ///
    /// # Errors
    /// When an argument or a variable is unknown, missing or cannot be read.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Self, ServiceError> {
        Self::from(args, |name| env::var(name).ok())
    }

    fn from(
        args: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ServiceError> {
        let wrong = |problem: String| {
            ServiceError::new(
                "reading the null server's arguments",
                problem,
                "this command is for deadheat's own use; set HOST, PORT and CPUS, and pass `--content-type TYPE \
                 --body FILE`",
            )
        };
        let (mut content_type, mut body) = (None, None);
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            let mut value = || {
                let value = args.next();
                value.ok_or_else(|| wrong(format!("{name} lacks its value")))
            };
            match name.as_str() {
                "--content-type" => content_type = Some(value()?),
                "--body" => body = Some(PathBuf::from(value()?)),
                _ => return Err(wrong(format!("{name} is unknown"))),
            }
        }
        let missing = |name: &str| wrong(format!("{name} is missing"));
        let read = |name: &str| variable(name).ok_or_else(|| missing(name));
        let number = |name: &str, text: String| {
            let wrong = |error| wrong(format!("{name}={text}: {error}"));
            text.parse::<u16>().map_err(wrong)
        };
        let host = read("HOST")?;
        let host: IpAddr = host
            .parse()
            .map_err(|error| wrong(format!("HOST={host}: {error}")))?;
        let port = number("PORT", read("PORT")?)?;
        let loops = number("CPUS", read("CPUS")?)?;
        let optional = |name: &str| {
            let text = variable(name);
            text.map(|text| number(name, text)).transpose()
        };
        let tls = match optional("TLS_PORT")? {
            Some(port) => Some((port, read("TLS_CERT")?.into(), read("TLS_KEY")?.into())),
            None => None,
        };
        Ok(Self {
            address: SocketAddr::new(host, port),
            h2c: optional("H2C_PORT")?,
            tls,
            loops: usize::from(loops.max(1)),
            content_type: content_type.ok_or_else(|| missing("--content-type"))?,
            body: body.ok_or_else(|| missing("--body"))?,
        })
    }
}

/// Serves until the process is ended.
///
/// # Errors
/// When the body cannot be read, it cannot listen, or an event loop breaks.
pub fn serve(options: &ServeOptions) -> Result<Infallible, ServiceError> {
    let body = fs::read(&options.body).map_err(|error| {
        let attempt = format!("reading the answer's body from {}", options.body.display());
        ServiceError::new(attempt, error, "is the session's folder still there?")
    })?;
    let answers = Answers::new(&options.content_type, &body).map_err(|error| {
        let attempt = format!("answering with the content type {:?}", options.content_type);
        ServiceError::new(
            attempt,
            error,
            "write a content type of printable characters",
        )
    })?;
    let tls = options.tls.as_ref();
    let tls = tls.map(|(port, certificate, key)| {
        let config = tls_config(certificate, key).map_err(|error| {
            let attempt = format!("reading {} and its key", certificate.display());
            ServiceError::new(attempt, error, "are the files of the session still there?")
        })?;
        Ok((*port, config))
    });
    let at = |port: u16| SocketAddr::new(options.address.ip(), port);
    let addresses = Addresses {
        plain: options.address,
        h2c: options.h2c.map(at),
        tls: tls
            .transpose()?
            .map(|(port, config)| (at(port), Arc::new(config))),
    };
    server::run(addresses, options.loops, answers).map_err(|error| {
        ServiceError::new(
            format!("serving as the null server on {}", options.address),
            error,
            "check the limits of this machine (`ulimit -n`), and whether the port is free",
        )
    })
}

/// HTTP/2 by preference, as servers have it, and HTTP/1.1.
fn tls_config(certificate: &Path, key: &Path) -> Result<ServerConfig, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str], environment: &[(&str, &str)]) -> Result<ServeOptions, String> {
        let find = |name: &str| {
            let mut all = environment.iter();
            let found = all.find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let args = args.iter().map(|arg| (*arg).to_owned());
        ServeOptions::from(args, find).map_err(|error| error.problem)
    }

    #[test]
    fn what_is_given_is_read_back_and_what_is_wrong_is_named() {
        let args = ServeOptions::args("text/plain; charset=utf-8", Path::new("/a b"));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let environment = [("HOST", "127.0.0.1"), ("PORT", "20001"), ("CPUS", "4")];
        let expected = ServeOptions {
            address: "127.0.0.1:20001".parse().unwrap(),
            h2c: None,
            tls: None,
            loops: 4,
            content_type: "text/plain; charset=utf-8".to_owned(),
            body: PathBuf::from("/a b"),
        };
        assert_eq!(parse(&args, &environment), Ok(expected));
        assert_eq!(
            parse(&args, &environment[1..]).unwrap_err(),
            "HOST is missing"
        );
        let bad = [("HOST", "127.0.0.1"), ("PORT", "http"), ("CPUS", "1")];
        assert!(parse(&args, &bad).unwrap_err().starts_with("PORT=http: "));
        assert_eq!(
            parse(&args[..2], &environment).unwrap_err(),
            "--body is missing"
        );
        assert_eq!(
            parse(&args[..3], &environment).unwrap_err(),
            "--body lacks its value"
        );
        assert_eq!(
            parse(&["--fast"], &environment).unwrap_err(),
            "--fast is unknown"
        );
    }
}
