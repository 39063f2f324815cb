//! The arguments of a comparison as they may be recorded.

use deadheat_loadtool::options::RequestArgs;
use deadheat_runner::secret::{HIDDEN, header_value};

/// These arguments without a password of `--user`, without bodies and forms, and without the values of headers that a
/// load does not record either.
pub(crate) fn without_secrets(arguments: Vec<String>, request: &RequestArgs) -> Vec<String> {
    let headers = request.headers.iter();
    let hidden = headers.filter(|(name, value)| header_value(name, value) == HIDDEN);
    let secrets: Vec<&str> = hidden
        .map(|(_, value)| value.as_str())
        .chain(request.user.as_deref())
        .filter(|secret| !secret.is_empty())
        .collect();
    let shown = |argument: String| {
        // Options are written in several ways, all of which end with the value.
        let mut own = secrets.iter();
        let own = own.find_map(|secret| argument.trim_end().strip_suffix(secret));
        own.map(|before| format!("{before}{HIDDEN}"))
            .unwrap_or(argument)
    };
    without_contents(arguments).into_iter().map(shown).collect()
}

/// The arguments without bodies and without the values of a form's fields.
fn without_contents(arguments: Vec<String>) -> Vec<String> {
    let mut before = String::new();
    let shown = |argument: String| {
        let of_form = |field: &str| match field.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
        let shown = if ["-b", "--body"].contains(&before.as_str()) {
            HIDDEN.to_owned()
        } else if before == "--form" {
            of_form(&argument)
        } else if let Some(field) = argument.strip_prefix("--form=") {
            format!("--form={}", of_form(field))
        } else if argument.starts_with("--body=") {
            format!("--body={HIDDEN}")
        } else if argument.starts_with("-b") && argument.len() > 2 {
            format!("-b{HIDDEN}")
        } else {
            argument.clone()
        };
        before = argument;
        shown
    };
    arguments.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_of_writing_an_option_shows_its_secret() {
        let request = RequestArgs {
            user: Some("ann:s3cret".to_owned()),
            headers: vec![
                ("X-Token".to_owned(), "s3cret 2".to_owned()),
                ("Accept".to_owned(), "text/html".to_owned()),
            ],
            ..RequestArgs::default()
        };
        let typed = [
            "--user",
            "ann:s3cret",
            "--user=ann:s3cret",
            "-H",
            "X-Token: s3cret 2",
            "-HX-Token:s3cret 2 ",
            "--header=Accept: text/html",
            "-b",
            "s3cret",
            "--body=s3cret",
            "-bs3cret",
            "--body-file",
            "a.json",
            "--form",
            "pin=s3cret",
            "--form=pin=s3cret",
        ];
        let shown = without_secrets(typed.map(str::to_owned).into(), &request);
        let expected = [
            "--user",
            "…",
            "--user=…",
            "-H",
            "X-Token: …",
            "-HX-Token:…",
            "--header=Accept: text/html",
            "-b",
            "…",
            "--body=…",
            "-b…",
            "--body-file",
            "a.json",
            "--form",
            "pin=…",
            "--form=pin=…",
        ];
        assert_eq!(shown, expected);
    }
}
