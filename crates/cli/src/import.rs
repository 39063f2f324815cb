//! `deadheat import`: reports of other load generators.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use deadheat_import::{Published, document, toml};
use deadheat_model::{TargetId, imported::Imported};

use crate::{
    exit::{Exit, Failure},
    imported, output,
    report::write,
};

/// What `deadheat import` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = "Reads ab, wrk, wrk2, hey, oha, h2load, k6 and vegeta: docs/import.md.")]
pub(crate) struct ImportArgs {
    /// Files with reports, also between other text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The format on standard output
    #[arg(long, value_enum, default_value_t = ImportFormat::Text)]
    pub(crate) format: ImportFormat,
    /// Also write this file: `.toml` for a published table (docs/published.md), `.json` for the figures
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The command that made the reports, if they do not say how the server was loaded
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// For a published table: the workload that asks for the same here
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// For a published table: the stack that stands for a server, such as `Go=go-nethttp:2cpu`; repeatable
    #[arg(long, value_name = "SERVER=STACK", value_parser = target)]
    pub(crate) target: Vec<(String, TargetId)>,
}

/// How the figures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// Tables and warnings
    Text,
    /// For programs; `report` and `compare` read it, too
    Json,
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

pub(crate) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let paths: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let read = imported::read(&paths, args.command.as_deref())?;
    let written = args
        .output
        .as_deref()
        .map(|path| Ok((path, file(path, &read, args)?)));
    let written = written.transpose()?;
    output::data(&match args.format {
        ImportFormat::Text => imported::as_text(&read),
        ImportFormat::Json => imported::as_json(&read)?,
    })?;
    if let Some((path, text)) = written {
        write(path, text.as_bytes())?;
    }
    Ok(Exit::Fine)
}

/// What the file holds, by its name.
fn file(path: &Path, read: &Imported, args: &ImportArgs) -> Result<String, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("json") => imported::as_json(read),
        Some("toml") => {
            let id = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or("imported");
            let unknown = args
                .target
                .iter()
                .find(|(server, _)| read.runs.iter().all(|run| run.name() != *server));
            if let Some((server, _)) = unknown {
                return Err(Failure::usage(format!(
                    "--target: no report is of a server called `{server}`"
                )));
            }
            let how = Published {
                id,
                workload: args.workload.as_deref(),
                targets: &args.target,
            };
            let document = document(read, &how).map_err(Failure::usage)?;
            toml(&document).map_err(Failure::usage)
        }
        _ => Err(Failure::usage(format!(
            "--output {}: name it .toml for a published table, or .json",
            path.display()
        ))),
    }
}
