//! JSON values compared as values: numbers by what they are, not by how they are written.

use serde_json::{Number, Value};

/// The longest value or place, in characters, that a description shows whole.
const LONGEST: usize = 60;

/// Whether two values are equal. 10, 10.0 and 1e1 are the same number (RFC 8259 §6).
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => is_same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|found| is_same(value, found)))
        }
        (one, other) => one == other,
    }
}

fn is_same_number(one: &Number, other: &Number) -> bool {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// A number without a fraction, exactly; `None`: it has one, or is beyond 128 bits.
fn whole(number: &Number) -> Option<i128> {
    let integer = number.as_i64().map(i128::from);
    integer
        .or_else(|| number.as_u64().map(i128::from))
        .or_else(|| {
            let float = number.as_f64()?;
            // Each such number is an integer that 128 bits have room for, which the conversion keeps exactly.
            (float.fract() == 0.0 && float.abs() < 2f64.powi(126)).then_some(float as i128)
        })
}

/// "at /price: expected 10, found 12.5": the first place below `place` at which `found` is not `expected`.
pub(super) fn difference(place: &str, expected: &Value, found: Option<&Value>) -> Option<String> {
    let Some(found) = found else {
        return Some(format!(
            "{}: expected {}, found nothing",
            at(place),
            shown(expected)
        ));
    };
    match (expected, found) {
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(index, (expected, found))| {
                difference(&format!("{place}/{index}"), expected, Some(found))
            })
        }
        (Value::Array(expected), Value::Array(found)) => Some(format!(
            "{}: expected an array of length {}, found one of length {}",
            at(place),
            expected.len(),
            found.len()
        )),
        (Value::Object(expected), Value::Object(found)) => {
            let mut members = expected.iter();
            let differs = members
                .find_map(|(name, value)| difference(&below(place, name), value, found.get(name)));
            differs.or_else(|| {
                let name = found.keys().find(|name| !expected.contains_key(*name))?;
                Some(format!(
                    "{}: expected nothing there",
                    at(&below(place, name))
                ))
            })
        }
        (expected, found) if is_same(expected, found) => None,
        (expected, found) => Some(format!(
            "{}: expected {}, found {}",
            at(place),
            shown(expected),
            shown(found)
        )),
    }
}

fn at(place: &str) -> String {
    match place {
        "" => "in the whole value".to_owned(),
        place => format!("at {}", bounded(place)),
    }
}

/// A member's place, escaped as RFC 6901 asks for.
fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn shown(value: &Value) -> String {
    bounded(&value.to_string())
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
