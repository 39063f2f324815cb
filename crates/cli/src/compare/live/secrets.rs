//! The arguments of a comparison as they may be recorded.

use deadheat_runner::secret::{HIDDEN, header_value};

use crate::load::args::RequestArgs;

/// These arguments without a password of `--user`, and without the values of headers that a load does not record either.
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
        ];
        assert_eq!(shown, expected);
    }
}
