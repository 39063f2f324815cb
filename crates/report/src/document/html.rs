//! A document as one HTML file that needs no network.

use minijinja::{Value, context, value::Serde};

use super::Document;
use crate::{
    ReportError,
    html::{environment, shell::Shell},
};

const TEMPLATE: &str = include_str!("document.html.j2");
const STYLE: &str = concat!(
    include_str!("../html/style.css"),
    include_str!("document.css")
);

impl Document {
    /// The document as a page.
    ///
    /// # Errors
    /// When the template does not fit the document.
    pub fn html(&self) -> Result<String, ReportError> {
        let shell = Shell::without_library(Vec::new());
        let page = environment(&[("document.html", TEMPLATE)], false)?
            .get_template("document.html")?
            .render(context! {
                document => Value::from(Serde(self)),
                style => Value::from_safe_string(STYLE.to_owned()),
                shell => shell.context(),
            })?;
        Ok(shell.weighed(page))
    }
}

#[cfg(test)]
mod tests {
    use crate::document::tests::hostile;

    #[test]
    fn nothing_from_outside_is_an_element() {
        let page = hostile().html().unwrap();
        for part in [
            "<title>A &lt;i&gt;headline&lt;&#x2f;i&gt;\\u{202e}</title>",
            "<header class=\"answer doubtful\">",
            "<p>A paragraph &amp; more.</p>",
            "<p class=\"soft\">An [aside](javascript:x).</p>",
            "<li>&lt;&#x2f;main&gt;</li>",
            "<h2>A `title`</h2>",
            "<tr><th scope=\"row\" class=\"text\">&lt;b&gt;|\\u{1b}[31m</th><td>1,000</td></tr>",
            "<tr><td class=\"wrap\" colspan=\"2\">! *bold* @someone</td></tr>",
            "<li>one\\ntwo</li>",
            "<dt>&quot;name&quot;</dt><dd>&lt;value&gt;</dd>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 0, "no plot, no script");
        assert!(page.contains("This page weighs"), "{page}");
    }
}
