//! Variances that borrow from each other: with few heats each member's own variance is a guess, and the lucky ones
//! would give far too narrow intervals.
//!
//! A member's variance becomes the weighted mean of its own and of what is expected of it, by their degrees of freedom
//! (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004: moderated t). Expected is what the scatter within its heats explains,
//! which many rounds show well, plus what processes add, which is taken to be the same for all members and follows from
//! all residuals together. The expectation counts as [`Settings::expected_freedom`](super::Settings) degrees of freedom.
//!
//! Smyth estimates that number, and one expectation for all, from the variances themselves. That is right for thousands
//! of them. For the 2 to 10 of a heat it was wrong both ways in simulations (docs/statistics.md): too wide with 3 heats,
//! and with 10 members and 8 heats 7.3 % of the sessions made a false difference where 5 % may; single pairs were covered in
//! 87 to 99 %. With this rule it is 4.2 %, and 93 to 98 %.

/// A variance with its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The estimate.
    pub value: f64,
    /// Degrees of freedom behind it; not a whole number.
    pub freedom: f64,
}

/// No variance is smaller than this (on the logarithm): figures without any scatter must have a weight, too.
const LEAST: f64 = 1e-16;

/// The members' moderated variances, from their own and from what the scatter within their heats explains of them
/// (`None` where it is not known). `None` if there is no variance at all.
pub fn moderate(
    own: &[Variance],
    within: &[Option<f64>],
    expected_freedom: f64,
) -> Option<Vec<Variance>> {
    let freedom: f64 = own.iter().map(|own| own.freedom).sum();
    if freedom <= 0.0 {
        return None;
    }
    let known: Vec<f64> = within.iter().flatten().copied().collect();
    let usual = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let explained: Vec<f64> = within.iter().map(|one| one.unwrap_or(usual)).collect();
    let mean = |of: &dyn Fn(&Variance, f64) -> f64| {
        let all = own.iter().zip(&explained);
        let all = all.map(|(own, explained)| own.freedom * of(own, *explained));
        all.sum::<f64>() / freedom
    };
    let processes = mean(&|own, explained| own.value - explained).max(0.0);
    // Where the rounds explain more than there is, everything is scaled down to what there is.
    let scale = mean(&|own, explained| own.value / (explained + processes).max(LEAST));
    let moderated = own.iter().zip(&explained).map(|(own, explained)| {
        let expected = scale * (explained + processes).max(LEAST);
        let freedom = own.freedom + expected_freedom;
        let value = (own.freedom * own.value + expected_freedom * expected) / freedom;
        Variance {
            value: value.max(LEAST),
            freedom,
        }
    });
    Some(moderated.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(value: f64, freedom: f64) -> Variance {
        Variance { value, freedom }
    }

    #[test]
    fn without_scatter_within_heats_the_pooled_variance_is_expected() {
        let found = moderate(&[own(1.0, 4.0), own(5.0, 4.0)], &[None, None], 4.0).unwrap();
        // Pooled: 3. Each is half its own and half that.
        assert_eq!(found, [own(2.0, 8.0), own(4.0, 8.0)]);
    }

    #[test]
    fn a_member_that_scatters_within_its_heats_is_expected_to_scatter_between_them() {
        let within = [Some(1.0), Some(3.0)];
        let found = moderate(&[own(2.0, 4.0), own(4.0, 4.0)], &within, 4.0).unwrap();
        // Processes add 1 to each: the variances are as expected.
        assert_eq!(found, [own(2.0, 8.0), own(4.0, 8.0)]);
        // A quiet one that looks noisy by chance, and the other way round.
        let found = moderate(&[own(4.0, 4.0), own(2.0, 4.0)], &within, 4.0).unwrap();
        assert!(found[0].value < 4.0 && found[1].value > 2.0, "{found:?}");
    }

    #[test]
    fn heats_that_scatter_less_than_their_rounds_explain_are_believed() {
        let found = moderate(&[own(1.0, 1e6), own(1.0, 1e6)], &[Some(4.0); 2], 4.0).unwrap();
        assert!(found.iter().all(|found| (found.value - 1.0).abs() < 1e-9));
    }

    #[test]
    fn without_any_freedom_there_is_no_variance_and_without_any_scatter_it_is_not_zero() {
        assert_eq!(moderate(&[own(0.0, 0.0)], &[Some(1.0)], 4.0), None);
        let found = moderate(&[own(0.0, 3.0)], &[None], 4.0).unwrap();
        assert!(found[0].value > 0.0);
    }
}
