//! The collector of `--otlp`.

use std::fmt;

use url::Url;

/// Where a collector takes metrics (OTLP 1.x, section "OTLP/HTTP Request").
const METRICS_PATH: &str = "/v1/metrics";

/// A collector's address for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CollectorUrl(Url);

impl fmt::Display for CollectorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads the address of a collector, with or without the path for metrics.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn collector(text: &str) -> Result<CollectorUrl, String> {
    let example = "write http://127.0.0.1:4318, for example";
    let mut url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(format!("it is not an http:// or https:// URL; {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "a user or a password is not sent; send to a collector of your own, which passes metrics on with them"
                .to_owned(),
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "a collector's address ends with its path; {example}"
        ));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(METRICS_PATH).unwrap_or(path);
    let path = format!("{path}{METRICS_PATH}");
    url.set_path(&path);
    Ok(CollectorUrl(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_for_metrics_is_added_where_it_is_not_there() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://h:4318/", "http://h:4318/v1/metrics"),
            ("https://h/otlp/", "https://h/otlp/v1/metrics"),
            ("http://h/v1/metrics", "http://h/v1/metrics"),
            ("http://h/a/v1/metrics/", "http://h/a/v1/metrics"),
        ] {
            assert_eq!(collector(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_collector_is_refused_with_the_reason() {
        for (text, why) in [
            ("localhost:4318", "not an http://"),
            ("4318", "http://127.0.0.1:4318"),
            ("grpc://h:4317", "not an http://"),
            ("http://", "http://127.0.0.1:4318"),
            ("http://a:b@h", "password is not sent"),
            ("http://h/?token=x", "ends with its path"),
        ] {
            let error = collector(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
