//! The settings, all from the environment.

use std::{
    env::{self, VarError},
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    num::NonZero,
    path::PathBuf,
    str::FromStr,
    thread,
};

use hyper::Uri;

pub struct Config {
    pub address: SocketAddr,
    pub tls: Option<Tls>,
    /// For HTTP/2 without TLS.
    pub h2c_address: Option<SocketAddr>,
    /// CPUs that the server may use.
    pub cpus: NonZero<usize>,
    /// Database connections at most.
    pub pool_size: NonZero<usize>,
    pub database: Option<tokio_postgres::Config>,
    pub upstream: Option<Uri>,
    pub blob_path: PathBuf,
    pub static_dir: PathBuf,
}

pub struct Tls {
    pub address: SocketAddr,
    /// PEM files.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Config {
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        let available = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let host = setting("HOST")?.unwrap_or(Ipv4Addr::LOCALHOST.into());
        Ok(Self {
            address: SocketAddr::new(host, setting("PORT")?.unwrap_or(8080)),
            tls: match setting("TLS_PORT")? {
                Some(port) => Some(Tls {
                    address: SocketAddr::new(host, port),
                    certificate: setting("TLS_CERT")?.ok_or("TLS_CERT is not set")?,
                    key: setting("TLS_KEY")?.ok_or("TLS_KEY is not set")?,
                }),
                None => None,
            },
            h2c_address: setting("H2C_PORT")?.map(|port| SocketAddr::new(host, port)),
            cpus: setting("CPUS")?.unwrap_or(available),
            pool_size: setting("POOL_SIZE")?.unwrap_or(const { NonZero::new(16).unwrap() }),
            database: setting("DATABASE_URL")?,
            upstream: setting("UPSTREAM_URL")?,
            blob_path: setting("BLOB_PATH")?.unwrap_or("blob".into()),
            static_dir: setting("STATIC_DIR")?.unwrap_or("static".into()),
        })
    }
}

/// None if the variable is not set. The error does not have its value, which may hold a password.
fn setting<T>(name: &str) -> Result<Option<T>, Box<dyn Error>>
where
    T: FromStr<Err: Error>,
{
    let parsed = match env::var(name) {
        Ok(text) => text
            .parse()
            .map_err(|error| format!("{name} has an unusable value: {error}"))?,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => return Err(format!("{name} is not UTF-8").into()),
    };
    Ok(Some(parsed))
}
