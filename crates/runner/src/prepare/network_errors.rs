//! Detects from a command's output whether a fetch failed because of the network. Each package manager prints the
//! errors of its network library.

/// Error messages of an unreachable network, in lowercase.
const NETWORK: [&str; 32] = [
    // Of the C library, as printed by Python, Ruby, .NET, Java and apt.
    "connection refused",
    "connection reset",
    "connection timed out",
    "could not connect",
    "name or service not known",
    "network is unreachable",
    "no route to host",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "resource temporarily unavailable (",
    // Of curl, which cargo uses.
    "could not resolve host",
    "could not resolve proxy",
    "couldn't connect to server",
    "couldn't resolve host",
    "failed to connect to",
    "operation timed out",
    "tunnel failed",
    // Of Go.
    "i/o timeout",
    "no such host",
    "tls handshake timeout",
    // Of Node.
    "eai_again",
    "econnrefused",
    "econnreset",
    "enetunreach",
    "enotfound",
    "etimedout",
    // Of Java.
    "connect timed out",
    "unknown host",
    "unknownhostexception",
    // Of Ruby and Bundler.
    "could not reach host",
    "execution expired",
    // Of Erlang, in addition to those that it shares with Node.
    "nxdomain",
];
/// Error messages for a download that does not match the lock file, in lowercase.
const MISMATCH: [&str; 9] = [
    "checksum",
    "do not match",
    "does not match",
    "eintegrity",
    "lock file",
    "lockfile",
    "nu1004",
    "nu1403",
    "security error",
];
/// The maximum length of a quoted line, in characters.
const MAX: usize = 300;

/// The network error of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NetworkError {
    /// The line of its output.
    pub said: String,
    /// The host in the line's URL; `None` without a URL.
    pub host: Option<String>,
}

/// The network error that made the command with the output `lines` fail; `None` if there was another cause. The last
/// error counts, because the command may have retried successfully and then failed at a wrong download.
pub(super) fn find_network_error<'l>(
    lines: impl IntoIterator<Item = &'l str>,
) -> Option<NetworkError> {
    let mut found: Option<NetworkError> = None;
    for line in lines {
        let small = line.to_lowercase();
        if NETWORK.iter().any(|words| small.contains(words)) {
            let next = NetworkError {
                said: line.trim().chars().take(MAX).collect(),
                host: host_in(line),
            };
            // Of several such lines, the last one that contains a host is the most useful.
            if next.host.is_some() || found.as_ref().is_none_or(|last| last.host.is_none()) {
                found = Some(next);
            }
        } else if MISMATCH.iter().any(|words| small.contains(words)) {
            found = None;
        }
    }
    found
}

/// The host and port of the last URL in `line`.
fn host_in(line: &str) -> Option<String> {
    let (_, rest) = line.rsplit_once("://")?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-.:@[]_".contains(c));
    let authority = &rest[..end.unwrap_or(rest.len())];
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let host = host.trim_end_matches([':', '.']);
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded output of package managers: the line that counts, and the host in it.
    const RECORDED: [(&str, &str, Option<&str>); 14] = [
        (
            "  failed to download from `https://index.crates.io/config.json`\n\nCaused by:\n  [7] Could not connect to server (Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server)",
            "[7] Could not connect to server",
            None,
        ),
        (
            "warning: spurious network error (1 try remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
            "warning: spurious network error",
            None,
        ),
        (
            "go: github.com/pkg/errors@v0.9.1: Get \"https://proxy.golang.org/github.com/pkg/errors/@v/v0.9.1.mod\": dial tcp: lookup proxy.golang.org on 10.0.0.1:53: no such host",
            "go: github.com/pkg/errors@v0.9.1",
            Some("proxy.golang.org"),
        ),
        (
            "npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org\nnpm error   errno: 'ENOTFOUND',",
            "npm error network request to",
            Some("registry.npmjs.org"),
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7fc1>: Failed to establish a new connection: [Errno 111] Connection refused')': /six/\nERROR: Could not find a version that satisfies the requirement six==1.16.0 (from versions: none)",
            "WARNING: Retrying",
            None,
        ),
        (
            "[ERROR] Plugin x could not be resolved: Could not transfer artifact x:pom:2.6 from/to central (https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution -> [Help 1]\n[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/PluginResolutionException",
            "[ERROR] Plugin x could not",
            Some("repo.maven.apache.org"),
        ),
        (
            "error NU1301: Unable to load the service index for source https://api.nuget.org/v3/index.json.\nerror NU1301:   Connection refused (api.nuget.org:443)",
            "error NU1301:   Connection refused",
            None,
        ),
        (
            "error NU1301: Unable to load the service index for source https://api.nuget.org/v3/index.json.\nerror NU1301:   Name or service not known (api.nuget.org:443)",
            "error NU1301:   Name or service",
            None,
        ),
        (
            "Retrying fetcher due to error (4/4): Bundler::HTTPError Could not fetch specs from https://rubygems.org/ due to underlying error <Errno::ECONNREFUSED: Failed to open TCP connection to rubygems.org:443 (Connection refused - connect(2) for \"rubygems.org\" port 443)>\n",
            "Retrying fetcher",
            Some("rubygems.org"),
        ),
        (
            "Could not reach host rubygems.org. Check your network connection and try again.",
            "Could not reach host",
            None,
        ),
        (
            "Failed to fetch record for 'hexpm/bandit' from registry (using cache instead)\n{:failed_connect, [{:to_address, {'repo.hex.pm', 443}}, {:inet, [:inet], :econnrefused}]}",
            "{:failed_connect,",
            None,
        ),
        (
            "** (Mix) httpc request failed with: {:failed_connect, [{:to_address, {'builds.hex.pm', 443}}, {:inet, [:inet], :nxdomain}]}\n\nCould not install Hex because Mix could not download metadata at https://builds.hex.pm/installs/hex-1.x.csv.",
            "** (Mix) httpc request failed",
            None,
        ),
        (
            "E: Failed to fetch http://deb.debian.org/debian/pool/main/e/x.deb  Temporary failure resolving 'deb.debian.org'",
            "E: Failed to fetch",
            Some("deb.debian.org"),
        ),
        (
            "curl: (56) CONNECT tunnel failed, response 403",
            "curl: (56)",
            None,
        ),
    ];

    #[test]
    fn each_client_says_that_its_registry_cannot_be_reached_in_its_own_words() {
        for (text, said, host) in RECORDED {
            let found =
                find_network_error(text.lines()).unwrap_or_else(|| panic!("not known: {text}"));
            assert!(found.said.starts_with(said), "{found:?}");
            assert_eq!(found.host.as_deref(), host, "{text}");
        }
    }

    #[test]
    fn what_came_and_is_wrong_is_no_matter_of_the_network() {
        for text in [
            "error: failed to verify the checksum of `itoa v1.0.1`",
            "error: the lock file /x/Cargo.lock needs to be updated but --locked was passed to prevent this",
            "verifying github.com/pkg/errors@v0.9.1: checksum mismatch\nSECURITY ERROR",
            "npm error code EINTEGRITY\nnpm error sha512-x integrity checksum failed when using sha512",
            "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync",
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
            "[ERROR] Could not transfer artifact x from/to central (https://repo.maven.apache.org/maven2): Checksum validation failed",
            "error NU1004: The packages lock file is inconsistent with the project dependencies",
            "Bundler found mismatched checksums. This is a potential security risk.",
            "** (Mix) Registry checksum mismatch against lock (hexpm jason 1.4.1)",
            "npm error 404 Not Found - GET https://registry.npmjs.org/no-such - Not found",
            // The network failed at first and then worked.
            "warning: spurious network error: Could not resolve host: x\nerror: failed to verify the checksum of `itoa v1.0.1`",
        ] {
            assert_eq!(find_network_error(text.lines()), None, "{text}");
        }
    }
}
