//! Other hosts: their names, how they are reached, and which ones may be loaded.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _, UdpSocket},
    path::PathBuf,
};

use clap::{Args, ValueHint};
use deadheat_runner::agent::Launcher;

use crate::exit::CommandFailure;

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
pub fn check_names(option: &str, names: &[String]) -> Result<(), CommandFailure> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(CommandFailure::usage(format!(
            "{option} {twice}: it is listed twice; name each host once"
        )));
    }
    let strange = |name: &&String| name.is_empty() || name.starts_with('-');
    match names.iter().find(strange) {
        Some(strange) => Err(CommandFailure::usage(format!(
            "{option} {strange:?} is not the name of a host"
        ))),
        None => Ok(()),
    }
}

/// Refuses more hosts than `connections`, of which each has a share.
pub fn check_share(option: &str, hosts: usize, connections: u32) -> Result<(), CommandFailure> {
    if hosts <= connections as usize {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "{option}: {hosts} hosts cannot share {connections} connections; name fewer hosts, or raise --connections"
    )))
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
pub fn own_address(address: IpAddr) -> Result<IpAddr, CommandFailure> {
    may_listen("--address", address)?;
    TcpListener::bind((address, 0))
        .map(|_| address)
        .map_err(|error| {
            CommandFailure::usage(format!(
                "--address {address}: nothing can listen there ({error}); use an address of this machine"
            ))
        })
}

/// Refuses addresses of others, unless `allowed`. `named` is what the URL has.
pub fn may_load(
    addresses: &[SocketAddr],
    named: &str,
    allowed: bool,
) -> Result<(), CommandFailure> {
    for address in addresses.iter().map(SocketAddr::ip) {
        if address.is_multicast() || address == Ipv4Addr::BROADCAST {
            return Err(CommandFailure::usage(format!(
                "{named} is {address}, an address of many hosts; use the address of one host"
            )));
        }
        if allowed || is_near(address) {
            continue;
        }
        let resolved = if named == address.to_string() {
            format!("{address} is")
        } else {
            format!("{named} resolves to {address}, which is")
        };
        return Err(CommandFailure::usage(format!(
            "{resolved} neither this machine nor in a private network. A load can take a server down and resembles an \
             attack: if it is yours, or you may load it, add --i-may-load-this-host"
        )));
    }
    Ok(())
}

/// Refuses an address that servers of a benchmark are not to be reached at.
pub fn may_listen(option: &str, address: IpAddr) -> Result<(), CommandFailure> {
    if address.is_unspecified() || address.is_multicast() || address == Ipv4Addr::BROADCAST {
        return Err(CommandFailure::usage(format!(
            "{option} {address}: servers listen on one address, and on no other; name it"
        )));
    }
    if is_near(address) {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "{option} {address} is neither this machine's own nor in a private network: anybody could reach the servers \
         of a benchmark there; use a private address"
    )))
}

/// Whether an address is this machine's or private: loopback, unspecified (which connects to this machine), RFC 1918,
/// link-local (RFC 3927, RFC 4291 §2.5.6), carrier-grade NAT (RFC 6598), unique local (RFC 4193).
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_near_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_near_v4(mapped),
            None => {
                address == Ipv6Addr::LOCALHOST
                    || address == Ipv6Addr::UNSPECIFIED
                    || address.is_unicast_link_local()
                    || address.is_unique_local()
            }
        },
    }
}

fn is_near_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    address.is_loopback()
        || address.is_unspecified()
        || address.is_private()
        || address.is_link_local()
        || shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_this_machine_and_private_networks() {
        let near = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fdff::1",
            "::ffff:10.0.0.1",
        ];
        let far = [
            "1.1.1.1",
            "128.0.0.1",
            "11.0.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "192.0.2.1",
            "100.63.255.255",
            "100.128.0.1",
            "169.253.0.1",
            "2001:db8::1",
            "2::1",
            "fb00::1",
            "fec0::1",
            "::ffff:8.8.8.8",
            "::2",
        ];
        for (addresses, expected) in [(&near, true), (&far, false)] {
            for address in addresses {
                assert_eq!(is_near(address.parse().unwrap()), expected, "{address}");
            }
        }
    }

    #[test]
    fn a_refusal_says_which_address_and_which_option() {
        let near = "127.0.0.1:80".parse().unwrap();
        let far = "192.0.2.1:80".parse().unwrap();
        assert!(may_load(&[near], "localhost", false).is_ok());
        assert!(may_load(&[far], "a.example", true).is_ok());
        // One of several is enough.
        let error = may_load(&[near, far], "a.example", false)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("a.example resolves to 192.0.2.1, which is neither"),
            "{error}"
        );
        assert!(error.contains("--i-may-load-this-host"), "{error}");
        let error = may_load(&[far], "192.0.2.1", false)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("192.0.2.1 is neither"), "{error}");
    }

    #[test]
    fn many_hosts_are_no_target_whoever_asks() {
        for address in ["224.0.0.1:80", "255.255.255.255:80", "[ff02::1]:80"] {
            let error = may_load(&[address.parse().unwrap()], "x", true)
                .unwrap_err()
                .to_string();
            assert!(error.contains("many hosts"), "{error}");
        }
    }
}
