//! `deadheat compare`: B against A.

pub(crate) mod args;
mod live;
pub(crate) mod measured;
mod resolve;
mod sessions;

use deadheat_report::compare::{CompareView, brief, json, markdown, text};
use deadheat_stats::versus::{Bounds, Gate, Versus};

use self::{
    args::{CompareArgs, CompareFormat, VerdictArgs},
    resolve::Comparands,
};
use crate::{
    exit::{Exit, Failure},
    imported::Pair,
    output,
};

pub(crate) fn compare(mut args: CompareArgs) -> Result<Exit, Failure> {
    let elsewhere = &mut args.measure.elsewhere;
    elsewhere.read_file().map_err(Failure::usage)?;
    if elsewhere.server_of_file().is_some() {
        return Err(Failure::usage(
            "--hosts: the file names a `server`, and `compare` measures here; leave that out, or start it on that host",
        ));
    }
    if let Some(pair) = Pair::of(&args.a, &args.b)? {
        return of_other_tools(&pair, &args);
    }
    let versus = match resolve::resolve(&args)? {
        Comparands::Sessions { a, b } => Some(sessions::compare(
            &a,
            &b,
            bounds(&args),
            args.sessions.force,
        )?),
        Comparands::Live(live) => live::measure(&live, &args)?,
    };
    let Some(versus) = versus else {
        return Ok(Exit::Fine);
    };
    let gate = args.verdict.fail_if_slower.map(|bound| versus.gate(bound));
    let VerdictArgs {
        format, details, ..
    } = args.verdict;
    output::data(&rendered(&versus, gate.as_ref(), format, details)?)?;
    Ok(exit(&versus, gate.as_ref()))
}

/// Compares reports of other tools, which have neither heats nor details.
fn of_other_tools(pair: &Pair, args: &CompareArgs) -> Result<Exit, Failure> {
    if args.verdict.fail_if_slower.is_some() || args.verdict.format == CompareFormat::Markdown {
        return Err(Failure::usage(
            "--fail-if-slower and --format markdown have no meaning for reports of other tools; leave them out",
        ));
    }
    let as_json = args.verdict.format == CompareFormat::Json;
    output::data(&pair.compared(bounds(args), as_json)?)?;
    Ok(Exit::Fine)
}

/// The bounds of this comparison.
pub(crate) fn bounds(args: &CompareArgs) -> Bounds {
    Bounds {
        margin: args.verdict.margin,
        ..Bounds::default()
    }
}

/// A comparison in a format; with `details` the text says everything.
pub(crate) fn rendered(
    versus: &Versus,
    gate: Option<&Gate>,
    format: CompareFormat,
    details: bool,
) -> Result<String, Failure> {
    let view = || CompareView::new(versus, gate);
    let lay_out = if details { text } else { brief };
    Ok(match format {
        CompareFormat::Text => lay_out(&view(), output::width().min(80), output::colour()),
        CompareFormat::Markdown => markdown(&view()),
        CompareFormat::Json => json(versus, gate)
            .map_err(|error| Failure::nothing(format!("writing the comparison: {error}")))?,
    })
}

/// A failure of B is told from a comparison that could not be made: the first is news, the second none.
fn exit(versus: &Versus, gate: Option<&Gate>) -> Exit {
    if versus.b_failed() || gate.is_some_and(|gate| gate.failed) {
        Exit::Failed
    } else if !versus.has_ratio() {
        Exit::Nothing
    } else {
        Exit::Fine
    }
}
