//! How many requests may still be issued, over all workers.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many requests the workers may still issue after the warm-up, together.
#[derive(Debug)]
pub(crate) enum Quota {
    /// As many as fit into the time.
    Unlimited,
    /// So many. One counter for all workers: a share for each would leave the quicker ones idle at the end.
    Left(AtomicU64),
}

impl Quota {
    pub(crate) fn new(requests: u64) -> Self {
        Quota::Left(AtomicU64::new(requests))
    }

    /// Takes one request from the quota, if one is left.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        match self {
            Quota::Unlimited => true,
            Quota::Left(left) => {
                let one_less = |left: u64| left.checked_sub(1);
                // Only the count itself is shared: no other memory hangs on its order.
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                    .is_ok()
            }
        }
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        !self.has_more_than(0)
    }

    /// Whether more than `count` requests are left.
    #[inline]
    pub(crate) fn has_more_than(&self, count: usize) -> bool {
        match self {
            Quota::Unlimited => true,
            Quota::Left(left) => left.load(Ordering::Relaxed) > count as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_exact_over_threads() {
        let quota = Quota::new(1_000);
        let claimed = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while quota.claim() {
                        claimed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(claimed.into_inner(), 1_000);
        assert!(quota.is_spent() && !quota.claim());
    }
}
