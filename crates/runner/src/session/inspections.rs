//! What the toolchains of stacks said.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::{
    manifest::Stack,
    prepare::{Asking, Host, Inspection, inspect_all},
};

/// What was found for stacks, by their ids and folders: a comparison of revisions has one stack in two of them.
#[derive(Clone, Debug, Default)]
pub struct Inspections(Arc<BTreeMap<(String, PathBuf), Inspection>>);

impl Inspections {
    /// Asks the toolchains of all `stacks`, each once, at the same time.
    pub(super) fn new<'s>(
        host: &Host<'_>,
        stacks: impl Iterator<Item = &'s Stack>,
        tell: &mut dyn FnMut(&Asking<'_>),
    ) -> Self {
        let stacks: BTreeMap<_, _> = stacks.map(|stack| (key(stack), stack)).collect();
        let all: Vec<&Stack> = stacks.values().copied().collect();
        let found = inspect_all(host, &all, tell);
        Self(Arc::new(stacks.into_keys().zip(found).collect()))
    }

    /// What was found for `stack`, if it was among those that were asked.
    pub(super) fn get(&self, stack: &Stack) -> Option<&Inspection> {
        self.0.get(&key(stack))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn key(stack: &Stack) -> (String, PathBuf) {
    (stack.manifest.id.clone(), stack.dir.clone())
}
