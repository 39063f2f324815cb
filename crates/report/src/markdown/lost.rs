//! What failed or does not count.

use super::{Page, escape};
use crate::view::{Cause, LostView, VoidView};

const TITLE: &str = "What failed or does not count";
/// The name that GitHub and its like give to that heading.
const ANCHOR: &str = "what-failed-or-does-not-count";

impl Page {
    /// Who was lost, where their figures would be.
    pub(super) fn losses_in_short(&mut self, sentence: Option<&String>) {
        if let Some(sentence) = sentence {
            let sentence = escape(sentence);
            self.paragraph(&format!(
                "{sentence} [Why, with the ends of the logs](#{ANCHOR})"
            ));
        }
    }

    pub(super) fn lost(&mut self, view: &LostView) {
        self.heading(2, TITLE);
        self.paragraph(&escape(&view.summary));
        view.causes.iter().for_each(|cause| self.cause(cause));
        if let Some(void) = &view.void {
            self.void(void);
        }
        if let Some(sentence) = &view.left_out {
            self.paragraph(&escape(sentence));
        }
    }

    fn cause(&mut self, cause: &Cause) {
        self.paragraph(&format!("**{}**", escape(&cause.title)));
        let met = cause.stacks.iter().map(|met| match &met.places[..] {
            [] => met.target.clone(),
            places => format!("{}: {}", met.target, places.join("; ")),
        });
        self.bullets(&met.collect::<Vec<_>>(), "", "");
        if let Some(remedy) = &cause.remedy {
            self.paragraph("What would change that:");
            self.verbatim([remedy.as_str()]);
        }
        let of = cause.of.as_deref().map(escape);
        if !cause.examples.is_empty() {
            let of = of.as_ref().map(|of| format!(" of {of}"));
            let of = of.unwrap_or_default();
            self.paragraph(&format!("Failed requests, for example{of}:"));
            self.verbatim(cause.examples.iter().map(String::as_str));
        }
        if !cause.log.is_empty() {
            self.paragraph(&match &of {
                Some(of) => format!("The end of the output of {of}:"),
                None => "The end of its output:".to_owned(),
            });
            self.verbatim(cause.log.iter().map(String::as_str));
        }
    }

    fn void(&mut self, view: &VoidView) {
        self.heading(3, "Void trials");
        self.paragraph(&escape(&view.sentences.join(" ")));
        let head = [
            "stack",
            "at",
            "void",
            "in blocks",
            "other programs",
            "stolen",
            "then",
        ];
        let rows = view.rows.iter().map(|row| {
            let cells = [
                &row.target,
                &row.at,
                &row.trials,
                &row.blocks,
                &row.other_cpu,
                &row.steal,
                &row.then,
            ];
            cells.map(String::clone).to_vec()
        });
        self.table(&head, &rows.collect::<Vec<_>>());
    }
}
