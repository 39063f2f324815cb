//! The blocks of a session, and what its stacks take before they serve.

use super::{Page, escape};
use crate::view::{CoursePoint, CourseView, StartupView};

impl Page {
    pub(super) fn course(&mut self, view: &CourseView) {
        self.heading(2, "Course of the session");
        self.paragraph(
            "Each block beside the others: how the null server and the stacks stood as a share of their own medians. A \
             machine that becomes faster or slower moves them all at once.",
        );
        view.points.iter().for_each(|point| self.blocks(point));
    }

    fn blocks(&mut self, point: &CoursePoint) {
        self.heading(3, &format!("Blocks of {}", point.title));
        if let Some(sentence) = &point.summary {
            self.paragraph(&escape(sentence));
        }
        let null = ["null server, requests/s", "of its median"];
        let null = if point.is_open { &[][..] } else { &null[..] };
        let before = ["block", "began"];
        let after = [
            "stacks' median, of their own",
            "count",
            "void",
            "repetitions",
            "failed",
            "left out",
        ];
        let rows = point.blocks.iter().map(|row| {
            let null = [row.null_server.clone(), row.null_ratio.clone()];
            let null = if point.is_open { &[][..] } else { &null[..] };
            let after = [
                &row.stacks,
                &row.counted,
                &row.void,
                &row.repetitions,
                &row.failed,
                &row.left_out,
            ];
            let before = [row.block.clone(), row.began.clone()];
            [&before[..], null, &after.map(String::clone)].concat()
        });
        let head = [&before[..], null, &after].concat();
        self.table(&head, &rows.collect::<Vec<_>>());
    }

    pub(super) fn startup(&mut self, view: &StartupView) {
        self.heading(2, "Start-up, build and size");
        self.bullets(&view.introduction, "", "");
        let head = [
            "stack",
            "start-up",
            "shortest to longest",
            "starts",
            "build",
            "size",
        ];
        let after = |text: &String| match text.is_empty() {
            true => String::new(),
            false => format!(" ({text})"),
        };
        let rows = view.rows.iter().map(|row| {
            vec![
                row.target.clone(),
                format!("{}{}", row.ready, after(&row.interval)),
                row.range.clone(),
                row.starts.clone(),
                match row.build.is_empty() {
                    true => row.build_note.clone(),
                    false => format!("{}{}", row.build, after(&row.build_note)),
                },
                row.size.clone(),
            ]
        });
        self.table(&head, &rows.collect::<Vec<_>>());
    }
}
