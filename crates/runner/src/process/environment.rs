//! The environment variables that children inherit from Deadheat: only those in these lists, so that a variable in the
//! user's shell (`GOGC`, `NODE_OPTIONS`, `HTTP_PROXY`) changes no figure. A name that ends in `*` matches all names
//! with this prefix.

/// What every child inherits: who runs it and where, and where the programs of its language are.
pub(crate) const OF_EVERY_CHILD: [&str; 21] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_*",
    "XDG_*",
    "LD_LIBRARY_PATH",
    "JAVA_HOME",
    "DOTNET_ROOT*",
    "GEM_HOME",
    "GEM_PATH",
    "PYENV_*",
    "RBENV_*",
    "NVM_*",
    "ASDF_*",
    "MISE_*",
    // Our own.
    "DEADHEAT_*",
];

/// What commands that fetch and build inherit besides: how to reach the network, and where package managers look and
/// keep their files. Nothing that changes what is built (`RUSTFLAGS`, `GOFLAGS`, `CFLAGS`, `MIX_ENV`).
pub(crate) const OF_BUILDS: [&str; 48] = [
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "GIT_SSL_*",
    "GIT_SSH*",
    "SSH_AUTH_SOCK",
    "CARGO_HOME",
    "CARGO_HTTP_*",
    "CARGO_NET_*",
    "CARGO_REGISTR*",
    "RUSTUP_*",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "GOCACHE",
    "GOENV",
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GONOPROXY",
    "GOPRIVATE",
    "GOAUTH",
    "GOTOOLCHAIN",
    "PIP_*",
    "npm_config_*",
    "NPM_CONFIG_*",
    "MAVEN_*",
    "JAVA_TOOL_OPTIONS",
    "BUNDLE_*",
    "HEX_*",
    "MIX_HOME",
    "REBAR_*",
    "NUGET_*",
    "DOTNET_CLI_*",
    // Without ICU the SDK itself does not start.
    "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT",
    "COMPOSER_*",
    "PKG_CONFIG_PATH",
];

/// The variables that are set here and declared in one of `lists`, sorted by name. One that is not UTF-8 is left out.
pub(crate) fn inherited(lists: &[&[&str]]) -> Vec<(String, String)> {
    let declared = |name: &str| lists.iter().any(|list| is_declared(name, list));
    let mut all = whole();
    all.retain(|(name, _)| declared(name));
    all
}

/// Everything, sorted by name: for a command that the user gives together with the environment to run it in.
pub(crate) fn whole() -> Vec<(String, String)> {
    let all = std::env::vars_os();
    let texts =
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut texts: Vec<(String, String)> = texts.collect();
    texts.sort();
    texts
}

/// The names alone, for records: the values may be nobody else's business.
pub(crate) fn names(variables: Vec<(String, String)>) -> Vec<String> {
    variables.into_iter().map(|(name, _)| name).collect()
}

fn is_declared(name: &str, list: &[&str]) -> bool {
    list.iter().any(|one| match one.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *one,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_inherit_nothing_that_tunes_a_runtime_and_builds_reach_the_network() {
        for name in ["HOME", "LC_ALL", "LANG", "JAVA_HOME"] {
            assert!(is_declared(name, &OF_EVERY_CHILD), "{name}");
        }
        let tuning = [
            "GOGC",
            "GOMAXPROCS",
            "NODE_OPTIONS",
            "RUBYOPT",
            "PYTHONDEVMODE",
            "LD_PRELOAD",
            "RUSTFLAGS",
            "GOFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "NODE_ENV",
        ];
        for name in tuning {
            let declared = is_declared(name, &OF_EVERY_CHILD) || is_declared(name, &OF_BUILDS);
            assert!(!declared, "{name}");
        }
        for name in ["HTTPS_PROXY", "JAVA_TOOL_OPTIONS", "PIP_INDEX_URL"] {
            assert!(is_declared(name, &OF_BUILDS), "{name}");
            assert!(!is_declared(name, &OF_EVERY_CHILD), "{name}");
        }
    }
}
