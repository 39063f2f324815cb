use std::io::Read;

use flate2::{Compression, bufread::GzEncoder};
use serde_json::json;

use super::*;

#[test]
fn a_compressed_body_is_judged_by_what_is_in_it() {
    let compressed = |text: &str, level| {
        let mut bytes = Vec::new();
        let mut encoder = GzEncoder::new(text.as_bytes(), level);
        encoder.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let value = json!({ "name": "Lamp", "price": 7 });
    let content = Content::Gzip {
        content: Box::new(Content::Json { value }),
    };
    for level in [
        Compression::none(),
        Compression::fast(),
        Compression::best(),
    ] {
        let body = compressed(r#"{"price": 7, "name": "Lamp"}"#, level);
        assert!(content.matches(&body));
        assert!(!content.matches(&body[..body.len() - 1]), "cut off");
        assert!(!content.matches(&[&body[..], b"x"].concat()), "with more");
    }
    let other = compressed(r#"{"price": 8, "name": "Lamp"}"#, Compression::fast());
    assert!(!content.matches(&other));
    let difference = content.json_difference(&other).unwrap();
    assert!(difference.contains("price"), "{difference}");
    let plain = r#"{"price": 7, "name": "Lamp"}"#.as_bytes();
    assert!(!content.matches(plain));
    assert_eq!(
        content.json_difference(plain).unwrap(),
        "the body is not compressed by gzip"
    );
    assert_eq!(content.length(), None);
}

#[test]
fn what_is_written_is_read_and_written_again() {
    for text in ["200", "2xx", "200-204", "2xx,304", "100-199"] {
        let set: StatusSet = text.parse().unwrap();
        let shown = if text == "100-199" { "1xx" } else { text };
        assert_eq!(set.to_string(), shown);
    }
    let set: StatusSet = " 2xx , 304-305 ".parse().unwrap();
    let inside = [200, 299, 304, 305];
    let outside = [100, 199, 300, 303, 306, 500];
    assert!(inside.iter().all(|status| set.contains(*status)));
    assert!(!outside.iter().any(|status| set.contains(*status)));
}

#[test]
fn what_is_no_status_is_refused() {
    for text in [
        "", "20", "2000", "099", "0xx", "axx", "10xx", "204-200", "200,", "200-", "+20",
    ] {
        let error = text.parse::<StatusSet>().unwrap_err().to_string();
        assert!(error.contains("is not a status"), "{text:?}: {error}");
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn numbers_are_equal_if_their_values_are() {
    for (one, other) in [
        ("10", "10.0"),
        ("10", "1e1"),
        ("100", "1E+2"),
        ("-0", "0"),
        ("0.1", "1e-1"),
        ("1e300", "10e299"),
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551615", "18446744073709551615"),
        ("[1,{\"a\":2.0}]", "[1.0,{\"a\":2}]"),
    ] {
        assert!(is_same(&value(one), &value(other)), "{one} {other}");
        assert!(is_same(&value(other), &value(one)), "{other} {one}");
        assert_eq!(difference("", &value(one), Some(&value(other))), None);
    }
    for (one, other) in [
        ("10", "10.5"),
        ("10", "-10"),
        ("9007199254740993", "9007199254740992"),
        ("9007199254740993", "9007199254740992.0"),
        ("18446744073709551615", "18446744073709551616.0"),
        ("10", "\"10\""),
        ("0", "false"),
        ("[1]", "[1,1]"),
        ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
    ] {
        assert!(!is_same(&value(one), &value(other)), "{one} {other}");
        assert!(!is_same(&value(other), &value(one)), "{other} {one}");
        assert!(difference("", &value(one), Some(&value(other))).is_some());
        assert!(difference("", &value(other), Some(&value(one))).is_some());
    }
}

#[test]
fn a_difference_has_its_place_and_both_values() {
    let long = format!("\"{}\"", "x".repeat(1_000));
    for (expected, found, said) in [
        ("10", "12.5", "at /price: expected 10, found 12.5"),
        ("[1,2]", "[1,3]", "at /price/1: expected 2, found 3"),
        (
            "[1]",
            "[]",
            "at /price: expected an array of length 1, found one of length 0",
        ),
        (
            "{\"a\":{\"b/~\":1}}",
            "{\"a\":{}}",
            "at /price/a/b~1~0: expected 1, found nothing",
        ),
        ("{}", "{\"a\":1}", "at /price/a: expected nothing there"),
        ("1", "null", "at /price: expected 1, found null"),
    ] {
        let found = value(found);
        let said = Some(said.to_owned());
        assert_eq!(difference("/price", &value(expected), Some(&found)), said);
    }
    let said = difference("", &value("1"), Some(&value(&long))).unwrap();
    assert!(said.starts_with("in the whole value: expected 1, found \"xxx"));
    assert!(said.len() < 120 && said.ends_with('…'), "{said}");
}

#[test]
fn records_are_judged_by_their_number_and_their_members() {
    let records = |count| Content::Records {
        count,
        members: vec!["id".to_owned(), "randomNumber".to_owned()],
        most: 10_000,
    };
    let (one, two) = (records(None), records(Some(2)));
    for (content, body, problem) in [
        (&one, r#"{"id":1,"randomNumber":10000}"#, None),
        (&one, r#"{"ID":1,"randomnumber":7,"more":0}"#, None),
        (
            &one,
            r#"[{"id":1,"randomNumber":7}]"#,
            Some("`id` is not a number"),
        ),
        (
            &one,
            r#"{"id":1,"randomNumber":10001}"#,
            Some("`randomNumber`"),
        ),
        (&one, r#"{"id":0,"randomNumber":1}"#, Some("`id`")),
        (&one, r#"{"id":"1","randomNumber":1}"#, Some("`id`")),
        (&one, "{", Some("not JSON")),
        (
            &two,
            r#"[{"id":1,"randomNumber":7},{"id":1,"randomNumber":7}]"#,
            None,
        ),
        (
            &two,
            r#"[{"id":1,"randomNumber":7}]"#,
            Some("1 objects instead of 2"),
        ),
        (
            &two,
            r#"[{"id":1,"randomNumber":7},{"id":1}]"#,
            Some("`randomNumber`"),
        ),
        (&two, r#"{"id":1,"randomNumber":7}"#, Some("not an array")),
    ] {
        let difference = content.json_difference(body.as_bytes());
        assert_eq!(
            content.matches(body.as_bytes()),
            problem.is_none(),
            "{body}"
        );
        assert_eq!(difference.is_some(), problem.is_some(), "{body}");
        let difference = difference.unwrap_or_default();
        assert!(difference.contains(problem.unwrap_or("")), "{difference}");
    }
}
