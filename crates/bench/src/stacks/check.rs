//! `deadheat stacks check`: every rule of the contract, asked of every stack.

use deadheat_runner::{
    manifest::{self, Reach},
    process::TempFolder,
    session::{self, PinningMode, SessionOptions},
};
use deadheat_shell::{
    data::{self, TextOrJson},
    exit::{Exit, Failure},
    interrupt,
    invocation::{random_seed, supervision},
    output,
};

use super::findings::Findings;
use crate::{options::CheckArgs, progress::Progress, select};

pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let sink = args.data.open()?;
    let catalogue = select::catalogue(&args.place)?;
    // A check is of everything that the names stand for: all variants, all load points.
    let selection = select::select(&catalogue, &args.stacks, &args.workload, Reach::Everything)?;
    let may_lack = match args.may_lack.as_slice() {
        [] => Vec::new(),
        globs => manifest::select_targets(&catalogue, globs)
            .map_err(|error| Failure::usage(format!("--may-lack: {error}")))?,
    };
    let supervision = supervision()?;
    let folder = TempFolder::create("deadheat-check-", &supervision)
        .map_err(|error| Failure::nothing(format!("making a temporary folder: {error}")))?;
    let options = SessionOptions {
        results: folder.path().to_owned(),
        pinning: PinningMode::Off,
        every_protocol: true,
        postgres: select::postgres(&args.postgres.postgres)?,
        start_timeout: args.start_timeout,
        ..SessionOptions::new(
            select::targets(&catalogue, &selection),
            selection.workloads,
            catalogue.workload("plaintext").cloned(),
            random_seed(),
            supervision,
        )
    };
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let mut progress = Progress::default();
    let checked = session::check(&options, &mut |event| progress.prepare(event), &interrupted);
    progress.finish();
    let checked = checked.map_err(Failure::nothing)?;
    let workloads = options.workloads.iter();
    let workloads: Vec<&str> = workloads.map(|one| one.manifest.id.as_str()).collect();
    let findings = Findings::new(&checked, options.targets.len(), &workloads, &may_lack);
    // The messages name the logs, so these have to stay.
    let logs = (findings.failed() > 0).then_some(checked.folder.as_path());
    if logs.is_some() {
        folder.keep().map_err(Failure::nothing)?;
    }
    let text = match sink.format {
        TextOrJson::Text => findings.as_text(),
        TextOrJson::Json => data::json(&findings.report(logs))?,
    };
    let shown = sink.write(&text);
    // Also where that failed: a folder that stays is always told of.
    if let Some(logs) = logs {
        output::warn(&format!("logs: {}", logs.display()));
    }
    shown?;
    let bad =
        findings.failed() > 0 || (args.strict && findings.amiss() > 0) || findings.unchecked() > 0;
    Ok(if bad { Exit::Failed } else { Exit::Fine })
}
