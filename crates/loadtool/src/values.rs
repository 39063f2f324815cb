//! Values that options of `deadheat load` take.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
    time::Duration,
};

use clap::Args;
use deadheat_load::limits::MIN_INTERVAL;
use deadheat_model::{
    figure,
    load::{Stream, StreamEvent, Think},
};
use deadheat_shell::values::{length, one_of, time_or_none};

/// A whole number.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| "write a whole number, like 1000".to_owned())
}

pub(crate) fn requests(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("that would send nothing: write 1 or more".to_owned()),
        number => Ok(number),
    }
}

/// A whole number within bounds.
pub(crate) fn whole<const MIN: u32, const MAX: u32>(text: &str) -> Result<u32, String> {
    let number = number(text).ok().and_then(|number| number.try_into().ok());
    number
        .filter(|number| (MIN..=MAX).contains(number))
        .ok_or_else(|| match MAX {
            u32::MAX => format!("write a whole number from {MIN} on"),
            _ => format!("write a whole number from {MIN} to {MAX}"),
        })
}

/// The path of a method of gRPC: "/package.Service/Method", whose first slash may be left out.
pub(crate) fn grpc_path(text: &str) -> Result<String, String> {
    let path = text.strip_prefix('/').unwrap_or(text);
    let is_graphic = path.bytes().all(|byte| byte.is_ascii_graphic());
    let is_method = path.contains('/') && path.split('/').all(|part| !part.is_empty());
    if is_graphic && is_method && !path.contains(['?', '#', ':']) {
        Ok(format!("/{path}"))
    } else {
        Err("write a service and a method, like helloworld.Greeter/SayHello".to_owned())
    }
}

pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    match length(text)? {
        time if time < MIN_INTERVAL => Err(format!("make it {MIN_INTERVAL:?} or more")),
        time => Ok(time),
    }
}

/// A header as it is typed: "Name: value".
pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    // The value may be a secret, so no message has it.
    let Some((name, value)) = text.split_once(':') else {
        return Err("write a header like 'Name: value'".to_owned());
    };
    let (name, value) = (name.trim_end(), value.trim());
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return Err(format!(
            "{name:?} is not a valid header name; write a header like 'Name: value'"
        ));
    }
    if value
        .bytes()
        .any(|byte| byte.is_ascii_control() && byte != b'\t')
    {
        return Err(format!("the value of {name} has a control character"));
    }
    let lower = name.to_ascii_lowercase();
    if lower == "transfer-encoding" {
        return Err(format!(
            "{name} follows from the body, so omit it (--chunked sends the body in chunks)"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A label: "KEY=VALUE". Each format of metrics takes such a key.
pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || "._".contains(one));
    if !is_key || !text.contains('=') || text.chars().any(char::is_control) {
        return Err(
            "write KEY=VALUE; a key has letters, digits, _ and ., and begins with a letter"
                .to_owned(),
        );
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// A byte of a method or of a header's name.
pub(crate) fn is_token_byte(byte: u8) -> bool {
    // RFC 9110 §5.6.2
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// An address given instead of a name, with or without a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedAddress {
    pub(crate) address: IpAddr,
    pub(crate) port: Option<u16>,
    /// The index of the interface that an IPv6 zone names; 0: none is named.
    pub(crate) zone: u32,
}

/// A name that no interface of this machine has.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a network interface of this machine (ip link)")]
pub struct NoInterface(String);

/// The index of an interface of this machine: the zone of an IPv6 address (RFC 4007 §11).
pub(crate) fn zone(name: &str) -> Result<u32, NoInterface> {
    let index = name.parse().ok().or_else(|| {
        let is_name = !name.is_empty() && !name.contains('/') && name != ".." && name != ".";
        let file = is_name.then(|| format!("/sys/class/net/{name}/ifindex"))?;
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    });
    index
        .filter(|index| *index > 0)
        .ok_or_else(|| NoInterface(name.to_owned()))
}

impl FromStr for FixedAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (plain, zone) = match text.split_once('%') {
            Some((before, rest)) => {
                let end = rest.find(']').unwrap_or(rest.len());
                let zone = zone(&rest[..end]).map_err(|error| error.to_string())?;
                (format!("{before}{}", &rest[end..]), zone)
            }
            None => (text.to_owned(), 0),
        };
        let has_zone = |address: &IpAddr| zone == 0 || address.is_ipv6();
        if let Some(address) = plain.parse().ok().filter(has_zone) {
            return Ok(Self {
                address,
                port: None,
                zone,
            });
        }
        match plain.parse::<SocketAddr>() {
            Ok(socket) if socket.port() != 0 && has_zone(&socket.ip()) => Ok(Self {
                address: socket.ip(),
                port: Some(socket.port()),
                zone,
            }),
            _ => Err(
                "write an address like 127.0.0.1 or ::1, or one with a port like 127.0.0.1:8080"
                    .to_owned(),
            ),
        }
    }
}

/// How answers are taken apart into events.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Valid answers")]
pub struct StreamArgs {
    /// Answers are streams: record the times of their events
    #[arg(long, value_name = "EVENTS", value_parser = one_of(&[
        ("sse", StreamEvent::Sse, "Server-sent events; comments do not count"),
        ("lines", StreamEvent::Lines, "Lines that are not empty, as in NDJSON"),
        ("chunks", StreamEvent::Chunks, "Chunks of the chunked coding"),
    ]), hide_short_help = true)]
    pub(crate) stream: Option<StreamEvent>,
    /// With --stream: an answer is whole after N events; for streams without an end
    #[arg(long, value_name = "N", value_parser = whole::<1, { u32::MAX }>, hide_short_help = true)]
    pub(crate) stream_events: Option<u32>,
}

impl StreamArgs {
    /// What the load generator is asked to do.
    pub(crate) fn wanted(&self) -> Option<Stream> {
        Some(Stream {
            event: self.stream?,
            enough: self.stream_events.map(u64::from),
        })
    }
}

/// How long to wait between an answer and the next request.
pub(crate) fn think(text: &str) -> Result<Think, String> {
    let bad = |error| {
        format!(
            "{error}; a think time is one like 1s, 500ms..2s (any time between) or exp:1s (on average)"
        )
    };
    if let Some(mean) = text.strip_prefix("exp:") {
        let mean = length(mean).map_err(bad)?;
        return Ok(Think::Exponential { mean });
    }
    let (from, to) = match text.split_once("..") {
        None => {
            let always = length(text).map_err(bad)?;
            (always, always)
        }
        Some((from, to)) => {
            let from = time_or_none(from.trim()).map_err(bad)?;
            (from, length(to.trim()).map_err(bad)?)
        }
    };
    if from > to {
        return Err(bad(format!(
            "{} is longer than {}",
            figure::time(from),
            figure::time(to)
        )));
    }
    Ok(Think::Uniform { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_a_least_length() {
        assert_eq!(interval("10ms"), Ok(Duration::from_millis(10)));
        assert!(interval("1ms").unwrap_err().contains("10ms or more"));
    }

    #[test]
    fn numbers_are_whole_and_within_their_bounds() {
        assert_eq!(whole::<1, 50>("50"), Ok(50));
        for wrong in [
            "0",
            "51",
            "-1",
            "+1",
            "1.5",
            "1e3",
            "x",
            "",
            "99999999999999999999",
        ] {
            let error = whole::<1, 50>(wrong).unwrap_err();
            assert!(error.contains("from 1 to 50"), "{wrong}: {error}");
        }
        assert!(
            whole::<1, { u32::MAX }>("0")
                .unwrap_err()
                .contains("from 1 on")
        );
        assert_eq!(requests("1"), Ok(1));
        assert!(requests("0").unwrap_err().contains("send nothing"));
        assert_eq!(number("0"), Ok(0));
        assert!(number("1k").unwrap_err().contains("whole number"));
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let cases = [
            ("secret", "like 'Name: value'"),
            (": secret", "not a valid header name"),
            ("a b: secret", "not a valid header name"),
            ("A: secret\r\nB: c", "control character"),
            ("Transfer-Encoding: chunked", "--chunked"),
        ];
        for (text, expected) in cases {
            let error = header(text).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("secret"),
                "{text:?}: {error}"
            );
        }
    }

    #[test]
    fn three_kinds_are_read() {
        for (text, expected) in [
            ("1s", "1 s"),
            ("2", "2 s"),
            ("500ms..2s", "500 ms to 2 s at random"),
            ("0s .. 2s", "0 s to 2 s at random"),
            ("exp:1s", "1 s on average (exponential)"),
        ] {
            let told = deadheat_model::load::words::think(&think(text).unwrap());
            assert_eq!(told, expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_what_to_write() {
        for text in [
            "",
            "0s",
            "x",
            "2s..1s",
            "1s..",
            "0s..0s",
            "exp:",
            "exp:0s",
            "-1s",
            "1s..2s..3s",
        ] {
            let error = think(text).unwrap_err();
            assert!(error.contains("exp:1s"), "{text:?}: {error}");
        }
    }
}
