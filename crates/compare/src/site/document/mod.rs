//! The files of the site: data, pages, badges, and the feed.

mod badges;
mod feed;
mod stack_page;

use std::{collections::BTreeMap, path::Path};

use deadheat_document::{
    html::environment,
    json::{Body, ReportError, compact_json},
    view::clean,
};
use deadheat_model::TargetId;
use minijinja::{Environment, Value, context, value::Serde};

pub use self::badges::Badges;
use super::analysis::{
    AddedSession, Site,
    types::{SiteComparison, SiteIndex, SitePairs, SiteSession, SiteTimeline},
};

impl Body for SiteIndex {
    const FORMAT: &'static str = "deadheat-site";
    const SCHEMA: u32 = 1;
}

impl Body for SiteSession {
    const FORMAT: &'static str = "deadheat-site-session";
    const SCHEMA: u32 = 1;
}

impl Body for SitePairs {
    const FORMAT: &'static str = "deadheat-site-pairs";
    const SCHEMA: u32 = 2;
}

impl Body for SiteTimeline {
    const FORMAT: &'static str = "deadheat-site-timeline";
    const SCHEMA: u32 = 1;
}

impl Body for SiteComparison {
    const FORMAT: &'static str = "deadheat-site-comparison";
    const SCHEMA: u32 = 2;
}

/// The script of all pages.
const SCRIPT: &str = include_str!("../assets/site.js");
/// The style of all pages.
const STYLE: &str = include_str!("../assets/site.css");
const TEMPLATES: [(&str, &str); 7] = [
    ("shell.html", include_str!("../assets/shell.html.j2")),
    ("index.html", include_str!("../assets/index.html.j2")),
    ("compare.html", include_str!("../assets/compare.html.j2")),
    ("timeline.html", include_str!("../assets/timeline.html.j2")),
    ("data.html", include_str!("../assets/data.html.j2")),
    ("stack.html", include_str!("../assets/stack.html.j2")),
    ("feed.xml", include_str!("../assets/feed.xml.j2")),
];

/// A file of the site.
pub struct SiteFile {
    /// Its path in the site.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl SiteFile {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}

/// The data of a session: itself, and the pairs of each load.
///
/// # Errors
/// When a figure cannot be written.
pub fn session_files(folder: &str, added: &AddedSession) -> Result<Vec<SiteFile>, ReportError> {
    let mut files = data(&format!("data/{folder}/session"), &added.session)?;
    for (index, pairs) in added.pairs.iter().enumerate() {
        files.extend(data(&format!("data/{folder}/pairs-{index}"), pairs)?);
    }
    Ok(files)
}

/// Data as JSON, for programs, and as a script that hands it to a page: a page that is opened from a file can read no other
/// file.
fn data<T: Body>(path: &str, body: &T) -> Result<Vec<SiteFile>, ReportError> {
    let json = compact_json(body)?;
    let name = path.strip_prefix("data/").unwrap_or(path);
    let script = format!("deadheat.data(\"{name}\", {json});\n");
    Ok(vec![
        SiteFile::new(format!("{path}.js"), script),
        SiteFile::new(format!("{path}.json"), json + "\n"),
    ])
}

/// The pages.
#[derive(Default)]
pub struct Pages {
    sessions: Vec<SiteSession>,
    /// Folders whose sessions are not on the site, each with the reason.
    skipped: Vec<(String, String)>,
}

impl Pages {
    /// Adds the next session.
    pub fn add(&mut self, session: SiteSession) {
        self.sessions.push(session);
    }

    /// Adds a folder whose session is not on the site. Of its path, only the name is published.
    pub fn skip(&mut self, folder: &Path, reason: &str) {
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        let name = clean(&name.to_string_lossy());
        self.skipped.push((name, reason.to_owned()));
    }

    /// The number of these folders.
    pub fn skipped(&self) -> usize {
        self.skipped.len()
    }

    /// Every page, with the data that is of no single session.
    ///
    /// # Errors
    /// When a figure cannot be written.
    pub fn files(
        &self,
        site: &Site,
        reference: Option<&TargetId>,
    ) -> Result<Vec<SiteFile>, ReportError> {
        let index = site.index(reference);
        let timelines = site.timelines(index.reference.as_ref());
        let mut files = data("data/index", &index)?;
        files.push(SiteFile::new("site.js", SCRIPT));
        files.push(SiteFile::new("site.css", STYLE));
        for timeline in &timelines {
            let path = format!("data/stacks/{}", site.file(&timeline.target));
            files.extend(data(&path, timeline)?);
        }
        for ([a, b], comparison) in site.comparisons() {
            files.extend(data(&format!("data/comparisons/{a}-{b}"), comparison)?);
        }
        files.extend(self.pages(site, &index, &timelines)?);
        Ok(files)
    }

    fn pages(
        &self,
        site: &Site,
        index: &SiteIndex,
        timelines: &[SiteTimeline],
    ) -> Result<Vec<SiteFile>, ReportError> {
        let mut templates = environment(&TEMPLATES, true)?;
        templates.add_filter("fragment", fragment);
        let mut files = Vec::new();
        let titles = [
            ("index.html", "Which stack is faster"),
            ("compare.html", "A against B"),
            ("timeline.html", "Timeline"),
        ];
        for (name, title) in titles {
            let context = context! { title, page => name, root => "" };
            files.push(page(&templates, name, name, context)?);
        }
        let sessions: Vec<Value> = self
            .sessions
            .iter()
            .zip(&index.sessions)
            .rev()
            .map(|(session, indexed)| {
                context! {
                    session => Value::from(Serde(session)),
                    indexed => Value::from(Serde(indexed)),
                    lacking => Value::from(Serde(&lacking(session))),
                }
            })
            .collect();
        let stacks = index.stacks.iter();
        let stacks: BTreeMap<String, &String> = stacks
            .map(|one| (one.target.to_string(), &one.file))
            .collect();
        let files_of = Value::from(Serde(&stacks));
        let skipped = Value::from(Serde(&self.skipped));
        let context = context! { title => "Data", page => "data.html", root => "", sessions, skipped, files => files_of };
        files.push(page(&templates, "data.html", "data.html", context)?);
        for timeline in timelines {
            let path = format!("stacks/{}.html", site.file(&timeline.target));
            let context = stack_page::context(&self.sessions, site, index, timeline);
            files.push(page(&templates, "stack.html", &path, context)?);
        }
        let context = feed::context(site, index, timelines);
        files.push(page(&templates, "feed.xml", "feed.atom", context)?);
        Ok(files)
    }
}

/// Text as a value after the # of an address.
fn fragment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:@,/".contains(&byte);
    text.bytes()
        .map(|byte| match byte {
            byte if plain(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

fn page(
    templates: &Environment<'_>,
    template: &str,
    path: &str,
    context: Value,
) -> Result<SiteFile, ReportError> {
    let text = templates.get_template(template)?.render(context)?;
    Ok(SiteFile::new(path, text))
}

/// Stacks without a figure, each with the load that it lacks, if it lacks one alone, and the reason.
fn lacking(session: &SiteSession) -> Vec<(String, String, String)> {
    let all = session.absent.iter().map(|one| (one, String::new()));
    let loads = session.loads.iter();
    let some = loads.flat_map(|load| load.absent.iter().map(|one| (one, load.label.clone())));
    all.chain(some)
        .map(|(absent, load)| (absent.target.to_string(), load, clean(&absent.reason)))
        .collect()
}
