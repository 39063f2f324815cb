//! A document as one HTML file that needs no network.

use minijinja::{Value, context, value::Serde};

use crate::{
    Block, Document,
    html::{Bar, DATA, LIVE_TEMPLATE as LIVE, Shell, environment},
    json::ReportError,
    plot,
};

const TEMPLATE: &str = include_str!("../document.html.j2");
const STYLE: &str = concat!(
    include_str!("../html/style.css"),
    include_str!("../document.css")
);
/// What saves the data, and plots.
const SAVING: &str = include_str!("../html/saving.js");

const SORTING: &str = include_str!("../sorting.js");

/// What a page has besides the document.
pub struct Frame<'a> {
    /// How names of files that are saved from the page begin.
    pub name: &'a str,
    /// Where the figures come from, for a picture that is saved.
    pub origin: &'a str,
    /// Style and script of the document's drawings.
    pub style: &'a str,
    /// Their script.
    pub script: &'a str,
    /// The bar of a page that reloads itself.
    pub live: Option<&'a Bar>,
    /// The data.
    pub shell: Shell<'a>,
}

impl<'a> Frame<'a> {
    /// A frame without drawings.
    pub fn new(name: &'a str, shell: Shell<'a>) -> Self {
        Self {
            name,
            origin: "",
            style: "",
            script: "",
            live: None,
            shell,
        }
    }
}

impl Document {
    /// The document as a page without data.
    ///
    /// # Errors
    /// When the template does not fit the document.
    pub fn html(&self) -> Result<String, ReportError> {
        self.html_in(&Frame::new("deadheat", Shell::new(Vec::new())))
    }

    /// The document in a page.
    pub fn html_in(&self, frame: &Frame<'_>) -> Result<String, ReportError> {
        let (has_plots, has_data) = (self.has_plots(), frame.shell.has_data());
        let scripts = [
            (has_plots || has_data, SAVING),
            (has_plots, plot::SCRIPT),
            (self.is_sorted(), SORTING),
            (true, frame.script),
        ];
        let scripts = scripts.into_iter().filter(|(is_used, _)| *is_used);
        let script: String = scripts.map(|(_, script)| script).collect();
        let plots = if has_plots { plot::STYLE } else { "" };
        let page = environment(&[("document.html", TEMPLATE), DATA, LIVE], false)?
            .get_template("document.html")?
            .render(context! {
                document => Value::from(Serde(self)),
                name => frame.name,
                origin => frame.origin,
                style => Value::from_safe_string([STYLE, plots, frame.style].concat()),
                script => Value::from_safe_string(script),
                live => frame.live.map(Bar::context),
                shell => frame.shell.context(),
            })?;
        Ok(frame.shell.weighed(page))
    }

    /// Whether a page can sort any of its tables.
    fn is_sorted(&self) -> bool {
        let mut blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.any(|block| match block {
            Block::Table(table) => table.columns.iter().any(|one| !one.order.is_empty()),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::hostile;

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
            "<pre tabindex=\"0\">make &lt;&#x2f;pre&gt;</pre>",
            "<dt>&quot;name&quot;</dt><dd>&lt;value&gt;</dd>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 0, "no plot, no script");
        assert!(page.contains("This page weighs"), "{page}");
    }
}
