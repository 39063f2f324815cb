//! `deadheat stacks list`.

use deadheat_runner::{
    prepare::{Host, Unavailable, inspect},
    session::{self, PinningMode},
};
use serde_json::json;

use crate::{
    args::ListArgs,
    exit::{Exit, Failure},
    interrupt, output,
    run::supervision,
    select,
};

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let catalogue = select::catalogue(args.root.as_deref())?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let host = Host::here(supervision()?, &interrupted);
    let pinning = session::share_out(PinningMode::Apart);
    let mut rows = Vec::new();
    for stack in &catalogue.stacks {
        let inspection = inspect(&host, stack);
        for target in stack.manifest.targets() {
            let versions = inspection.versions(&target);
            rows.push(Row {
                target: target.to_string(),
                language: stack.manifest.language.clone(),
                framework: stack.manifest.framework.clone(),
                versions: versions
                    .iter()
                    .map(|one| format!("{} {}", one.name, one.version))
                    .collect(),
                unavailable: inspection.availability(&host, stack, &target, &pinning),
            });
        }
    }
    output::data(&if args.json {
        as_json(&rows)
    } else {
        as_text(&rows)
    });
    Ok(Exit::Fine)
}

struct Row {
    target: String,
    language: String,
    framework: String,
    versions: Vec<String>,
    unavailable: Option<Unavailable>,
}

fn as_json(rows: &[Row]) -> String {
    let list: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "target": row.target,
                "language": row.language,
                "framework": row.framework,
                "versions": row.versions,
                "available": row.unavailable.is_none(),
                "reason": row.unavailable.as_ref().map(|one| &one.reason),
                "remedy": row.unavailable.as_ref().map(|one| &one.remedy),
            })
        })
        .collect();
    format!("{:#}\n", json!(list))
}

fn as_text(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let state = if row.unavailable.is_none() {
            "ready to build"
        } else {
            "UNAVAILABLE"
        };
        text += &format!(
            "{:<26} {} {} · {state}\n",
            row.target, row.language, row.framework
        );
        if !row.versions.is_empty() {
            text += &format!("    {}\n", row.versions.join(", "));
        }
        if let Some(Unavailable { reason, remedy }) = &row.unavailable {
            text += &format!("    {reason}\n    to change that: {remedy}\n");
        }
    }
    text
}
