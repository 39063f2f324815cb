//! What a user types may hold a password; what is shown and recorded must not.

/// An argument as it may be recorded and shown: of a URL only the scheme, because a password can stand in several places
/// of it.
pub fn without_password(argument: &str) -> String {
    match argument.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://…"),
        None => argument.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_only_the_scheme_is_left() {
        let cases = [
            ("postgres://me:secret@host:1/db", "postgres://…"),
            (
                "--postgres=postgresql://host/db?password=s@cret",
                "--postgres=postgresql://…",
            ),
            ("--stack", "--stack"),
            ("hash:*", "hash:*"),
        ];
        for (typed, recorded) in cases {
            assert_eq!(without_password(typed), recorded);
        }
    }
}
