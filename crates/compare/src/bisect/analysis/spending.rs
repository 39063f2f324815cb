//! What each comparison of a search may cost of the error level.

/// Steps of a search among so many commits, if each can be measured and answers.
pub fn steps(commits: usize) -> u32 {
    commits.max(1).next_power_of_two().trailing_zeros()
}

/// The share of `alpha` (0 to 1) for a comparison after `asked` others.
pub fn share(alpha: f64, commits: usize, asked: usize) -> f64 {
    let planned = 1 + steps(commits) as usize;
    let additional = (asked + 1).saturating_sub(planned);
    alpha / (planned + 1) as f64 * 0.5_f64.powi(additional.min(1_000) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_halves_its_commits() {
        let cases = [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (20, 5),
            (1024, 10),
            (1025, 11),
        ];
        for (commits, expected) in cases {
            assert_eq!(steps(commits), expected, "{commits}");
        }
    }

    #[test]
    fn all_comparisons_together_spend_the_error_level_and_no_more() {
        for commits in [1, 2, 20, 1000] {
            let shares = (0..200).map(|asked| share(0.05, commits, asked));
            let sum: f64 = shares.sum();
            assert!((sum - 0.05).abs() < 1e-12, "{commits}: {sum}");
        }
        assert!((share(0.05, 20, 0) - share(0.05, 20, 5)).abs() < 1e-15);
        assert!(share(0.05, 20, 6) < share(0.05, 20, 5));
    }
}
