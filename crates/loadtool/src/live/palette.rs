//! Colours of the view.

use ratatui::style::{Color, Modifier, Style};

/// Colours, or none of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub(super) colour: bool,
}

impl Palette {
    /// A colour, if there are any.
    pub(super) fn pick(self, colour: Color) -> Color {
        if self.colour { colour } else { Color::Reset }
    }

    /// What must be seen, without colours too.
    pub(super) fn bad(self) -> Style {
        Style::new()
            .fg(self.pick(Color::Red))
            .add_modifier(Modifier::BOLD)
    }
}
