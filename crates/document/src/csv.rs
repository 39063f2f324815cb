//! Tables as comma-separated values (RFC 4180), from types whose fields are the columns.

use std::{borrow::Cow, fmt};

use ::csv::{Terminator, WriterBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The header line: the fields of `R`, then the columns `more`.
pub fn head<R: Serialize + Default>(more: impl IntoIterator<Item = String>) -> String {
    let head_and_row = written(&R::default(), true);
    let head = head_and_row.lines().next().unwrap_or_default();
    let names = head.split(',').map(str::to_owned).chain(more);
    line(&names.map(Text).collect::<Vec<_>>())
}

/// A row as a line. Rows in lists and tuples are joined to one line.
pub fn line(row: &impl Serialize) -> String {
    written(row, false)
}

fn written(row: &impl Serialize, has_headers: bool) -> String {
    let mut settings = WriterBuilder::new();
    settings
        .terminator(Terminator::CRLF)
        .has_headers(has_headers);
    let mut writer = settings.from_writer(Vec::new());
    writer
        .serialize(row)
        .expect("rows have plain fields, and memory takes them");
    let bytes = writer.into_inner().expect("memory takes any length");
    String::from_utf8(bytes).expect("made of text")
}

/// A text that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe before it.
#[derive(Clone, Debug, Default)]
pub struct Text(String);

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&harmless(&self.0))
    }
}

fn harmless(field: &str) -> Cow<'_, str> {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if field.starts_with(begins) && field.parse::<f64>().is_err() {
        Cow::Owned(format!("'{field}"))
    } else {
        Cow::Borrowed(field)
    }
}

/// The shortest decimal number that is read back as the same value; never with an exponent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Number(f64);

impl Number {
    /// `None` if the value is infinite or NaN.
    pub fn finite(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value))
    }

    /// A number to nine decimal places: seconds to the nanosecond.
    pub fn to_nanoseconds(value: f64) -> Self {
        Self((value * 1e9).round() / 1e9)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The shortest number without an exponent is what `Display` of a float promises.
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! plain_schema {
    ($($type:ident = $kind:literal),*) => {
        $(impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $kind })
            }
        })*
    };
}

plain_schema!(Text = "string", Number = "number");

#[cfg(test)]
mod tests {
    use super::{Number, Text, head, line};

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        for (text, expected) in [
            ("=1+1", "'=1+1,-0.25\r\n"),
            ("+x", "'+x,-0.25\r\n"),
            ("-2+3", "'-2+3,-0.25\r\n"),
            ("@SUM(A1)", "'@SUM(A1),-0.25\r\n"),
            ("\t=1", "'\t=1,-0.25\r\n"),
            ("＝1", "'＝1,-0.25\r\n"),
            ("a=1", "a=1,-0.25\r\n"),
            ("-", "'-,-0.25\r\n"),
            ("-7", "-7,-0.25\r\n"),
        ] {
            assert_eq!(line(&(Text::from(text), Number(-0.25))), expected);
        }
    }

    #[test]
    fn numbers_keep_all_digits_and_have_no_exponent() {
        for (value, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1.25e-9, "0.00000000125"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (35.0, "35"),
            (-0.25, "-0.25"),
        ] {
            assert_eq!(Number(value).to_string(), text);
            assert_eq!(text.parse::<f64>().unwrap(), value);
        }
        assert_eq!(Number::to_nanoseconds(0.1 + 0.2).to_string(), "0.3");
        assert!(Number::finite(f64::INFINITY).is_none());
    }

    #[test]
    fn columns_are_the_fields() {
        #[derive(Default, serde::Serialize)]
        pub struct CsvRow {
            first: Text,
            second: Option<u32>,
        }
        assert_eq!(head::<CsvRow>(["=x".to_owned()]), "first,second,'=x\r\n");
        assert_eq!(line(&(CsvRow::default(), [1, 2])), ",,1,2\r\n");
    }
}
