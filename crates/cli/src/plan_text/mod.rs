//! Words that plans share.

mod publication;
mod words;

use deadheat_model::{RepeatedTable, plan::Pinning, published::RepeatedRow, words::counted};

pub(crate) use self::{
    publication::{of_the_checkout, told},
    words::{about, entry, glued, length},
};

/// The published tables that are repeated, and what is left out of them.
pub(crate) fn published(tables: &[RepeatedTable]) -> String {
    let mut lines = Vec::new();
    for repeated in tables {
        let asked = repeated.rows.iter().filter(|row| row.cell().is_some());
        lines.push(format!(
            "  published {} {}: {} of {}",
            repeated.document,
            repeated.table.id,
            asked.count(),
            counted(repeated.rows.len(), "row")
        ));
        for (plan, row) in repeated.rows.iter().zip(&repeated.table.row) {
            if let RepeatedRow::LeftOut { reason } = plan {
                lines.push(format!("            without {}: {reason}", row.name));
            }
        }
    }
    lines.join("\n")
}

pub(crate) fn pinning(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Apart { server, generator } => format!(
            "server on {}; generator, database and upstream on {}",
            list(server),
            list(generator)
        ),
        Pinning::Off { cpus } => format!("not pinned: server and generator share {}", list(cpus)),
    }
}

fn list(cpus: &[usize]) -> String {
    let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
    format!("CPU {}", numbers.join(", "))
}
