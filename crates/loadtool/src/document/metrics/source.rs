//! What all samples of a load have in common.

use std::time::SystemTime;

use deadheat_model::{LoadRecord, LoadSpec};

use super::reading::Label;

/// Which load samples are of.
#[derive(Clone, Debug)]
pub struct Source {
    /// Deadheat's version.
    pub(super) version: String,
    /// What is loaded, as it was typed, without secrets.
    pub(super) url: String,
    /// The load's start as a text. It tells loads of the same URL apart.
    pub(super) run: String,
    /// The load's start, which the times of intervals count from.
    pub(super) started: SystemTime,
    /// What the user calls it: attributes of the resource in OTLP, labels of all samples in OpenMetrics.
    pub(super) labels: Vec<Label>,
    /// Server and requests, as OpenTelemetry's conventions name them.
    pub(super) http: Vec<Label>,
}

impl Source {
    /// A load of `url` with `spec`, by this version of Deadheat, that started at an instant (RFC 3339).
    pub fn new(version: &str, started: &str, url: &str, spec: &LoadSpec) -> Self {
        Self {
            version: version.to_owned(),
            url: url.to_owned(),
            run: started.to_owned(),
            // No Deadheat writes a record without it. Without it, times count from the epoch.
            started: humantime::parse_rfc3339(started).unwrap_or(SystemTime::UNIX_EPOCH),
            labels: labels(spec),
            http: http(spec),
        }
    }

    /// The load that a record is of.
    pub fn from_record(record: &LoadRecord) -> Self {
        Self::new(&record.deadheat, &record.started, &record.url, &record.spec)
    }

    /// When the load started.
    pub fn started(&self) -> SystemTime {
        self.started
    }
}

/// The user's labels, under names that no convention has.
fn labels(spec: &LoadSpec) -> Vec<Label> {
    let labels = spec.labels.iter();
    labels
        .map(|(key, value)| Label::new(format!("label.{key}"), value))
        .collect()
}

/// The attributes that OpenTelemetry's metrics of HTTP clients have.
fn http(spec: &LoadSpec) -> Vec<Label> {
    let is_tls = spec.target.tls.is_some();
    let (host, port) = host_and_port(&spec.target.authority);
    let port = port.unwrap_or(if is_tls { "443" } else { "80" });
    let version = spec.protocol.version();
    let mut labels = vec![Label::new("network.protocol.version", version)];
    // Requests to several servers are counted together.
    if spec.others.is_empty() {
        labels.splice(
            0..0,
            [
                Label::new("server.address", host),
                Label::new("server.port", port),
                Label::new("url.scheme", if is_tls { "https" } else { "http" }),
            ],
        );
    }
    let mut methods = spec.exchanges.iter().map(|one| one.request.method.as_str());
    // Requests of several methods are counted together.
    if let Some(first) = methods.next()
        && methods.all(|other| other == first)
    {
        labels.push(Label::new("http.request.method", first));
    }
    labels
}

/// The parts of `localhost:8080` or `[::1]:8080`; a name alone has no port.
fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    (bare.unwrap_or(host), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_host_and_a_port() {
        for (authority, host, port) in [
            ("localhost:8080", "localhost", Some("8080")),
            ("localhost", "localhost", None),
            ("127.0.0.1:80", "127.0.0.1", Some("80")),
            ("[::1]:8080", "::1", Some("8080")),
            ("[::1]", "::1", None),
        ] {
            assert_eq!(host_and_port(authority), (host, port), "{authority}");
        }
    }
}
