//! What repeats published tables: which tables, which stack for which row, and under which load.

use std::collections::BTreeSet;

use deadheat_model::{
    Cell, LoadPoint, PublishedDocument, RepeatedTable, TargetId,
    published::{PublishedRow, PublishedTable, RepeatedRow},
    workload::Framing,
};
use globset::{Glob, GlobMatcher};

use super::{Catalogue, SelectError, SelectedWorkload, Selection, error::enumerate};

/// Which published tables, and what of them.
#[derive(Clone, Copy, Debug)]
pub struct PublishedSelection<'a> {
    /// Globs of documents, or of `document:table`; none: all.
    pub documents: &'a [String],
    /// Globs of workloads, or of `workload:point`; none: all.
    pub workloads: &'a [String],
    /// Globs of stacks (with all their variants), or of `stack:variant`; none: all.
    pub stacks: &'a [String],
    /// CPUs that servers get.
    pub server_cpus: usize,
}

/// What repeats published tables.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// The tables, each row with its cell.
    pub tables: Vec<RepeatedTable>,
    /// The stacks and workloads of all cells.
    pub selection: Selection,
    /// The cells.
    pub cells: BTreeSet<Cell>,
}

/// Finds the cells that repeat the published tables of `catalogue` that are `asked` for.
///
/// # Errors
/// Every glob that matches nothing, and that nothing is left to measure.
pub fn repeat(
    catalogue: &Catalogue,
    asked: PublishedSelection<'_>,
) -> Result<Repetition, SelectError> {
    let mut resolver = Resolver {
        catalogue,
        server_cpus: asked.server_cpus,
        documents: Globs::new("published document", asked.documents)?,
        workloads: Globs::new("workload of a published table", asked.workloads)?,
        stacks: Globs::new("stack of a published table", asked.stacks)?,
        points: Vec::new(),
    };
    let mut tables = Vec::new();
    for document in &catalogue.published {
        for table in &document.table {
            if resolver.documents.choose(&document.id, &table.id) {
                tables.extend(resolver.table(document, table));
            }
        }
    }
    let globs = [&resolver.documents, &resolver.workloads, &resolver.stacks];
    let mut problems: Vec<String> = globs.iter().flat_map(|globs| globs.unused()).collect();
    let cells: BTreeSet<Cell> = tables
        .iter()
        .flat_map(|table| &table.rows)
        .filter_map(|row| row.cell().cloned())
        .collect();
    if problems.is_empty() && cells.is_empty() {
        problems.push("no published table has a row with a stack that is here".to_owned());
    }
    if !problems.is_empty() {
        return Err(SelectError { problems });
    }
    Ok(Repetition {
        selection: resolver.selection(&cells),
        tables,
        cells,
    })
}

struct Resolver<'a> {
    catalogue: &'a Catalogue,
    server_cpus: usize,
    documents: Globs,
    workloads: Globs,
    stacks: Globs,
    /// Load points that rows have, by workload.
    points: Vec<(String, LoadPoint)>,
}

impl Resolver<'_> {
    /// The table with a cell for each row that has one; `None` when all of it was left out by the user.
    fn table(
        &mut self,
        document: &PublishedDocument,
        table: &PublishedTable,
    ) -> Option<RepeatedTable> {
        let mut chosen = false;
        let mut rows = Vec::new();
        for row in &table.row {
            let point = table.point(row);
            let target = self.target(row);
            let asked = self.workloads.choose(&table.workload, &point.id)
                && self.stacks.choose(&target.stack, &variant(&target));
            chosen |= asked;
            rows.push(if asked {
                self.row(table, target, point)
            } else {
                left_out("not asked for in this session".to_owned())
            });
        }
        chosen.then(|| RepeatedTable {
            document: document.id.clone(),
            title: document.title.clone(),
            source: document.source.clone(),
            machine: document.machine.clone(),
            tool: document.tool.clone(),
            remarks: document.remarks.clone(),
            table: table.clone(),
            rows,
        })
    }

    /// The target that represents `row` on this number of CPUs. Without a variant, it is the stack's default one.
    fn target(&self, row: &PublishedRow) -> TargetId {
        let on_one = row.target_on_one_cpu.as_ref();
        let target = on_one
            .filter(|_| self.server_cpus == 1)
            .unwrap_or(&row.target);
        let stack = self.catalogue.stack(target);
        let default = stack.and_then(|stack| stack.manifest.targets().into_iter().next());
        match (&target.variant, default) {
            (None, Some(default)) => default,
            _ => target.clone(),
        }
    }

    fn row(&mut self, table: &PublishedTable, target: TargetId, point: LoadPoint) -> RepeatedRow {
        let Some(stack) = self.catalogue.stack(&target) else {
            return left_out(format!("the stack {target} does not exist here"));
        };
        let workload = self.catalogue.workload(&table.workload);
        if !workload.is_some_and(|one| stack.manifest.answers(one)) {
            return left_out(format!("{target} does not answer it"));
        }
        if table.load.bodies == Framing::Chunked && !stack.manifest.http(&target).chunked_bodies {
            return left_out(format!("{target} reads no request bodies in chunks"));
        }
        let cell = Cell {
            target,
            workload: table.workload.clone(),
            point: point.id.clone(),
        };
        let own = (table.workload.clone(), point);
        if !self.points.contains(&own) {
            self.points.push(own);
        }
        RepeatedRow::Asked { cell }
    }

    /// Stacks and workloads of `cells`, in the catalogue's order.
    fn selection(&self, cells: &BTreeSet<Cell>) -> Selection {
        let targets = self.catalogue.stacks.iter();
        let targets = targets.flat_map(|stack| stack.manifest.targets());
        let workloads = self.catalogue.workloads.iter().map(|manifest| {
            let own = self.points.iter().filter(|(id, _)| *id == manifest.id);
            SelectedWorkload {
                manifest: manifest.clone(),
                points: own.map(|(_, point)| point.clone()).collect(),
            }
        });
        Selection {
            targets: targets
                .filter(|target| cells.iter().any(|cell| cell.target == *target))
                .collect(),
            workloads: workloads.filter(|one| !one.points.is_empty()).collect(),
        }
    }
}

fn variant(target: &TargetId) -> String {
    target.variant.clone().unwrap_or_default()
}

fn left_out(reason: String) -> RepeatedRow {
    RepeatedRow::LeftOut { reason }
}

/// Globs of names, or of `name:part`, and what they have met.
struct Globs {
    noun: &'static str,
    globs: Vec<(String, GlobMatcher, bool)>,
    met: BTreeSet<String>,
}

impl Globs {
    fn new(noun: &'static str, globs: &[String]) -> Result<Self, SelectError> {
        let compile = |glob: &String| match Glob::new(glob) {
            Ok(parsed) => Ok((glob.clone(), parsed.compile_matcher(), false)),
            Err(error) => Err(SelectError {
                problems: vec![format!("`{glob}` is not a valid glob: {}", error.kind())],
            }),
        };
        Ok(Self {
            noun,
            globs: globs.iter().map(compile).collect::<Result<_, _>>()?,
            met: BTreeSet::new(),
        })
    }

    /// Whether one of the globs matches, or there are no globs.
    fn choose(&mut self, name: &str, part: &str) -> bool {
        self.met.insert(name.to_owned());
        let mut chosen = self.globs.is_empty();
        for (glob, matcher, used) in &mut self.globs {
            let matches = if glob.contains(':') {
                matcher.is_match(format!("{name}:{part}"))
            } else {
                matcher.is_match(name)
            };
            *used |= matches;
            chosen |= matches;
        }
        chosen
    }

    /// A sentence for each glob that matched nothing.
    fn unused(&self) -> Vec<String> {
        let unused = self.globs.iter().filter(|(.., used)| !used);
        unused
            .map(|(glob, ..)| match self.met.len() {
                0 => format!("no {} matches `{glob}`: there are none", self.noun),
                _ => {
                    let names = self.met.iter().map(String::as_str);
                    format!(
                        "no {} matches `{glob}`: there are {}",
                        self.noun,
                        enumerate(names)
                    )
                }
            })
            .collect()
    }
}
