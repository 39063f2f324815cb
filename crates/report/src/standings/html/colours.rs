//! One colour for a stack, wherever it is drawn.

use std::{collections::BTreeMap, fmt::Write as _};

/// The angle between the hues of neighbours, in degrees: however many there are, those near each other differ most.
const GOLDEN: f64 = 137.508;

/// The colours of all stacks of a session.
pub(super) struct Colours {
    numbers: BTreeMap<String, usize>,
}

impl Colours {
    /// A colour for each name, in the order in which they come first.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut numbers = BTreeMap::new();
        for name in names {
            let next = numbers.len();
            numbers.entry(name.to_owned()).or_insert(next);
        }
        Self { numbers }
    }

    /// The class of a stack's colour.
    pub(super) fn class(&self, name: &str) -> String {
        let number = self.numbers.get(name).copied().unwrap_or_default();
        format!("k{number}")
    }

    /// The classes' style: hues alone. How light they are depends on the page's ground, which style.css knows.
    pub(super) fn style(&self) -> String {
        let mut style = String::new();
        for number in 0..self.numbers.len() {
            let hue = (250.0 + number as f64 * GOLDEN) % 360.0;
            // A string takes everything.
            let _ = write!(style, ".k{number}{{--hue:{hue:.0}}}");
        }
        style
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_one_colour_and_another_stack_has_another() {
        let colours = Colours::new(["a", "b", "a", "c"].into_iter());
        let classes = ["a", "b", "c"].map(|name| colours.class(name));
        assert_eq!(classes, ["k0", "k1", "k2"]);
        let style = colours.style();
        let hues: std::collections::BTreeSet<&str> = style
            .split("--hue:")
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap())
            .collect();
        assert_eq!(hues.len(), 3, "{style}");
    }
}
