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
use deadheat_stats::comparison::{Bounds, Check, ComparisonAnalysis, Ended, Gate};

use self::{
    live::loads,
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
    let (within, force) = (bounds(&args), args.sessions.force);
    let measured = match comparands {
        Comparands::Sessions { a, b } => Some(records::compare_sessions(&a, &b, within, force)?),
        Comparands::Records { a, b } => Some(records::compare(&a, &b, within, force)?),
        Comparands::Reports => {
            return of_other_tools(&args, files);
        }
        Comparands::Live(live) => live::measure(&live, &args)?,
    };
    let Some(comparison) = measured else {
        return Ok(Exit::Fine);
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
    let has_verdict = comparison.has_ratio() && comparison.is_judged();
    match comparison.ended() {
        _ if comparison.b_failed() => Exit::Failed,
        Some(Ended::Interrupted) if !has_verdict => Exit::Interrupted,
        Some(Ended::Lost) if !has_verdict => Exit::NoResult,
        _ if !comparison.has_ratio() => Exit::NoResult,
        _ if gate.failed => Exit::Failed,
        _ => Exit::Fine,
    }
}

#[cfg(test)]
mod tests {
    use deadheat_stats::{
        comparison::{CellId, Compared, Method, Metric, SideFacts, sessions::Sample},
        sequential::Design,
    };

    use super::*;

    /// A comparison of heats that ended like this before its only checkpoint.
    fn without_a_look(ended: Ended) -> ComparisonAnalysis {
        let side = || SideFacts {
            name: String::new(),
            facts: Vec::new(),
            failed: None,
        };
        let bounds = Bounds::default();
        let sample = Sample::new(Metric::Throughput, vec![1.0], vec![1.1]);
        ComparisonAnalysis {
            how: Method::Heats {
                design: Design::declare(&[8], bounds.alpha).unwrap(),
                look: None,
                heats: 1,
                starts: 1,
                folder: String::new(),
                slices: None,
                equal_work: None,
                took_seconds: 1.0,
                ended,
                seed: 0,
            },
            a: side(),
            b: side(),
            is_change: false,
            bounds,
            compared: vec![Compared {
                subject: CellId::default(),
                deciding: 1,
                tested: 1,
                ratios: vec![sample.unwrap().ratio(&bounds)],
                ..Compared::default()
            }],
            not_compared: Vec::new(),
            conditions: Vec::new(),
            differences: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_comparison_that_was_stopped_before_a_verdict_does_not_fail_its_check() {
        let checks = [false, true].map(|require_decision| Check {
            require_decision,
            ..Check::default()
        });
        for (ended, expected) in [
            (Ended::Interrupted, [Exit::Interrupted; 2]),
            (Ended::Lost, [Exit::NoResult; 2]),
            (Ended::Budget, [Exit::Fine, Exit::Failed]),
        ] {
            let comparison = without_a_look(ended);
            let exits = checks.map(|check| exit(&comparison, &comparison.gate(check)));
            assert_eq!(exits, expected, "{ended:?}");
        }
    }
}
