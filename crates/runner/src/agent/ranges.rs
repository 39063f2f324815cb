//! What is checked of any message before it is read: that no number is so large that sums of it overflow, and that no text
//! is longer than those of its kind. Nothing of the message is kept meanwhile.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The largest number: thousands of them still have a sum.
pub(super) const LARGEST: u64 = 1 << 53;

/// Checks all values of a message in JSON.
///
/// # Errors
/// The first value that is out of range, or that this is no JSON.
pub(super) fn check(json: &[u8], longest_text: usize) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let checked = Checked { longest_text };
    checked
        .deserialize(&mut reader)
        .map_err(|error| error.to_string())
}

/// A value that is looked at and forgotten.
#[derive(Clone, Copy)]
struct Checked {
    longest_text: usize,
}

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        if number > LARGEST {
            return Err(E::custom(format!("the number {number} is too large")));
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_u64(number.unsigned_abs())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if number.abs() > LARGEST as f64 {
            return Err(E::custom(format!("the number {number:e} is too large")));
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text.len() > self.longest_text {
            let bytes = text.len();
            return Err(E::custom(format!("a text of {bytes} bytes is too long")));
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_key_seed(self)?.is_some() {
            entries.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_found_wherever_they_are() {
        let fine = r#"{"a":[1,-2,0.5,null,true,"text"],"b":{"c":9007199254740992}}"#;
        check(fine.as_bytes(), 4).unwrap();
        for (wrong, why) in [
            ("[9007199254740993]", "too large"),
            ("{\"a\":{\"b\":18446744073709551615}}", "too large"),
            ("-9007199254740993", "too large"),
            ("[1e19]", "too large"),
            ("1e999", "out of range"),
            ("[\"texts\"]", "too long"),
            ("{\"texts\":1}", "too long"),
            ("[1", "EOF"),
            (&"[".repeat(100_000), "recursion"),
        ] {
            let error = check(wrong.as_bytes(), 4).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
