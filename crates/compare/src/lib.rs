//! `deadheat compare`: B against A.

pub mod analysis;
pub mod audit;
pub mod bisect;
pub mod document;
pub mod history;
pub mod imported;
pub(crate) mod live;
pub mod measured;
pub mod options;
mod records;
pub(crate) mod resolve;
pub mod site;

use std::path::Path;

use deadheat_document::text::Screen;
use deadheat_loadtool as load;
use deadheat_shell::{
    data::{self, Files, Format, TextOrJson},
    exit::{CommandFailure, Exit},
    output,
};
use deadheat_stats::comparison::{Bounds, Check, ComparisonAnalysis, Gate};

use self::{
    live::{MeasureOutcome, loads},
    resolve::{Comparands, Live},
};
use crate::{
    document::{document, html, json},
    imported::Pair,
    options::{CompareArgs, VerdictArgs},
};

/// Compares B with A: measures both, or reads their records.
pub fn compare(mut args: CompareArgs) -> Result<Exit, CommandFailure> {
    let other_hosts = &mut args.measure.other_hosts;
    other_hosts.read_file(&mut args.explicit)?;
    let comparands = resolve::resolve(&args)?;
    let sides = [&args.a, &args.b].map(Path::new);
    let files = args.verdict.data.open_beside(sides)?;
    let measured = match comparands {
        Comparands::Sessions { a, b } => {
            let comparison = records::compare_sessions(&a, &b, bounds(&args), args.sessions.force)?;
            MeasureOutcome::Comparison(Box::new(comparison))
        }
        Comparands::Records { a, b } => {
            let comparison = records::compare(&a, &b, bounds(&args), args.sessions.force)?;
            MeasureOutcome::Comparison(Box::new(comparison))
        }
        Comparands::Reports => {
            return of_other_tools(&args, files);
        }
        Comparands::Live(live) => live::measure(&live, &args)?,
    };
    let comparison = match measured {
        MeasureOutcome::Comparison(comparison) => comparison,
        MeasureOutcome::Nothing(exit) => return Ok(exit),
    };
    let gate = comparison.gate(check(&args));
    let VerdictArgs {
        data: asked,
        details,
        ..
    } = args.verdict;
    let rendered =
        |format, details, screen| self::rendered(&comparison, Some(&gate), format, details, screen);
    let printed = rendered(asked.format(), details, output::screen())?;
    data::print(asked.format(), &printed)?;
    files.write(|format| Ok(rendered(format, details, data::page())?.into_bytes()))?;
    Ok(exit(&comparison, &gate))
}

/// Options of loads that are refused together, or one that is refused alone, without dashes.
pub fn clash(args: &CompareArgs) -> Option<Vec<String>> {
    let url = match resolve::comparands(args).ok()? {
        Comparands::Live(Live::Urls { a, .. }) => a.to_string(),
        Comparands::Live(Live::Commands { .. }) => loads::somewhere(args),
        _ => return None,
    };
    load::clash(&loads::options(&url, args, loads::highest_rate(args)))
}

/// Options that have no meaning for what is compared.
pub fn meaningless(args: &CompareArgs) -> Vec<String> {
    resolve::unread(args)
}

/// Compares reports of other tools, which have neither heats nor details.
fn of_other_tools(args: &CompareArgs, files: Files) -> Result<Exit, CommandFailure> {
    let verdict = &args.verdict;
    let pair = Pair::new(&args.a, &args.b)?;
    let pair = pair.ok_or_else(|| CommandFailure::usage("the reports have changed meanwhile"))?;
    for format in files.formats().chain([verdict.data.format()]) {
        data::must_be_of::<TextOrJson>("A comparison of other tools' reports", format)?;
    }
    let rendered = |format, screen| match format {
        Format::Json => pair.as_json(bounds(args)),
        _ => pair.as_text(bounds(args), screen),
    };
    let printed = rendered(verdict.data.format(), output::screen())?;
    data::print(verdict.data.format(), &printed)?;
    files.write(|format| Ok(rendered(format, data::page())?.into_bytes()))?;
    Ok(Exit::Fine)
}

/// What is asked of B in addition to the verdict.
pub(crate) fn check(args: &CompareArgs) -> Check {
    Check {
        fail_if_slower: args.verdict.fail_if_slower,
        fail_if_costlier: args.verdict.fail_if_costlier,
        require_decision: args.verdict.require_decision,
    }
}

/// The bounds of this comparison.
pub(crate) fn bounds(args: &CompareArgs) -> Bounds {
    Bounds {
        margin: args.verdict.margin,
        ..Bounds::default()
    }
}

/// A comparison in a format; with `details` the text says everything.
pub fn rendered(
    comparison: &ComparisonAnalysis,
    gate: Option<&Gate>,
    format: Format,
    details: bool,
    screen: Screen,
) -> Result<String, CommandFailure> {
    let failed = |error| CommandFailure::no_result(format!("writing the comparison: {error}"));
    let screen = Screen {
        width: screen.width.min(80),
        ..screen
    };
    match format {
        Format::Html => html(comparison, gate).map_err(failed),
        Format::Json => json(comparison, gate).map_err(failed),
        format => data::rendered(&document(comparison, gate), format, details, screen),
    }
}

/// A failure of B has another status than a comparison that could not be made. A slower B is an answer, and fails only
/// what was asked for ([`Check`]).
fn exit(comparison: &ComparisonAnalysis, gate: &Gate) -> Exit {
    match () {
        () if comparison.b_failed() => Exit::Failed,
        () if !comparison.has_ratio() && comparison.was_interrupted() => Exit::Interrupted,
        () if !comparison.has_ratio() => Exit::NoResult,
        () if gate.failed => Exit::Failed,
        () if !comparison.is_judged() && comparison.was_interrupted() => Exit::Interrupted,
        () => Exit::Fine,
    }
}
