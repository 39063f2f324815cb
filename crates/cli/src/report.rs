//! `deadheat report`: every output again, from the records alone.

use std::path::{Path, PathBuf};

use deadheat_bench::heats;
use deadheat_compare as compare;
use deadheat_compare::{bisect, imported, measured::versus};
use deadheat_loadtool as load;
use deadheat_runner::session::heats::read_session;
use deadheat_shell::{
    data::{self, Format, OfDocument, Sink, TextOrJson},
    exit::{CommandFailure, Exit},
    output,
    session_folders::{RESULTS, sessions},
};

use crate::args::ReportArgs;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, CommandFailure> {
    let sink = args.data.open_beside(args.session.as_deref())?;
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
    let session = match &args.session {
        Some(folder) => folder.clone(),
        None => newest()?,
    };
    if session.is_file()
        && let Some(search) = load::read_search(&session)?
    {
        return load::shown_again(&search, sink).map(|()| Exit::Fine);
    }
    if session.is_file() {
        return of_another_tool(&session, sink);
    }
    if session.join(bisect::RECORD).is_file() {
        return bisect::shown_again(&session, sink);
    }
    let record = read_session(&session).map_err(CommandFailure::usage)?;
    if let Some(versus) = versus(&record, &session) {
        let what = format!("The session of `deadheat compare` in {}", session.display());
        data::must_be_of::<OfDocument>(&what, sink.format)?;
        let text = compare::rendered(&versus, None, sink.format, args.details, sink.screen())?;
        return sink.write(&text).map(|()| Exit::Fine);
    }
    if sink.format == Format::Card {
        let card = heats::Rendered::card(&record, args.workload.as_deref())?;
        return sink.write_bytes(&card).map(|()| Exit::Fine);
    }
    let rendered = heats::Rendered::new(&record, &session, sink.screen())?;
    match sink.format {
        Format::Html => sink.write_bytes(rendered.in_format(Format::Html, true)?.as_bytes()),
        format => sink.write(&rendered.in_format(format, args.details)?),
    }?;
    Ok(Exit::Fine)
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
fn of_another_tool(file: &Path, sink: Sink) -> Result<Exit, CommandFailure> {
    let read = imported::read(&[file], None)
        .map_err(|failure| failure.and("A session is a folder that has session.json."))?;
    let what = format!("Another tool's report in {}", file.display());
    data::must_be_of::<TextOrJson>(&what, sink.format)?;
    let text = match sink.format {
        Format::Json => imported::as_json(&read)?,
        _ => imported::as_text(&read, sink.screen()),
    };
    sink.write(&text).map(|()| Exit::Fine)
}
