//! `deadheat bisect`: the commit that made a stack or a command slower. What is asked next, and why that is sound, is in
//! [`crate::bisect::analysis`].

pub mod analysis;
pub mod document;
mod folder;
mod measure;
pub mod options;
mod start;
mod subject;

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use deadheat_document::text::Screen;
use deadheat_model::bisect::{Asks, BisectAnswer, BisectRecord};
use deadheat_shell::{
    data::{self, Format, Sink},
    exit::{Exit, Failure},
    invocation::{self, shown},
    output,
};

pub use self::folder::RECORD;
use self::{measure::Asking, start::RunningSearch};
use crate::{
    bisect::{
        analysis::{Outcome, next, outcome},
        document::{answer, document, json},
        options::BisectArgs,
    },
    options::{CompareArgs, CompareFormat},
};

/// Searches for the commit, or resumes a search.
pub fn bisect(args: BisectArgs) -> Result<Exit, Failure> {
    let (format, files) = (args.data.format(), args.data.open()?);
    let search = match args.resume.clone() {
        Some(folder) => start::reopen(&folder, args)?,
        None => {
            let planned = start::plan(args)?;
            if planned.args.measure.heat.dry_run {
                let for_programs = || start::for_programs(&planned);
                return planned
                    .args
                    .data
                    .print_plan(&start::plan_document(&planned), for_programs);
            }
            output::note(&data::as_note(&start::plan_document(&planned)));
            planned.begin()?
        }
    };
    let interrupted = invocation::on_signals().map_err(Failure::no_result)?;
    let folder = search.shown.clone();
    let again = format!("Go on with: deadheat bisect --resume {folder}");
    let (record, stopped) = measure(search, &interrupted).map_err(|failure| failure.and(&again))?;
    let rendered =
        |format, screen| self::rendered(&record, &folder, stopped.as_deref(), format, screen);
    output::data(&rendered(format, output::screen())?)?;
    files.write(|format| Ok(rendered(*format, data::page())?.into_bytes()))?;
    Ok(exit(&outcome(&record)))
}

/// A search in its folder again, as its record has it.
pub fn shown_again(folder: &Path, sink: Sink<Format>) -> Result<Exit, Failure> {
    let (_, record) = folder::read(folder)?;
    let format = match sink.format {
        Format::Text => CompareFormat::Text,
        Format::Markdown => CompareFormat::Markdown,
        Format::Json => CompareFormat::Json,
        Format::Html => CompareFormat::Html,
        Format::Csv | Format::Card => {
            return Err(Failure::usage(format!(
                "{} has a search of `deadheat bisect`, which is shown as text, markdown, html or json. Choose one with \
                 --format",
                folder.display()
            )));
        }
    };
    let text = rendered(&record, &typed(folder), None, format, sink.screen())?;
    sink.write(&text).map(|()| Exit::Fine)
}

/// Measures questions until the search is over, one stays undecided, or the user interrupts. Only an interrupted search
/// has the sentence: what was measured for its last question.
fn measure(
    search: RunningSearch,
    interrupted: &Arc<AtomicBool>,
) -> Result<(BisectRecord, Option<String>), Failure> {
    let RunningSearch {
        subject,
        args,
        folder,
        mut record,
        ..
    } = search;
    let args = CompareArgs::measuring(args.explicit, args.measure, args.server, args.stacks);
    let mut asking = Asking::new(&subject, args, &folder, interrupted)?;
    while let Some(asks) = next(&record) {
        output::note(&start::question(&record, asks));
        let Some(question) = asking.ask(&record, asks)? else {
            return Ok((record, asking.stopped()));
        };
        let said = answer(&question);
        let is_open = matches!(
            question.answer,
            BisectAnswer::Half | BisectAnswer::Undecided
        );
        record.questions.push(question);
        folder.save(&record)?;
        // What was said is never lost.
        output::note(&format!("  {said}"));
        if is_open && !matches!(asks, Asks::Found { .. }) {
            break;
        }
    }
    Ok((record, None))
}

fn rendered(
    record: &BisectRecord,
    folder: &str,
    stopped: Option<&str>,
    format: CompareFormat,
    screen: Screen,
) -> Result<String, Failure> {
    let document = document(record, folder, stopped);
    let rendered = match format {
        CompareFormat::Text => Ok(document.text(screen)),
        CompareFormat::Markdown => Ok(document.markdown()),
        CompareFormat::Html => document.html(),
        CompareFormat::Json => json(record, folder),
    };
    rendered.map_err(|error| Failure::no_result(format!("writing the search: {error}")))
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Found(found) if found.confirmed => Exit::Fine,
        Outcome::NotSlower => Exit::Failed,
        Outcome::Found(_) | Outcome::NotProven | Outcome::Undecided { .. } => Exit::NoResult,
        Outcome::Unfinished { .. } => Exit::Interrupted,
    }
}

/// A folder as the user would type it.
fn typed(folder: &Path) -> String {
    let shown = shown(folder);
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), Into::into)
}
