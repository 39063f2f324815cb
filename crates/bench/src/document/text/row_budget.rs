//! How many lines each load gets. A pure function of heights.

/// Fewer rows of a table than this say less than its answer.
const LEAST_ROWS: usize = 2;
/// Lines besides answers and rows: the column heads, what is left out, the legend.
const AROUND_TABLES: usize = 3;

/// What is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Loads whose answers are shown.
    pub answers: usize,
    /// Rows that are shown of each load's tables.
    pub rows: Vec<Vec<usize>>,
    /// Rows that are not.
    pub rows_left_out: usize,
}

impl Plan {
    /// Whether any table is shown.
    pub(super) fn has_tables(&self) -> bool {
        self.rows.iter().flatten().any(|rows| *rows > 0)
    }

    /// Whether an empty line stands before each answer.
    pub(super) fn is_spaced(&self) -> bool {
        self.has_tables() || self.answers <= 1
    }
}

/// Shares `room` lines out. `answers` has the lines of each load's answer, `tables` the rows of each of its tables.
pub(super) fn plan(room: usize, answers: &[usize], tables: &[Vec<usize>]) -> Plan {
    let all: usize = tables.iter().flatten().sum();
    let fixed: usize = answers.iter().map(|lines| lines + 1).sum();
    // Each further table of a load has a title, and another measure has heads of its own.
    let titles: usize = tables
        .iter()
        .map(|tables| tables.len().saturating_sub(1))
        .sum();
    let heads = AROUND_TABLES + usize::from(tables.len() > 1) + titles;
    let shown = tables.iter().flatten().count();
    let left = room.saturating_sub(fixed + heads);
    if shown == 0 || left < shown * LEAST_ROWS.min(all / shown.max(1)) {
        return answers_only(room, answers, tables, all);
    }
    let rows = shared(left, tables);
    let given: usize = rows.iter().flatten().sum();
    Plan {
        answers: answers.len(),
        rows,
        rows_left_out: all - given,
    }
}

/// One row more for each table in turn, until there is no room or no row left.
fn shared(mut room: usize, tables: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = tables.iter().map(|tables| vec![0; tables.len()]).collect();
    loop {
        let before = room;
        for (given, all) in rows.iter_mut().flatten().zip(tables.iter().flatten()) {
            if room > 0 && *given < *all {
                *given += 1;
                room -= 1;
            }
        }
        if room == before || room == 0 {
            return rows;
        }
    }
}

fn answers_only(room: usize, answers: &[usize], tables: &[Vec<usize>], all: usize) -> Plan {
    // A blank line, what is left out of the loads, and of the rows.
    let mut left = room.saturating_sub(3);
    let fits = |lines: &&usize| {
        let has_room = **lines <= left;
        left = left.saturating_sub(**lines);
        has_room
    };
    Plan {
        answers: answers.iter().take_while(fits).count(),
        rows: tables.iter().map(|tables| vec![0; tables.len()]).collect(),
        rows_left_out: all,
    }
}

#[cfg(test)]
mod tests {
    use super::plan;

    #[test]
    fn a_single_table_gets_all_the_room() {
        let found = plan(30, &[1], &[vec![18]]);
        assert_eq!((found.rows, found.rows_left_out), (vec![vec![18]], 0));
        let found = plan(15, &[2], &[vec![18]]);
        assert_eq!((found.rows, found.rows_left_out), (vec![vec![9]], 9));
    }

    #[test]
    fn tables_share_alike_and_short_ones_leave_their_room() {
        let found = plan(26, &[1, 1], &[vec![3], vec![18]]);
        assert_eq!(found.rows, [vec![3], vec![15]]);
        assert_eq!(found.rows_left_out, 3);
    }

    #[test]
    fn many_loads_have_their_answers_alone_and_never_more_than_fit() {
        let answers = vec![2; 30];
        let found = plan(25, &answers, &vec![vec![30]; 30]);
        assert_eq!(found.answers, 11);
        assert!(!found.has_tables());
        assert_eq!(found.rows_left_out, 900);
    }

    #[test]
    fn nothing_measured_needs_no_table() {
        let found = plan(25, &[1], &[Vec::new()]);
        assert_eq!((found.answers, found.has_tables()), (1, false));
    }
}
