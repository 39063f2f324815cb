//! The settings, all from the environment.

use std::{
    env,
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    thread,
};

pub struct Config {
    pub address: SocketAddr,
    /// CPUs that the server may use.
    pub cpus: usize,
    /// Database connections at most.
    pub pool_size: usize,
    pub database_url: Option<String>,
    pub upstream_url: Option<String>,
    pub blob_path: PathBuf,
}

impl Config {
    pub fn from_env() -> Result<Self, Box<dyn Error>> {
        let available = thread::available_parallelism().map_or(1, Into::into);
        Ok(Self {
            address: SocketAddr::new(
                parsed("HOST", Ipv4Addr::LOCALHOST.into())?,
                parsed("PORT", 8080)?,
            ),
            cpus: parsed("CPUS", available)?.max(1),
            pool_size: parsed("POOL_SIZE", 16)?.max(1),
            database_url: env::var("DATABASE_URL").ok(),
            upstream_url: env::var("UPSTREAM_URL").ok(),
            blob_path: env::var_os("BLOB_PATH").unwrap_or_default().into(),
        })
    }
}

fn parsed<T>(name: &str, default: T) -> Result<T, Box<dyn Error>>
where
    T: FromStr<Err: Error>,
{
    match env::var(name) {
        Ok(text) => text
            .parse()
            .map_err(|error| format!("{name}={text}: {error}").into()),
        Err(_) => Ok(default),
    }
}
