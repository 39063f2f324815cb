//! What all pages have in common: the policy, the data, and the page's weight.

use deadheat_model::figure::bytes;
use minijinja::{Value, context, value::Serde};

use super::{data::DataFile, page_size};

/// The template of the section with the data.
pub(crate) const DATA: (&str, &str) = ("data.html", include_str!("templates/data.html.j2"));
/// The content security policy of a page: it loads nothing from outside.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// What stands around a report.
pub struct Shell<'a> {
    data: Vec<DataFile<'a>>,
}

impl<'a> Shell<'a> {
    /// The shell of a page with these files in it.
    pub fn new(data: Vec<DataFile<'a>>) -> Self {
        Self { data }
    }

    /// Whether the page has files to save.
    pub(crate) fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// What the templates call `shell`.
    pub(crate) fn context(&self) -> Value {
        context! {
            policy => Value::from_safe_string(POLICY.to_owned()),
            data => Value::from(Serde(&self.data)),
            weight => Value::from_safe_string(page_size::PLACE.to_owned()),
        }
    }

    /// The page with what it says about its own weight.
    pub(crate) fn weighed(&self, page: String) -> String {
        let size = |length: usize| bytes(length as f64);
        let data: usize = self.data.iter().map(DataFile::weight).sum();
        let data = match data {
            0 => String::new(),
            data => format!(", of which {} are the data", size(data)),
        };
        page_size::weighed(&page, |length| {
            format!(
                "This page weighs {}{data}. It needs nothing else.",
                size(length)
            )
        })
    }
}
