//! `deadheat report`: every output again, from the records alone.

use std::path::Path;

use deadheat_report::figure;
use deadheat_runner::{files::write_whole, session};

use crate::{
    args::{Format, ReportArgs},
    compare::{self, args::CompareFormat, measured::versus},
    exit::{Exit, Failure},
    heats, imported, output,
};

/// The HTML report's file in a session's folder.
pub(crate) const HTML_FILE: &str = "report.html";

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.details && args.format != Format::Text {
        return Err(Failure::usage(
            "--details says how much the text shows; the other formats show everything",
        ));
    }
    if args.workload.is_some() && args.format != Format::Card {
        return Err(Failure::usage(
            "--workload says what the card shows: it needs --format card",
        ));
    }
    let written = rendered(args)?;
    let Some(path) = &args.output else {
        match (args.format, std::str::from_utf8(&written)) {
            // A page is kept byte for byte, except on a screen.
            (Format::Html, _) if !output::is_terminal() => output::bytes(&written)?,
            (Format::Card, _) | (_, Err(_)) => output::bytes(&written)?,
            (_, Ok(text)) => output::data(text)?,
        }
        return Ok(Exit::Fine);
    };
    write(path, &written)?;
    Ok(Exit::Fine)
}

/// The report in the format that is asked for.
fn rendered(args: &ReportArgs) -> Result<Vec<u8>, Failure> {
    if args.session.is_file() {
        return of_another_tool(args).map(String::into_bytes);
    }
    let record = session::heats::read_session(&args.session).map_err(Failure::usage)?;
    if let Some(versus) = versus(&record, &args.session) {
        let format = of_a_comparison(args)?;
        return compare::rendered(&versus, None, format, args.details).map(String::into_bytes);
    }
    if args.format == Format::Card {
        refuse_picture(args)?;
        return heats::Rendered::card(&record, args.workload.as_deref());
    }
    let rendered = heats::Rendered::of(&record)?;
    let text = if args.details {
        rendered.details()
    } else {
        rendered.in_format(args.format)
    };
    Ok(text.as_bytes().to_vec())
}

/// What reports of other tools say.
fn of_another_tool(args: &ReportArgs) -> Result<String, Failure> {
    let imported = imported::read(&[&args.session], None)?;
    match args.format {
        Format::Text => Ok(imported::as_text(&imported)),
        Format::Json => imported::as_json(&imported),
        Format::Markdown | Format::Html | Format::Csv | Format::Card => {
            Err(Failure::usage(format!(
                "{} has reports of another tool, which are shown as text or json alone: choose one with --format",
                args.session.display()
            )))
        }
    }
}

/// The format of a comparison's report; not every format has one.
fn of_a_comparison(args: &ReportArgs) -> Result<CompareFormat, Failure> {
    match args.format {
        Format::Text => Ok(CompareFormat::Text),
        Format::Markdown => Ok(CompareFormat::Markdown),
        Format::Json => Ok(CompareFormat::Json),
        Format::Html | Format::Csv | Format::Card => Err(Failure::usage(format!(
            "{} is a session of `deadheat compare`, which has a report as text, markdown or json alone: choose one with \
             --format",
            args.session.display()
        ))),
    }
}

/// Writes a file and says so.
pub(crate) fn write(path: &Path, written: &[u8]) -> Result<(), Failure> {
    write_whole(path, written).map_err(|error| {
        Failure::nothing(format!(
            "writing {}: {error}; does the folder exist, and may you write in it?",
            path.display()
        ))
    })?;
    let size = figure::bytes(written.len() as f64);
    output::note(&format!("written: {} ({size})", path.display()));
    Ok(())
}

/// Pictures are not for a terminal.
fn refuse_picture(args: &ReportArgs) -> Result<(), Failure> {
    if args.output.is_none() && output::is_terminal() {
        Err(Failure::usage(
            "refusing to write a PNG to the terminal; use --output card.png",
        ))
    } else {
        Ok(())
    }
}
