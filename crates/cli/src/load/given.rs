//! Which options of a group were given: for whoever takes a group and has no use for all of its options.

use super::args::{AnswerArgs, ConnectionArgs, RequestArgs, SteadyArgs, TlsArgs};

/// An option's name, and whether it was given.
pub(crate) type Given = (&'static str, bool);

impl SteadyArgs {
    /// Its options.
    pub(crate) fn given(&self) -> [Given; 4] {
        [
            ("--connections", self.connections.is_some()),
            ("--rate", self.rate.is_some()),
            ("--arrivals", self.arrivals.is_some()),
            ("--max-connections", self.max_connections.is_some()),
        ]
    }
}

impl RequestArgs {
    /// Its options.
    pub(crate) fn given(&self) -> [Given; 14] {
        [
            ("--method", self.method.is_some()),
            ("--header", !self.headers.is_empty()),
            ("--body", self.body.is_some()),
            ("--body-file", !self.body_file.is_empty()),
            ("--form", !self.form.is_empty()),
            ("--chunked", self.chunked),
            ("--user", self.user.is_some()),
            ("--http1.0", self.http1_0),
            ("--no-keepalive", self.no_keepalive),
            ("--pipeline", self.pipeline.is_some()),
            ("--template", self.template),
            ("--follow-redirects", self.follow_redirects.is_some()),
            ("--cookies", self.cookies),
            ("--urls", self.urls.is_some()),
        ]
    }
}

impl ConnectionArgs {
    /// Its options.
    pub(crate) fn given(&self) -> [Given; 10] {
        [
            ("--connect-timeout", self.connect_timeout.is_some()),
            ("--timeout", self.timeout.is_some()),
            (
                "--most-requests-per-connection",
                self.most_requests_per_connection.is_some(),
            ),
            ("--unix-socket", self.unix_socket.is_some()),
            ("--source", !self.source.is_empty()),
            ("--resolve", self.resolve.is_some()),
            ("--all-addresses", self.all_addresses),
            ("--proxy", self.proxy.is_some()),
            ("-4", self.ipv4),
            ("-6", self.ipv6),
        ]
    }
}

impl TlsArgs {
    /// Its options.
    pub(crate) fn given(&self) -> [Given; 8] {
        [
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--insecure", self.insecure),
            ("--server-name", self.server_name.is_some()),
            ("--no-resumption", self.no_resumption),
            ("--tls-version", self.tls_version.is_some()),
            ("--tls-ciphers", !self.tls_ciphers.is_empty()),
        ]
    }
}

impl AnswerArgs {
    /// Its options.
    pub(crate) fn given(&self) -> [Given; 7] {
        [
            ("--expect-status", self.expect_status.is_some()),
            ("--expect-length", self.expect_length.is_some()),
            ("--expect-body", self.expect_body.is_some()),
            ("--expect-body-file", self.expect_body_file.is_some()),
            ("--expect-contains", self.expect_contains.is_some()),
            ("--expect-json", self.expect_json.is_some()),
            ("--check-every", self.check_every.is_some()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::*;

    /// The options that the group has, as they are typed.
    fn options<T: Args>() -> Vec<String> {
        let group = T::augment_args(Command::new("group"));
        let name = |arg: &clap::Arg| match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, short) => format!("-{}", short.unwrap_or_default()),
        };
        group.get_arguments().map(name).collect()
    }

    #[track_caller]
    fn has_all<T: Args>(given: &[Given]) {
        let named: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        let (mut named, mut all) = (named, options::<T>());
        named.sort_unstable();
        all.sort_unstable();
        assert_eq!(named, all);
        assert!(given.iter().all(|(_, given)| !given), "nothing is given");
    }

    #[test]
    fn no_option_of_a_group_is_left_out() {
        has_all::<SteadyArgs>(&SteadyArgs::default().given());
        has_all::<RequestArgs>(&RequestArgs::default().given());
        has_all::<ConnectionArgs>(&ConnectionArgs::default().given());
        has_all::<TlsArgs>(&TlsArgs::default().given());
        has_all::<AnswerArgs>(&AnswerArgs::default().given());
    }
}
