//! Where names stand beside the points of a plot, so that none covers another one or a point.

use plotly::common::Position;

/// The area of a plot on a narrow phone, in pixels. Names keep their size where there is more room, and points only move
/// apart: what does not touch here touches nowhere.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 250.0;
/// A name's column and line.
const COLUMN: f64 = 6.5;
const LINE: f64 = 14.0;
/// From a point's middle to its edge, and to its name.
const RADIUS: f64 = 5.0;

/// A point that wants a name, if it wants one.
pub(super) struct Named {
    /// Its place, as shares of the area from the left and from below.
    pub(super) at: (f64, f64),
    /// How many columns its name has; 0: none.
    pub(super) columns: usize,
}

/// A rectangle: from and to, across and up.
#[derive(Clone, Copy)]
struct Area {
    x: (f64, f64),
    y: (f64, f64),
}

impl Area {
    fn touches(&self, other: &Self) -> bool {
        let meet = |one: (f64, f64), other: (f64, f64)| one.0 < other.1 && other.0 < one.1;
        meet(self.x, other.x) && meet(self.y, other.y)
    }

    fn is_inside(&self) -> bool {
        self.x.0 >= 0.0 && self.x.1 <= WIDTH && self.y.0 >= 0.0 && self.y.1 <= HEIGHT
    }
}

impl Named {
    fn pixels(&self) -> (f64, f64) {
        (self.at.0 * WIDTH, self.at.1 * HEIGHT)
    }

    fn dot(&self) -> Area {
        let (x, y) = self.pixels();
        Area {
            x: (x - RADIUS, x + RADIUS),
            y: (y - RADIUS, y + RADIUS),
        }
    }

    /// What its name would cover: `across` and `up` are −1 (left, below), 0 (in the middle) or 1 (right, above).
    fn name(&self, across: i8, up: i8) -> Area {
        let beside = |at: f64, length: f64, side: i8| match side {
            -1 => (at - RADIUS - length, at - RADIUS),
            0 => (at - length / 2.0, at + length / 2.0),
            _ => (at + RADIUS, at + RADIUS + length),
        };
        let (x, y) = self.pixels();
        Area {
            x: beside(x, self.columns as f64 * COLUMN, across),
            y: beside(y, LINE, up),
        }
    }
}

/// The side of each point on which its name has room, if there is one; towards the middle rather than to the edge, above
/// rather than below.
pub(super) fn sides(points: &[Named]) -> Vec<Option<Position>> {
    let dots: Vec<Area> = points.iter().map(Named::dot).collect();
    let mut taken: Vec<Area> = Vec::new();
    let mut sides = vec![None; points.len()];
    for (place, point) in points.iter().enumerate() {
        if point.columns == 0 {
            continue;
        }
        let inwards = if point.at.0 > 0.5 { -1 } else { 1 };
        let wanted = [(inwards, 1), (inwards, -1), (-inwards, 1), (-inwards, -1)];
        let wanted = wanted.into_iter().chain([(0, 1), (0, -1)]);
        let found = wanted.into_iter().find_map(|(across, up)| {
            let name = point.name(across, up);
            let mut others = dots.iter().enumerate().filter(|(other, _)| *other != place);
            let is_free = name.is_inside()
                && !taken.iter().any(|other| name.touches(other))
                && !others.any(|(_, dot)| name.touches(dot));
            is_free.then_some((position(across, up), name))
        });
        if let Some((side, name)) = found {
            sides[place] = Some(side);
            taken.push(name);
        }
    }
    sides
}

fn position(across: i8, up: i8) -> Position {
    match (across, up) {
        (-1, 1) => Position::TopLeft,
        (-1, _) => Position::BottomLeft,
        (0, 1) => Position::TopCenter,
        (0, _) => Position::BottomCenter,
        (_, 1) => Position::TopRight,
        (_, _) => Position::BottomRight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(x: f64, y: f64, columns: usize) -> Named {
        Named {
            at: (x, y),
            columns,
        }
    }

    fn told(points: &[Named]) -> Vec<String> {
        let sides = sides(points).into_iter();
        sides.map(|side| format!("{side:?}")).collect()
    }

    #[test]
    fn a_name_stands_above_and_towards_the_middle() {
        assert_eq!(told(&[named(0.2, 0.5, 10)]), ["Some(TopRight)"]);
        assert_eq!(told(&[named(0.8, 0.5, 10)]), ["Some(TopLeft)"]);
        assert_eq!(told(&[named(0.8, 0.5, 0)]), ["None"]);
        // Above there is no room.
        assert_eq!(told(&[named(0.2, 0.97, 10)]), ["Some(BottomRight)"]);
    }

    #[test]
    fn names_cover_neither_each_other_nor_points() {
        // Three in a heap: the first above, the second below, and the third, whose sides are both taken, nowhere.
        let heap = [
            named(0.20, 0.50, 10),
            named(0.21, 0.49, 10),
            named(0.22, 0.50, 30),
        ];
        assert_eq!(told(&heap), ["Some(TopRight)", "Some(BottomRight)", "None"]);
        // A point that has no name is in the way all the same.
        let pair = [named(0.20, 0.50, 10), named(0.30, 0.55, 0)];
        assert_eq!(told(&pair), ["Some(BottomRight)", "None"]);
        for many in 2..12 {
            let points: Vec<Named> = (0..many)
                .map(|n| {
                    let n = f64::from(n);
                    named(0.1 + 0.05 * n, 0.5 + 0.04 * (n * 1.7).sin(), 8)
                })
                .collect();
            let sides = sides(&points);
            let areas: Vec<(usize, Area)> = (points.iter().zip(&sides).enumerate())
                .filter_map(|(place, (point, side))| Some((place, area(point, side.as_ref()?))))
                .collect();
            assert!(!areas.is_empty());
            for (place, area) in &areas {
                assert!(area.is_inside());
                let others = areas.iter().filter(|(other, _)| other != place);
                assert!(!others.into_iter().any(|(_, other)| area.touches(other)));
                let dots = points
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| other != place);
                assert!(!dots.into_iter().any(|(_, dot)| area.touches(&dot.dot())));
            }
        }
    }

    fn area(point: &Named, side: &Position) -> Area {
        match side {
            Position::TopLeft => point.name(-1, 1),
            Position::BottomLeft => point.name(-1, -1),
            Position::TopCenter => point.name(0, 1),
            Position::BottomCenter => point.name(0, -1),
            Position::TopRight => point.name(1, 1),
            _ => point.name(1, -1),
        }
    }
}
