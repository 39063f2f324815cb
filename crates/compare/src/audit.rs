//! `deadheat audit`: how much of somebody's results is proven.

pub mod analysis;
pub mod document;

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat_document::text::Screen;
use deadheat_shell::{
    data::{self, FilesArgs, Format, OfDocument},
    exit::{CommandFailure, Exit},
    output,
    values::share,
};

use self::{
    analysis::{Assumptions, Audit, audit as audited},
    document::{document, html, json},
};
use crate::imported;

/// What `deadheat audit` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = "Reads the files that `deadheat import` reads: docs/audit.md.")]
pub struct AuditArgs {
    /// Files with results; several of one suite show the spread between runs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) data: FilesArgs<OfDocument>,
    /// The spread between two runs of one server, such as 3% [default: from repeated figures, or else 3%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) spread: Option<f64>,
    /// CPUs that each server could use [default: as many as the busiest servers of a test used]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cpus: Option<u32>,
    /// The command that made the reports, if they do not say how the server was loaded
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// In text: every place of every test
    #[arg(long)]
    pub(crate) details: bool,
}

/// Reads results, and reports how much of them is proven.
pub fn audit(args: &AuditArgs) -> Result<Exit, CommandFailure> {
    let paths: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let files = args.data.open_beside(paths.iter().copied())?;
    let read = imported::read(&paths, args.command.as_deref())?;
    let audit = audited(
        &read,
        Assumptions {
            spread: args.spread,
            cpus: args.cpus,
        },
    );
    let printed = rendered(&audit, args.data.format(), args.details, output::screen())?;
    files.write(|format| Ok(rendered(&audit, format, args.details, data::page())?.into_bytes()))?;
    data::print(args.data.format(), &printed)?;
    Ok(Exit::Fine)
}

fn rendered(
    audit: &Audit,
    format: Format,
    details: bool,
    screen: Screen,
) -> Result<String, CommandFailure> {
    let written = |error| CommandFailure::no_result(format!("writing the audit: {error}"));
    match format {
        Format::Html => html(audit).map_err(written),
        Format::Json => json(audit).map_err(written),
        format => data::rendered(&document(audit), format, details, screen),
    }
}
