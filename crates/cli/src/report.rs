//! `deadheat report`: every output again, from the records alone.

use deadheat_runner::session;

use crate::{
    args::{Format, ReportArgs},
    compare::{self, args::CompareFormat, measured::versus},
    exit::{Exit, Failure},
    heats,
};

/// The HTML report's file in a session's folder.
pub(crate) const HTML_FILE: &str = "report.html";

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let sink = args.data.open()?;
    if args.details && sink.format != Format::Text {
        return Err(Failure::usage(
            "--details says how much the text shows; the other formats show everything",
        ));
    }
    if args.workload.is_some() && sink.format != Format::Card {
        return Err(Failure::usage(
            "--workload says what the card shows: it needs --format card",
        ));
    }
    let record = session::heats::read_session(&args.session).map_err(Failure::usage)?;
    if let Some(versus) = versus(&record, &args.session) {
        let format = of_a_comparison(args, sink.format)?;
        let text = compare::rendered(&versus, None, format, args.details, sink.screen())?;
        return sink.write(&text).map(|()| Exit::Fine);
    }
    if sink.format == Format::Card {
        let card = heats::Rendered::card(&record, args.workload.as_deref())?;
        return sink.write_bytes(&card).map(|()| Exit::Fine);
    }
    let rendered = heats::Rendered::of(&record, sink.screen())?;
    match sink.format {
        Format::Html => sink.write_bytes(rendered.in_format(Format::Html).as_bytes()),
        _ if args.details => sink.write(rendered.details()),
        format => sink.write(rendered.in_format(format)),
    }?;
    Ok(Exit::Fine)
}

/// The format of a comparison's report; not every format has one.
fn of_a_comparison(args: &ReportArgs, format: Format) -> Result<CompareFormat, Failure> {
    match format {
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
