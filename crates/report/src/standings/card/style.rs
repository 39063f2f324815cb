//! The card's colours, and where its text begins and ends.

use super::SIZE;

pub(super) const INK: &str = "#1b2026";
pub(super) const DIM: &str = "#5a636d";
pub(super) const GROUND: &str = "#fcfbf8";
pub(super) const GRID: &str = "#dcdcd6";
pub(super) const BLUE: &str = "#1f6fad";
pub(super) const ORANGE: &str = "#b5610c";
pub(super) const RED: &str = "#b83a25";

pub(super) const WIDTH: f32 = SIZE.0 as f32;
pub(super) const HEIGHT: f32 = SIZE.1 as f32;
/// Left and right of everything.
pub(super) const MARGIN: f32 = 56.0;
/// From margin to margin.
pub(super) const ROOM: f32 = WIDTH - 2.0 * MARGIN;
