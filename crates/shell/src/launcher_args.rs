//! Other hosts: their names, and how they are reached.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs as _, UdpSocket},
    path::PathBuf,
};

use clap::{Args, ValueHint};
use deadheat_runner::agent::Launcher;

use crate::target_safety::may_listen;

/// How other hosts are reached.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several hosts")]
pub struct LauncherArgs {
    /// The program that reaches hosts, which is ssh, srun, kubectl, or a command like 'ssh -p 2222 {host}' [default:
    /// ssh]
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    pub launcher: Option<Launcher>,
    /// Where deadheat is on the hosts [default: this program is copied there, once]
    // Of another host: no path of this one.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::Other, hide_short_help = true)]
    pub agent: Option<PathBuf>,
}

impl LauncherArgs {
    /// The launcher that was asked for, or Secure Shell.
    pub fn launcher(&self) -> Launcher {
        self.launcher.clone().unwrap_or_else(Launcher::ssh)
    }
}

/// Refuses hosts that `option` names twice, and what is not the name of a host.
pub fn check_names(option: &str, names: &[String]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(format!(
            "{option} {twice}: it is listed twice; name each host once"
        ));
    }
    let strange = |name: &&String| name.is_empty() || name.starts_with('-');
    match names.iter().find(strange) {
        Some(strange) => Err(format!("{option} {strange:?} is not the name of a host")),
        None => Ok(()),
    }
}

/// Refuses more hosts than `connections`, of which each has a share.
pub fn check_share(option: &str, hosts: usize, connections: u32) -> Result<(), String> {
    if hosts <= connections as usize {
        return Ok(());
    }
    Err(format!(
        "{option}: {hosts} hosts cannot share {connections} connections; name fewer hosts, or raise --connections"
    ))
}

/// The port that an unsent datagram is for, to learn which address leads there (RFC 863).
const DISCARD: u16 = 9;

/// The first address of a host's name.
pub fn resolved(host: &str) -> io::Result<IpAddr> {
    let found = (host, DISCARD).to_socket_addrs()?.next();
    let address = found.map(|found| found.ip());
    address.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// This machine's address on the way to another one. Nothing is sent.
pub fn way_to(there: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match there {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((there, DISCARD))?;
    Ok(socket.local_addr()?.ip())
}

/// The address, if it is one of this machine's that other hosts may reach.
pub fn own_address(address: IpAddr) -> Result<IpAddr, String> {
    may_listen("--address", address)?;
    TcpListener::bind((address, 0))
        .map(|_| address)
        .map_err(|error| {
            format!("--address {address}: nothing can listen there ({error}); use an address of this machine")
        })
}
