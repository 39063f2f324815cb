//! A document as one HTML file that needs no network.

use minijinja::{Value, context, value::Serde};

use super::Document;
use crate::{
    ReportError,
    html::{
        environment,
        shell::{DATA, Shell},
    },
    plot,
};

const TEMPLATE: &str = include_str!("document.html.j2");
const STYLE: &str = concat!(
    include_str!("../html/style.css"),
    include_str!("document.css")
);
/// What saves the data, and plots.
const SAVING: &str = include_str!("../html/saving.js");

/// What a page has besides the document.
pub(crate) struct Frame<'a> {
    /// How names of files that are saved from the page begin.
    pub(crate) name: &'a str,
    /// Where the figures come from, for a picture that is saved.
    pub(crate) origin: &'a str,
    /// The data.
    pub(crate) shell: Shell<'a>,
}

impl Document {
    /// The document as a page without data.
    ///
    /// # Errors
    /// When the template does not fit the document.
    pub fn html(&self) -> Result<String, ReportError> {
        self.html_in(&Frame {
            name: "deadheat",
            origin: "",
            shell: Shell::new(Vec::new()),
        })
    }

    /// The document in a page.
    pub(crate) fn html_in(&self, frame: &Frame<'_>) -> Result<String, ReportError> {
        let has_plots = self.has_plots();
        let style = if has_plots { plot::STYLE } else { "" };
        let script = match (has_plots, frame.shell.has_data()) {
            (true, _) => format!("{SAVING}{}", plot::SCRIPT),
            (false, true) => SAVING.to_owned(),
            (false, false) => String::new(),
        };
        let page = environment(&[("document.html", TEMPLATE), DATA], false)?
            .get_template("document.html")?
            .render(context! {
                document => Value::from(Serde(self)),
                name => frame.name,
                origin => frame.origin,
                style => Value::from_safe_string(format!("{STYLE}{style}")),
                script => Value::from_safe_string(script),
                shell => frame.shell.context(),
            })?;
        Ok(frame.shell.weighed(page))
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
            "<h2 class=\"plain\">A `title`</h2>",
            "<tr><th scope=\"row\" class=\"text\">&lt;b&gt;|\\u{1b}[31m</th><td>1,000</td></tr>",
            "<tr><td class=\"wrap\" colspan=\"2\">! *bold* @someone</td></tr>",
            "<tr><td class=\"wrap\" colspan=\"2\"><code>make &lt;b&gt;</code></td></tr>",
            "<li>one\\ntwo</li>",
            "<pre>make &lt;&#x2f;pre&gt;</pre>",
            "<dt>&quot;name&quot;</dt><dd>&lt;value&gt;</dd>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 0, "no plot, no script");
        assert!(page.contains("This page weighs"), "{page}");
    }
}
