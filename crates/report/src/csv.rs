//! Tables as comma-separated values (RFC 4180).

use std::borrow::Cow;

/// A table as it is written.
pub(crate) struct Table(::csv::Writer<Vec<u8>>);

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut settings = ::csv::WriterBuilder::new();
        settings.terminator(::csv::Terminator::CRLF);
        let mut table = Self(settings.from_writer(Vec::new()));
        table.write(columns);
        table
    }

    /// Adds a row, which has as many fields as there are columns. No field is a formula.
    pub(crate) fn write(&mut self, fields: &[&str]) {
        let fields = fields.iter().map(|field| harmless(field));
        self.0
            .write_record(fields.map(Cow::into_owned))
            .expect("every row has as many fields, and memory takes them");
    }

    /// The whole table.
    pub(crate) fn end(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes any length");
        String::from_utf8(bytes).expect("made of text")
    }
}

/// A field that no spreadsheet takes for a formula: an apostrophe stands before a text that begins like one.
fn harmless(field: &str) -> Cow<'_, str> {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if field.starts_with(begins) && field.parse::<f64>().is_err() {
        Cow::Owned(format!("'{field}"))
    } else {
        Cow::Borrowed(field)
    }
}

/// The shortest decimal number that is read back as the same value; never with an exponent.
pub(crate) fn number(value: f64) -> String {
    // What `Display` of a float promises.
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::{Table, number};

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        let mut table = Table::new(&["a", "b"]);
        for text in ["=1+1", "+x", "-2+3", "@SUM(A1)", "\t=1", "＝1"] {
            table.write(&[text, "-0.25"]);
        }
        table.write(&["a=1", "-"]);
        let text = table.end();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(
            rows,
            [
                "a,b",
                "'=1+1,-0.25",
                "'+x,-0.25",
                "'-2+3,-0.25",
                "'@SUM(A1),-0.25",
                "'\t=1,-0.25",
                "'＝1,-0.25",
                "a=1,'-"
            ]
        );
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
            assert_eq!(number(value), text);
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
        }
    }
}
