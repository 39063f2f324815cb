//! `deadheat stacks list`: what there is, and what it lacks here.

use deadheat_runner::{
    manifest::{self, Stack},
    prepare::{Host, inspect_all},
    session::{self, PinningMode},
};
use deadheat_shell::{
    data::{self, TextOrJson},
    exit::{Exit, Failure},
    interrupt,
    invocation::supervision,
};

use super::{
    row::{ListReport, Row},
    table,
};
use crate::{options::ListArgs, select, toolchains::looking};

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let sink = args.data.open()?;
    let catalogue = select::catalogue(&args.place)?;
    let wanted = manifest::select_targets(&catalogue, &args.stacks).map_err(Failure::usage)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let host = Host::here(supervision()?, &interrupted);
    let pinning = session::share_out(PinningMode::Apart);
    let stacks: Vec<&Stack> = catalogue
        .stacks
        .iter()
        .filter(|stack| wanted.iter().any(|one| one.stack == stack.manifest.id))
        .collect();
    let found = looking(stacks.len(), |tell| inspect_all(&host, &stacks, tell));
    let mut rows = Vec::new();
    for (stack, inspection) in stacks.into_iter().zip(&found) {
        let targets = stack.manifest.targets().into_iter();
        for target in targets.filter(|target| wanted.contains(target)) {
            let missing = inspection.availability(&host, stack, &target, &pinning);
            rows.push(Row::new(stack, &target, inspection, missing));
        }
    }
    let text = match sink.format {
        TextOrJson::Text => table::document(&rows).text(sink.screen()),
        TextOrJson::Json => data::json(&ListReport::new(&rows))?,
    };
    sink.write(&text)?;
    Ok(Exit::Fine)
}
