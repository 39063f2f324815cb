//! Random numbers that are a function of a seed and a count, so that a schedule can be made again from any point.

/// A 64-bit number that looks random: SplitMix64's output function (Steele, Lea & Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014) at the `index`-th step of the sequence that `seed` starts.
#[inline]
pub(crate) fn number(seed: u64, index: u64) -> u64 {
    let mut state = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A number of the unit interval, 0 included, 1 excluded.
#[inline]
pub(crate) fn unit(seed: u64, index: u64) -> f64 {
    // The 53 bits that an f64 can tell apart.
    (number(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

/// A number from `low` to `high`, both included. The bias of the multiplication is below 2⁻⁶⁴ times the range
/// (Lemire, "Fast random integer generation in an interval", 2019, without its rejection).
#[inline]
pub(crate) fn between(seed: u64, index: u64, low: u64, high: u64) -> u64 {
    let count = u128::from(high - low) + 1;
    low + ((u128::from(number(seed, index)) * count) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The reference implementation's first outputs for the seed 1234567.
        let outputs = [0, 1, 2].map(|index| number(1_234_567, index));
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_lie_in_their_interval_and_fill_it() {
        let mut seen = [0u32; 6];
        for index in 0..6_000 {
            let unit = unit(7, index);
            assert!((0.0..1.0).contains(&unit));
            seen[between(7, index, 10, 15) as usize - 10] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
        assert_eq!(between(1, 2, 5, 5), 5);
        assert!(between(1, 2, 0, u64::MAX) > 0);
    }
}
