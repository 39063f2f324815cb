//! `deadheat site`: a folder of static pages from any number of sessions.

pub mod analysis;
pub mod document;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use clap::Args;
use deadheat_document::json::ReportError;
use deadheat_model::{TargetId, figure::counted, heats::SessionRecord};
use deadheat_runner::{
    files,
    session::{
        HEADER_FILE,
        heats::{read_header, read_session},
    },
};
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    output,
    session_folders::{SessionFolder, session, sessions},
};

use self::{
    analysis::Site,
    document::{Badges, Pages, SiteFile},
};

/// What `deadheat site` is asked to do.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// Sessions, or folders of sessions
    #[arg(value_name = "FOLDER", default_value = "results")]
    pub(crate) folders: Vec<PathBuf>,
    /// The folder to write the site to
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) site: PathBuf,
    /// The stack that timelines are drawn relative to [default: the one that was measured most often]
    #[arg(long, value_name = "STACK")]
    pub(crate) reference: Option<String>,
}

impl SiteArgs {
    /// The site of these folders in this one.
    pub fn new(folders: Vec<PathBuf>, site: PathBuf) -> Self {
        Self {
            folders,
            site,
            reference: None,
        }
    }
}

/// Writes the site.
///
/// # Errors
/// When there is no session, or the site cannot be written.
pub fn site(args: &SiteArgs) -> Result<Exit, CommandFailure> {
    let folders = found(&args.folders)?;
    let reference = args.reference.as_deref();
    let reference = reference.map(|name| known(name, &folders)).transpose()?;
    let target = Target::new(&args.site, &folders)?;
    let mut site = Site::default();
    let mut pages = Pages::default();
    let mut badges = Badges::default();
    let mut read = Vec::new();
    let mut kept: BTreeMap<usize, Rc<SessionRecord>> = BTreeMap::new();
    for folder in &folders {
        let record = match read_session(folder) {
            Ok(record) => {
                let reason = match () {
                    () if record.header.comparison.is_some() => Some("a comparison of two sides"),
                    () if site.has(&record) => Some("the same session again"),
                    () => None,
                };
                if let Some(reason) = reason {
                    output::note(&format!("skipped {}: {reason}", folder.display()));
                    pages.skip(folder, reason);
                    continue;
                }
                Rc::new(record)
            }
            // One broken session does not hide the others.
            Err(error) => {
                output::warn(&format!("warning: {error}; skipped"));
                pages.skip(folder, "its files cannot be read");
                continue;
            }
        };
        let files = record_files(folder)?;
        let added = site.add(
            &record,
            files.iter().map(|(name, _)| name.clone()).collect(),
        );
        for before in &added.compared_with {
            if let Some(older) = kept.get(before) {
                site.compare((*before, older), (added.place, &record));
            }
        }
        kept.insert(added.place, record);
        let needed = site.needed();
        kept.retain(|place, _| needed.contains(place));
        if read.is_empty() {
            target.clear()?;
        }
        target.write(document::session_files(site.folder(added.place), &added))?;
        for (name, bytes) in files {
            let path = format!("records/{}/{name}", site.folder(added.place));
            target.write_bytes(&path, &bytes)?;
        }
        badges.add(&site, &added);
        pages.add(added.session);
        read.push(folder);
    }
    if site.is_empty() {
        return Err(CommandFailure::usage(
            "found no session that can be shown; `deadheat run` makes sessions in results/",
        ));
    }
    for (newest, older) in site.not_compared_with_newest() {
        let record = read_session(read[newest]).map_err(CommandFailure::usage)?;
        for place in older {
            let older = read_session(read[place]).map_err(CommandFailure::usage)?;
            site.compare((place, &older), (newest, &record));
        }
    }
    target.write(pages.files(&site, reference.as_ref()))?;
    target.write(badges.files())?;
    let skipped = match pages.skipped() {
        0 => String::new(),
        skipped => format!(", skipped {skipped}"),
    };
    output::note(&format!(
        "wrote {} to {}{skipped}: open index.html there",
        counted(site.len(), "session"),
        args.site.display()
    ));
    Ok(Exit::Fine)
}

/// The folders of sessions among these folders and in them, in the order of the sessions' time.
fn found(folders: &[PathBuf]) -> Result<Vec<PathBuf>, CommandFailure> {
    let mut all: Vec<SessionFolder> = Vec::new();
    for folder in folders {
        if folder.join(HEADER_FILE).is_file() {
            all.extend(session(folder.clone()));
            continue;
        }
        let inside = sessions(folder).map_err(|error| {
            let shown = folder.display();
            CommandFailure::usage(format!(
                "reading sessions in {shown}: {error}; name a session or a folder of sessions"
            ))
        })?;
        all.extend(inside);
    }
    all.sort();
    Ok(all.into_iter().map(|one| one.folder).collect())
}

/// The stack of this name, if a session was asked for it.
fn known(name: &str, folders: &[PathBuf]) -> Result<TargetId, CommandFailure> {
    let Ok(reference) = name.parse::<TargetId>();
    let has_it = |folder: &PathBuf| {
        read_header(folder).is_ok_and(|header| header.target(&reference).is_some())
    };
    if folders.iter().any(has_it) {
        return Ok(reference);
    }
    Err(CommandFailure::usage(format!(
        "--reference {name}: no session has this stack; name one as tables do, with its variant"
    )))
}

/// The most that is read of a file of records.
const LONGEST_RECORDS: u64 = 4 << 30;

/// The files of a session's records: names and contents.
fn record_files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, CommandFailure> {
    let mut records = Vec::new();
    for name in [HEADER_FILE, "heats.jsonl", "heats.jsonl.gz"] {
        let path = folder.join(name);
        if path.is_file() {
            let bytes = files::read(&path, LONGEST_RECORDS).map_err(|error| {
                CommandFailure::usage(format!("reading {}: {error}", path.display()))
            })?;
            records.push((name.to_owned(), bytes));
        }
    }
    Ok(records)
}

/// The folder that the site is written to.
struct Target<'a> {
    folder: &'a Path,
}

/// A site's folder has this file from the beginning, so that it is recognised even if writing it did not end.
const MARK: &str = ".deadheat-site";

impl<'a> Target<'a> {
    /// A new or empty folder, or one with an earlier site, which will be deleted: none of these sessions may be in it.
    fn new(folder: &'a Path, sessions: &[PathBuf]) -> Result<Self, CommandFailure> {
        let failed = |error: &dyn std::fmt::Display| {
            CommandFailure::usage(format!("writing to {}: {error}", folder.display()))
        };
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let mut entries = fs::read_dir(folder).map_err(|error| failed(&error))?;
        if entries.next().is_some() && !folder.join(MARK).is_file() {
            return Err(failed(
                &"the folder has other files; name a new folder, or one with an earlier site",
            ));
        }
        let own = folder.canonicalize().map_err(|error| failed(&error))?;
        let is_inside = |session: &PathBuf| {
            let session = session.canonicalize();
            session.is_ok_and(|session| session.starts_with(&own))
        };
        if sessions.iter().any(is_inside) {
            return Err(failed(&"its sessions are in that folder; name another one"));
        }
        fs::write(folder.join(MARK), "").map_err(|error| failed(&error))?;
        Ok(Self { folder })
    }

    /// Deletes what an earlier site had, and this one may not have any more.
    fn clear(&self) -> Result<(), CommandFailure> {
        for made in ["badge", "data", "records", "stacks"] {
            let made = self.folder.join(made);
            if made.is_dir() {
                fs::remove_dir_all(&made).map_err(|error| {
                    CommandFailure::no_result(format!("deleting {}: {error}", made.display()))
                })?;
            }
        }
        Ok(())
    }

    fn write(&self, files: Result<Vec<SiteFile>, ReportError>) -> Result<(), CommandFailure> {
        let files = files
            .map_err(|error| CommandFailure::no_result(format!("making the site: {error}")))?;
        let mut files = files.iter();
        files.try_for_each(|file| self.write_bytes(&file.path, file.text.as_bytes()))
    }

    fn write_bytes(&self, path: &str, bytes: &[u8]) -> Result<(), CommandFailure> {
        let path = self.folder.join(path);
        let folder = path.parent().unwrap_or(self.folder);
        let written = fs::create_dir_all(folder).and_then(|()| files::write_whole(&path, bytes));
        written.map_err(|error| {
            CommandFailure::no_result(format!("writing {}: {error}", path.display()))
        })
    }
}
