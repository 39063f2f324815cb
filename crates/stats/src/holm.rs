//! Correction for how many hypotheses were tested (Holm, "A simple sequentially rejective multiple test procedure", Scand.
//! J. Stat. 6, 1979).

/// Holm's adjusted p values, in the order of `p`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (step, index) in order.into_iter().enumerate() {
        least = least.max((p[index] * (p.len() - step) as f64).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}
