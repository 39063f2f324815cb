//! Where the load goes: names are resolved once, files of TLS are read.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, SocketAddrV6, TcpStream, ToSocketAddrs, UdpSocket},
    os::unix::fs::FileTypeExt as _,
    path::Path,
    time::Duration,
};

use deadheat_model::load::{Endpoint, Identity, Proxy, Target, Tls, Trust};
use deadheat_runner::files;
use deadheat_shell::{exit::CommandFailure, file_errors::unreadable, hosts};

use super::{
    url::{Host, Origin},
    values::FixedAddress,
};
use crate::{
    options::{ConnectionArgs, LoadArgs, TlsArgs},
    url::ProxyUrl,
};

/// How long an address of several may take to show that it accepts connections.
const LONGEST_PROBE: Duration = Duration::from_secs(1);

/// Resolves the target. Of several addresses the first one is taken that accepts a connection, which one connection to
/// each finds out; not in a dry run, and never before it is clear that they may be loaded. The text says how a name became
/// an address, for the plan; `None`: the URL has the address.
pub(crate) fn find(
    origin: &Origin,
    args: &LoadArgs,
) -> Result<(Target, Option<String>), CommandFailure> {
    let connection = &args.connection;
    let (endpoint, more, proxy, how) = match (&connection.unix_socket, &connection.proxy) {
        (Some(path), _) => (unix(path)?, Vec::new(), None, None),
        (None, Some(typed)) => {
            let (address, proxy, how) = proxied(origin, args, typed)?;
            (
                Endpoint::Tcp { address },
                Vec::new(),
                Some(proxy),
                Some(how),
            )
        }
        (None, None) => {
            let (address, more, how) = tcp(origin, args)?;
            (Endpoint::Tcp { address }, more, None, how)
        }
    };
    let tls = if origin.tls {
        Some(tls(&args.tls, origin)?)
    } else {
        None
    };
    tracing::info!("requests for {} go to {endpoint}", origin.authority);
    let target = Target {
        endpoint,
        more,
        authority: origin.authority.clone(),
        tls,
        proxy,
        sources: args.connection.source.clone(),
    };
    Ok((target, how))
}

fn unix(path: &Path) -> Result<Endpoint, CommandFailure> {
    let shown = path.display().to_string();
    if shown.starts_with('@') {
        // The system lists abstract sockets under the same name.
        let listed = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let is_there = |line: &str| line.ends_with(&format!(" {shown}"));
        return if listed.is_empty() || listed.lines().any(is_there) {
            Ok(Endpoint::Unix {
                path: path.to_owned(),
            })
        } else {
            Err(CommandFailure::usage(format!(
                "--unix-socket {shown}: no abstract socket has this name; is the server running? A file is ./{shown}"
            )))
        };
    }
    let about = fs::metadata(path).map_err(|error| {
        CommandFailure::usage(format!(
            "--unix-socket {}: {error}; is the server running?",
            path.display()
        ))
    })?;
    if !about.file_type().is_socket() {
        return Err(CommandFailure::usage(format!(
            "--unix-socket {}: this is not a socket; name the one that the server listens on",
            path.display()
        )));
    }
    Ok(Endpoint::Unix {
        path: path.to_owned(),
    })
}

/// The address of a proxy, what it is asked to connect to, and both in words. Both proxy and server must be allowed to be
/// loaded: both feel the load.
fn proxied(
    origin: &Origin,
    args: &LoadArgs,
    typed: &str,
) -> Result<(SocketAddr, Proxy, String), CommandFailure> {
    let connection = &args.connection;
    let is_allowed = args.safety.i_may_load_this_host;
    let url = ProxyUrl::parse(typed).map_err(CommandFailure::usage)?;
    let addresses = lookup(&url.host, url.port, "name another proxy")?;
    let named = url.host.to_string();
    hosts::may_load(&addresses, &named, is_allowed)?;
    let fitting = fitting(&addresses, &named, connection)?;
    check_sources(&connection.source)?;
    let server = origin.host.to_string();
    let found = lookup(
        &origin.host,
        origin.port,
        "let the proxy resolve it (socks5h)",
    );
    if let Ok(addresses) = &found {
        hosts::may_load(addresses, &server, is_allowed)?;
    } else if !is_allowed {
        return Err(CommandFailure::usage(format!(
            "{server} cannot be resolved here, so its address, which the proxy knows, may be anybody's: if it is yours, or \
             you may load it, add --i-may-load-this-host"
        )));
    }
    let to = match &origin.host {
        _ if url.resolves_here => found?[0].to_string(),
        Host::Name(name) => format!("{name}:{}", origin.port),
        Host::Address(address) => SocketAddr::new(*address, origin.port).to_string(),
    };
    let first = match fitting.as_slice() {
        [_, _, ..] if !args.safety.dry_run && connection.source.is_empty() => {
            let timeout = connection.connect_timeout.unwrap_or(LONGEST_PROBE);
            first_open(&fitting, timeout)
        }
        all => all[0],
    };
    let how = format!("the proxy {}, on the way to {to}", url.shown);
    let proxy = Proxy {
        kind: url.kind,
        to,
        login: url.login,
    };
    Ok((first, proxy, how))
}

/// The server's address, the others if all are loaded, and how they were found.
fn tcp(
    origin: &Origin,
    args: &LoadArgs,
) -> Result<(SocketAddr, Vec<SocketAddr>, Option<String>), CommandFailure> {
    let connection = &args.connection;
    let addresses = resolve(origin, connection)?;
    let named = origin.host.to_string();
    hosts::may_load(&addresses, &named, args.safety.i_may_load_this_host)?;
    let fitting = fitting(&addresses, &named, connection)?;
    check_sources(&connection.source)?;
    let (chosen, more) = match fitting.as_slice() {
        [first, more @ ..] if connection.all_addresses => (*first, more.to_vec()),
        // One that was asked to come from certain addresses may be refused from others.
        [_, _, ..] if !args.safety.dry_run && connection.source.is_empty() => {
            let timeout = connection.connect_timeout.unwrap_or(LONGEST_PROBE);
            (first_open(&fitting, timeout), Vec::new())
        }
        all => (all[0], Vec::new()),
    };
    let how = match (connection.resolve, fitting.len()) {
        (Some(_), _) => Some(format!("instead of {named}")),
        (None, _) if matches!(origin.host, Host::Address(_)) => None,
        (None, 1) if connection.all_addresses => Some(format!(
            "the only address of {named}, so there is nothing to share out"
        )),
        (None, count) if connection.all_addresses => {
            Some(format!("all {count} addresses of {named}"))
        }
        (None, 1) => Some(format!("{named} resolves to it")),
        (None, count) => Some(format!("one of {count} addresses of {named}")),
    };
    Ok((chosen, more, how))
}

/// All addresses of the origin, in the order of the system's resolver.
fn resolve(origin: &Origin, args: &ConnectionArgs) -> Result<Vec<SocketAddr>, CommandFailure> {
    let mut addresses = match args.resolve {
        Some(FixedAddress {
            address,
            port,
            zone,
        }) => vec![zoned(address, zone, port.unwrap_or(origin.port))],
        None => match origin.host {
            Host::Address(address) => vec![zoned(address, origin.zone, origin.port)],
            Host::Name(_) => lookup(&origin.host, origin.port, "set its address with --resolve")?,
        },
    };
    // The system's resolver may find one that leads nowhere without an interface.
    let is_usable = |address: &SocketAddr| match address {
        SocketAddr::V6(address) => !address.ip().is_unicast_link_local() || address.scope_id() != 0,
        SocketAddr::V4(_) => true,
    };
    if let Some(first) = addresses.first().copied()
        && !addresses.iter().any(is_usable)
    {
        return Err(CommandFailure::usage(format!(
            "{0} is link-local, which means something else on each network: name the interface, as in \
             http://[{0}%25eth0]:{1}/ or --resolve {0}%eth0",
            first.ip(),
            first.port()
        )));
    }
    addresses.retain(is_usable);
    Ok(addresses)
}

/// An address with a port, and with an interface's index if its zone is known.
fn zoned(address: IpAddr, zone: u32, port: u16) -> SocketAddr {
    match address {
        IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, zone).into(),
        IpAddr::V4(_) => SocketAddr::new(address, port),
    }
}

/// All addresses of a host, in the order of the system's resolver. Errors suggest `else_do` as an alternative.
fn lookup(host: &Host, port: u16, else_do: &str) -> Result<Vec<SocketAddr>, CommandFailure> {
    match host {
        Host::Address(address) => Ok(vec![SocketAddr::new(*address, port)]),
        Host::Name(name) => {
            let failed = |what: String| {
                CommandFailure::no_result(format!(
                    "resolving {name}: {what}; check its spelling, or {else_do}"
                ))
            };
            let found = (name.as_str(), port).to_socket_addrs();
            let mut addresses: Vec<SocketAddr> = Vec::new();
            for address in found.map_err(|error| failed(reason(&error)))? {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            if addresses.is_empty() {
                Err(failed("it has no address".to_owned()))
            } else {
                Ok(addresses)
            }
        }
    }
}

/// What the resolver says, without the standard library's preface.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let said = text.strip_prefix("failed to lookup address information: ");
    said.unwrap_or(&text).to_owned()
}

/// Those of the wanted family. Never empty.
fn fitting(
    addresses: &[SocketAddr],
    named: &str,
    args: &ConnectionArgs,
) -> Result<Vec<SocketAddr>, CommandFailure> {
    let wanted = |address: &SocketAddr| {
        if address.is_ipv4() {
            !args.ipv6
        } else {
            !args.ipv4
        }
    };
    let family: Vec<SocketAddr> = addresses.iter().copied().filter(wanted).collect();
    if family.is_empty() {
        let (option, has) = if args.ipv4 {
            ("-4", "IPv6")
        } else {
            ("-6", "IPv4")
        };
        let why = match (args.resolve, named.parse::<IpAddr>()) {
            (Some(fixed), _) => format!(
                "{option} and --resolve {}: this is an {has} address; omit {option}",
                fixed.address
            ),
            (None, Ok(address)) => {
                format!("{option}: {address} is an {has} address; omit {option}")
            }
            (None, Err(_)) => {
                format!("{option}: {named} has only {has} addresses; omit {option}")
            }
        };
        return Err(CommandFailure::usage(why));
    }
    if let [first, rest @ ..] = args.source.as_slice() {
        if let Some(other) = rest.iter().find(|one| one.is_ipv4() != first.is_ipv4()) {
            return Err(CommandFailure::usage(format!(
                "--source {first} and {other}: a load goes to one address, which is IPv4 or IPv6, so all sources must \
                 be of that kind"
            )));
        }
        let reached: Vec<SocketAddr> = family
            .into_iter()
            .filter(|address| address.is_ipv4() == first.is_ipv4())
            .collect();
        return if reached.is_empty() {
            Err(CommandFailure::usage(format!(
                "--source {first}: {named} has no address of the same kind (IPv4 or IPv6)"
            )))
        } else {
            Ok(reached)
        };
    }
    Ok(family)
}

/// Refuses addresses that this machine does not have. Binding a UDP socket sends nothing.
fn check_sources(sources: &[IpAddr]) -> Result<(), CommandFailure> {
    for source in sources {
        UdpSocket::bind((*source, 0)).map_err(|error| {
            CommandFailure::usage(format!(
                "--source {source}: {error}; use an address of this machine (ip address)"
            ))
        })?;
    }
    Ok(())
}

/// The first address that accepts a connection; the first one if none does, so that the load tells what is wrong.
fn first_open(addresses: &[SocketAddr], timeout: Duration) -> SocketAddr {
    let timeout = timeout.min(LONGEST_PROBE);
    let open = |address: &&SocketAddr| TcpStream::connect_timeout(address, timeout).is_ok();
    *addresses.iter().find(open).unwrap_or(&addresses[0])
}

fn tls(args: &TlsArgs, origin: &Origin) -> Result<Tls, CommandFailure> {
    let read = |option: &str, path: &Path, kind: &str| {
        let shown = path.display();
        let text =
            files::read_typed_text(path).map_err(|error| unreadable(option, path, &error))?;
        // As far as can be seen without reading it: "PRIVATE KEY" has several kinds.
        let has = text
            .lines()
            .any(|line| line.starts_with("-----BEGIN ") && line.contains(kind));
        if has {
            Ok(text)
        } else {
            Err(CommandFailure::usage(format!(
                "{option} {shown}: the file contains no {}; name a PEM file (-----BEGIN …)",
                kind.to_lowercase()
            )))
        }
    };
    let trust = match (&args.cacert, args.insecure) {
        (Some(path), _) => Trust::Authorities {
            pem: read("--cacert", path, "CERTIFICATE")?,
        },
        (None, true) => Trust::Anything,
        (None, false) => Trust::System,
    };
    let identity = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => Some(Identity {
            certificates: read("--cert", cert, "CERTIFICATE")?,
            key: read("--key", key, "PRIVATE KEY")?,
        }),
        _ => None,
    };
    Ok(Tls {
        server_name: args
            .server_name
            .clone()
            .unwrap_or_else(|| origin.host.to_string()),
        trust,
        identity,
        resumption: !args.no_resumption,
        version: args.tls_version,
        cipher_suites: args.tls_ciphers.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn connection() -> ConnectionArgs {
        ConnectionArgs {
            connect_timeout: Some(Duration::from_secs(1)),
            ..ConnectionArgs::default()
        }
    }

    fn origin(host: Host) -> Origin {
        Origin {
            tls: false,
            authority: host.to_string(),
            host,
            zone: 0,
            port: 80,
        }
    }

    fn both() -> Vec<SocketAddr> {
        ["[::1]:80", "127.0.0.1:80"]
            .map(|text| text.parse().unwrap())
            .to_vec()
    }

    #[test]
    fn a_fixed_address_replaces_the_name_and_may_replace_the_port() {
        let name = origin(Host::Name("no.such.name.invalid".to_owned()));
        for (text, expected) in [
            ("127.0.0.1", "127.0.0.1:80"),
            ("::1", "[::1]:80"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:8080", "[::1]:8080"),
            ("fe80::1%1", "[fe80::1%1]:80"),
            ("[fe80::1%lo]:8080", "[fe80::1%1]:8080"),
        ] {
            let mut args = connection();
            args.resolve = Some(text.parse().unwrap());
            let found = resolve(&name, &args).unwrap();
            assert_eq!(found, [expected.parse().unwrap()], "{text}");
        }
        let mut args = connection();
        args.resolve = Some("fe80::1".parse().unwrap());
        let error = resolve(&name, &args).unwrap_err().to_string();
        assert!(error.contains("--resolve fe80::1%eth0"), "{error}");
        let error = "fe80::1%no-such0".parse::<FixedAddress>().unwrap_err();
        assert!(error.contains("no-such0"), "{error}");
        for text in ["", "localhost", "127.0.0.1:0", "host:127.0.0.1", "[::1]"] {
            assert!(text.parse::<FixedAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_family_and_the_sources_choose() {
        let mut args = connection();
        assert_eq!(fitting(&both(), "x", &args).unwrap(), both());
        args.ipv4 = true;
        assert_eq!(fitting(&both(), "x", &args).unwrap(), both()[1..]);
        let refusal = |named: &str, args: &ConnectionArgs| {
            let refused = fitting(&both()[..1], named, args).unwrap_err();
            refused.to_string()
        };
        assert!(refusal("x", &args).contains("x has only IPv6"));
        assert!(refusal("::1", &args).contains("-4: ::1 is an IPv6 address"));
        args.resolve = Some("::1".parse().unwrap());
        let both_options = "-4 and --resolve ::1: this is an IPv6 address";
        assert!(refusal("127.0.0.1", &args).contains(both_options));
        let mut args = connection();
        args.source = vec!["127.0.0.2".parse().unwrap()];
        assert_eq!(fitting(&both(), "x", &args).unwrap(), both()[1..]);
        assert!(fitting(&both()[..1], "x", &args).is_err());
        args.source.push("::1".parse().unwrap());
        let refused = fitting(&both(), "x", &args).unwrap_err().to_string();
        assert!(refused.contains("must be of that kind"), "{refused}");
    }

    #[test]
    fn sources_must_be_this_machines() {
        assert!(check_sources(&["127.0.0.2".parse().unwrap()]).is_ok());
        let error = check_sources(&["192.0.2.1".parse().unwrap()]).unwrap_err();
        assert!(error.to_string().contains("--source 192.0.2.1"), "{error}");
    }

    #[test]
    fn of_several_addresses_the_first_open_one_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed = SocketAddr::new("127.0.0.2".parse().unwrap(), open.port());
        let timeout = Duration::from_secs(1);
        assert_eq!(first_open(&[closed, open], timeout), open);
        assert_eq!(first_open(&[open, closed], timeout), open);
        drop(listener);
        assert_eq!(first_open(&[closed, open], timeout), closed);
    }
}
