//! What makes an answer valid.

use deadheat_model::load::{Content, Expectation, StatusSet};
use deadheat_runner::files;

use crate::options::AnswerArgs;

/// What is expected of every answer.
pub(crate) fn expectation(args: &AnswerArgs) -> Result<Expectation, String> {
    let content = content(args)?;
    if let (Some(content), Some(length)) = (&content, args.expect_length)
        && let Some(own) = content.length()
        && own != length
    {
        return Err(format!(
            "--expect-length {length}: the expected body has {own} bytes; omit the length"
        ));
    }
    Ok(Expectation {
        status: args
            .expect_status
            .clone()
            .unwrap_or_else(StatusSet::success),
        // A body that is known has a known length, which every answer is held to, also where contents are sampled.
        length: args
            .expect_length
            .or_else(|| content.as_ref().and_then(Content::length)),
        content,
    })
}

fn content(args: &AnswerArgs) -> Result<Option<Content>, String> {
    if let Some(text) = &args.expect_body {
        let bytes = text.clone().into_bytes();
        return Ok(Some(Content::Exact { bytes }));
    }
    if let Some(path) = &args.expect_body_file {
        let bytes = files::read_typed(path, files::LONGEST_BODY)
            .map_err(|error| format!("--expect-body-file {}: {error}", path.display()))?;
        return Ok(Some(Content::Exact { bytes }));
    }
    if let Some(text) = &args.expect_contains {
        if text.is_empty() {
            return Err(
                "--expect-contains: every body contains the empty text; write a longer one"
                    .to_owned(),
            );
        }
        let bytes = text.clone().into_bytes();
        return Ok(Some(Content::Contains { bytes }));
    }
    args.expect_json.as_deref().map(json_at).transpose()
}

/// "/users/0/name="Ann"": a JSON pointer (RFC 6901) and a value.
fn json_at(text: &str) -> Result<Content, String> {
    let write = "write a pointer and a value, like '/users/0/name=\"Ann\"' or '/count=3'";
    let (pointer, value) = text
        .split_once('=')
        .ok_or_else(|| format!("--expect-json {text:?}: the = is missing; {write}"))?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(format!(
            "--expect-json: the pointer {pointer:?} does not begin with /; {write}"
        ));
    }
    let parsed = serde_json::from_str(value).map_err(|error| {
        format!("--expect-json: {value:?} is not JSON ({error}); put quotes around text, like '/name=\"Ann\"'")
    })?;
    if is_beyond_64_bits(value, &parsed) {
        return Err(format!(
            "--expect-json: {value} is beyond 64 bits, so it cannot be compared exactly; use --expect-contains"
        ));
    }
    Ok(Content::JsonAt {
        pointer: pointer.to_owned(),
        value: parsed,
    })
}

/// Whether an integer was read as the nearest floating-point number.
fn is_beyond_64_bits(text: &str, value: &serde_json::Value) -> bool {
    let digits = text.trim().trim_start_matches('-');
    value.is_f64() && digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        answer: AnswerArgs,
    }

    fn expected(args: &[&str]) -> Result<Expectation, String> {
        let typed = Typed::try_parse_from([&["load"], args].concat());
        expectation(&typed.map_err(|error| error.to_string())?.answer)
    }

    #[test]
    fn any_2xx_is_right_unless_told_otherwise() {
        let plain = expected(&[]).unwrap();
        assert_eq!(plain.status.to_string(), "2xx");
        assert_eq!((plain.length, plain.content), (None, None));
        let other = expected(&["--expect-status", "200,304", "--expect-length", "7"]).unwrap();
        assert_eq!(other.status.to_string(), "200,304");
        assert_eq!(other.length, Some(7));
        assert!(
            expected(&["--expect-status", "ok"])
                .unwrap_err()
                .contains("not a status")
        );
    }

    #[test]
    fn a_known_body_has_a_known_length() {
        let body = expected(&["--expect-body", "hé"]).unwrap();
        assert_eq!(body.length, Some(3));
        assert!(body.content.unwrap().matches("hé".as_bytes()));
        let error = expected(&["--expect-body", "abc", "--expect-length", "4"]).unwrap_err();
        assert!(error.contains("has 3 bytes"), "{error}");
        let contains = expected(&["--expect-contains", "b", "--expect-length", "4"]).unwrap();
        assert_eq!(contains.length, Some(4));
        assert!(contains.content.unwrap().matches(b"abc"));
        assert!(expected(&["--expect-contains", ""]).is_err());
        assert!(
            expected(&["--expect-body-file", "/no/such"])
                .unwrap_err()
                .contains("/no/such")
        );
    }

    #[test]
    fn json_is_a_pointer_and_a_value() {
        let cases = [
            (r#"/a/0="x=y""#, "/a/0", json!("x=y")),
            ("/a=3", "/a", json!(3)),
            (r#"={"a":[]}"#, "", json!({"a": []})),
            ("/a=null", "/a", json!(null)),
        ];
        for (text, pointer, value) in cases {
            let pointer = pointer.to_owned();
            assert_eq!(
                json_at(text),
                Ok(Content::JsonAt { pointer, value }),
                "{text}"
            );
        }
        for (text, expected) in [
            ("/a", "the = is missing"),
            ("a=3", "begin with /"),
            ("/a=Ann", "put quotes"),
            ("/a=", "not JSON"),
            ("/a=18446744073709551616", "beyond 64 bits"),
            ("/a=-9223372036854775809", "beyond 64 bits"),
        ] {
            let error = json_at(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
