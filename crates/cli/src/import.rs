//! `deadheat import`: reports of other load generators.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat_compare::imported;
use deadheat_import::{DocumentProperties, document, toml};
use deadheat_model::{TargetId, imported::ImportedReports};
use deadheat_shell::{
    data::{self, FilesArgs, Format, Formats, TEXT_OR_JSON},
    exit::{CommandFailure, Exit},
    output,
};

/// What `deadheat import` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = "Reads ab, wrk, wrk2, hey, oha, h2load, k6 and vegeta: docs/import.md.")]
pub(crate) struct ImportArgs {
    /// Files with reports, also between other text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) data: FilesArgs<OfImport>,
    /// The command that made the reports, if they do not say how the server was loaded
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// For a published table: the workload that asks for the same here
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// For a published table: the stack that represents a server, such as `Go=go-nethttp:2cpu`; repeatable
    #[arg(long, value_name = "SERVER=STACK", value_parser = target)]
    pub(crate) target: Vec<(String, TargetId)>,
}

/// The formats of what was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfImport;

impl Formats for OfImport {
    const LISTS: &'static [&'static [Format]] = &[TEXT_OR_JSON, &[Format::Toml]];
}

fn target(text: &str) -> Result<(String, TargetId), String> {
    let wrong = || "write it like Go=go-nethttp:2cpu".to_owned();
    let (server, stack) = text.rsplit_once('=').ok_or_else(wrong)?;
    if server.is_empty() || stack.is_empty() {
        return Err(wrong());
    }
    let Ok(target) = stack.parse();
    Ok((server.to_owned(), target))
}

pub(crate) fn import(args: &ImportArgs) -> Result<Exit, CommandFailure> {
    let paths: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let files = args.data.open_beside(paths.iter().copied())?;
    let read = imported::read(&paths, args.command.as_deref())?;
    let rendered = |format, screen| match format {
        Format::Json => imported::as_json(&read),
        Format::Toml => table(&read, args),
        _ => Ok(imported::as_text(&read, screen)),
    };
    // Before anything is written, so that what is wrong leaves no file.
    let printed = rendered(args.data.format(), output::screen())?;
    files.write(|format| Ok(rendered(format, data::page())?.into_bytes()))?;
    data::print(args.data.format(), &printed)?;
    Ok(Exit::Fine)
}

/// The runs as a published table, which is called as the file that it goes to.
fn table(read: &ImportedReports, args: &ImportArgs) -> Result<String, CommandFailure> {
    let is_table = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let file = args.data.output.iter().find(is_table);
    let stem = file.and_then(|path| path.file_stem()?.to_str());
    let mut targets = args.target.iter();
    let unknown = targets.find(|(server, _)| read.runs.iter().all(|run| run.name() != *server));
    if let Some((server, _)) = unknown {
        return Err(CommandFailure::usage(format!(
            "--target: no report is of a server called `{server}`"
        )));
    }
    let how = DocumentProperties {
        id: stem.unwrap_or("imported"),
        workload: args.workload.as_deref(),
        targets: &args.target,
    };
    let document = document(read, &how).map_err(CommandFailure::usage)?;
    toml(&document).map_err(CommandFailure::usage)
}
