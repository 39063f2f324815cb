//! `deadheat report`: every output again, from the records alone.

use std::path::{Path, PathBuf};

use deadheat_bench::heats;
use deadheat_compare as compare;
use deadheat_compare::{bisect, imported, measured::analyse};
use deadheat_loadtool::{self as load, find_rate};
use deadheat_model::{
    bisect::FORMAT as SEARCH_FOR_COMMIT, capacity::FORMAT as SEARCH_FOR_RATE,
    record::FORMAT as LOAD,
};
use deadheat_runner::{
    files::STANDARD_INPUT,
    session::{
        HEADER_FILE,
        heats::{HEATS_FILE, read_session},
    },
};
use deadheat_shell::{
    data::{self, Format, OfDocument, OfSession, Sink, TextOrJson},
    exit::{CommandFailure, Exit},
    output,
    record_file::RecordFile,
    session_folders::{RESULTS, sessions},
};

use crate::args::ReportArgs;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, CommandFailure> {
    let named = args.session.as_deref().map(file_of);
    // The folder of a search is read through its record.
    let search = named.map(|path| path.join(bisect::RECORD));
    let read = named.into_iter().chain(search.as_deref());
    let sink = args.data.open_beside(read)?;
    if args.details && sink.format != Format::Text {
        return Err(CommandFailure::usage(
            "--details applies to text only; the other formats show everything",
        ));
    }
    if args.workload.is_some() && sink.format != Format::Card {
        return Err(CommandFailure::usage(
            "--workload selects the contents of a card: it needs --format card",
        ));
    }
    let session = match named {
        Some(path) => path.to_owned(),
        None => newest()?,
    };
    if !session.exists() {
        return Err(CommandFailure::usage(format!(
            "{} does not exist; name the folder of a session, the JSON of a load, or a file with reports of other tools",
            session.display()
        )));
    }
    let shown = if session.is_dir() {
        of_folder(&session, args, sink)
    } else {
        of_file(&session, args, sink)
    };
    shown.map(|()| Exit::Fine)
}

/// The path that is read; `-` is standard input.
fn file_of(typed: &Path) -> &Path {
    if typed == Path::new("-") {
        Path::new(STANDARD_INPUT)
    } else {
        typed
    }
}

/// What a folder has: a session, or a search for a commit.
fn of_folder(folder: &Path, args: &ReportArgs, sink: Sink) -> Result<(), CommandFailure> {
    if folder.join(bisect::RECORD).is_file() {
        return bisect::shown_again(folder, sink);
    }
    let record = read_session(folder).map_err(CommandFailure::usage)?;
    if let Some(comparison) = analyse(&record, folder) {
        let what = format!("The session of `deadheat compare` in {}", folder.display());
        data::must_be_of::<OfDocument>(&what, sink.format)?;
        let text = compare::rendered(&comparison, None, sink.format, args.details, sink.screen())?;
        return sink.write(&text);
    }
    let what = format!("The session in {}", folder.display());
    data::must_be_of::<OfSession>(&what, sink.format)?;
    if sink.format == Format::Card {
        let card = heats::ReportTexts::card(&record, args.workload.as_deref())?;
        return sink.write(&card);
    }
    let rendered = heats::ReportTexts::new(&record, folder, sink.screen())?;
    let text = rendered.in_format(sink.format, args.details)?;
    sink.write(&text)
}

/// What a file has: a record of Deadheat, or reports of other tools.
fn of_file(file: &Path, args: &ReportArgs, sink: Sink) -> Result<(), CommandFailure> {
    let record = RecordFile::read(file).map_err(|error| {
        CommandFailure::usage(format!(
            "reading {}: {error}; name the folder of a session, the JSON of a load, or a file with reports",
            file.display()
        ))
    })?;
    if let Some(record) = record {
        return match record.format() {
            LOAD => load::shown_again(&record, args.details, sink),
            SEARCH_FOR_RATE => find_rate::shown_again(&record, sink),
            SEARCH_FOR_COMMIT => bisect::shown_again_from(&record, sink),
            other => Err(CommandFailure::usage(format!(
                "{} is a report ({other}), and cannot be made again from itself; name the folder of its session, or run \
                 the command that wrote it again",
                file.display()
            ))),
        };
    }
    match its_folder(file) {
        Some(folder) => of_folder(folder, args, sink),
        // A pipe cannot be read twice.
        None if file == Path::new(STANDARD_INPUT) => Err(CommandFailure::usage(
            "standard input has no record of Deadheat, such as `deadheat load --json` prints; `deadheat import -` reads \
             reports of other tools",
        )),
        None => of_another_tool(file, sink),
    }
}

/// The folder of a session or a search that this file is the record of.
fn its_folder(file: &Path) -> Option<&Path> {
    let name = file.file_name()?;
    let is_record = [HEADER_FILE, HEATS_FILE, bisect::RECORD]
        .iter()
        .any(|record| name == *record);
    let folder = file.parent().filter(|_| is_record)?;
    if folder == Path::new("") {
        Some(Path::new("."))
    } else {
        Some(folder)
    }
}

/// The session in `results` that began last.
fn newest() -> Result<PathBuf, CommandFailure> {
    let none = |why: &dyn std::fmt::Display| {
        CommandFailure::usage(format!(
            "looking for the newest session in {RESULTS}: {why}; name one with `deadheat report FOLDER`"
        ))
    };
    let mut all = sessions(Path::new(RESULTS)).map_err(|error| none(&error))?;
    let newest = all.pop().ok_or_else(|| none(&"there is none"))?.folder;
    output::note(&format!("report of {}", newest.display()));
    Ok(newest)
}

/// What reports of other tools say.
fn of_another_tool(file: &Path, sink: Sink) -> Result<(), CommandFailure> {
    let read = imported::read(&[file], None)
        .map_err(|failure| failure.and("A session is a folder that has session.json."))?;
    let what = format!("Another tool's report in {}", file.display());
    data::must_be_of::<TextOrJson>(&what, sink.format)?;
    let text = match sink.format {
        Format::Json => imported::as_json(&read)?,
        _ => imported::as_text(&read, sink.screen()),
    };
    sink.write(&text)
}
