//! What was measured in alternation, judged at declared looks: from records to what is compared and what is not.

pub mod servers;
pub mod stacks;

use super::{Compared, Ended, NotCompared, paired};
use crate::sequential::{Design, Look};

/// What a look found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What was compared.
    pub compared: Vec<Compared>,
    /// What was not, each with the reason.
    pub not_compared: Vec<NotCompared>,
    /// Whether a side failed in what was not compared.
    pub failed: bool,
}

impl Judged {
    /// Whether measuring on would change nothing: there is a verdict on everything that can be compared.
    pub fn is_final(&self) -> bool {
        self.compared.is_empty() || paired::is_decided(&self.compared)
    }
}

/// The look that the figures are of, when a comparison has `blocks` complete blocks and ended so. Whatever else there is
/// beyond that look counts for nothing; only a budget, which knows no result, leaves one more look at its end.
pub fn final_look(design: &Design, blocks: u32, ended: Ended) -> Option<Look> {
    let taken = design.looks.iter().rfind(|look| look.blocks <= blocks);
    let last = match ended {
        Ended::Budget => design.last_at(blocks),
        Ended::Decided | Ended::LooksTaken | Ended::Interrupted | Ended::Failed => None,
    };
    last.or(taken.copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_budget_leaves_a_look_between_the_declared_ones() {
        let design = Design::declare(&[5, 10, 20], 0.05).unwrap();
        let blocks = |blocks, ended| final_look(&design, blocks, ended).map(|look| look.blocks);
        for ended in [
            Ended::Decided,
            Ended::LooksTaken,
            Ended::Interrupted,
            Ended::Failed,
        ] {
            assert_eq!(blocks(4, ended), None, "{ended:?}");
            assert_eq!(blocks(5, ended), Some(5), "{ended:?}");
            assert_eq!(blocks(13, ended), Some(10), "{ended:?}");
        }
        assert_eq!(blocks(13, Ended::Budget), Some(13));
        assert_eq!(blocks(10, Ended::Budget), Some(10));
        assert_eq!(blocks(1, Ended::Budget), None);
    }
}
