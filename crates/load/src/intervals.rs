//! The workers' intervals, joined to those of the whole load.

use std::collections::BTreeMap;

use deadheat_model::Interval;

use crate::recorder::Return;

/// Joins what the workers saw in each interval.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    /// The ways back of the workers' own intervals.
    returns: Vec<Return>,
    /// Those that some worker is still missing in, with how many are there.
    begun: BTreeMap<u64, (usize, Box<Interval>)>,
}

impl Intervals {
    /// Another worker, in the order of their indexes.
    pub(crate) fn add_worker(&mut self, give_back: Return) {
        self.returns.push(give_back);
    }

    /// Takes in an interval of worker `worker`; `on_interval` gets what is whole now, in order.
    pub(crate) fn join(
        &mut self,
        worker: usize,
        part: Box<Interval>,
        on_interval: &mut dyn FnMut(Box<Interval>),
    ) {
        match self.begun.get_mut(&part.index) {
            Some((there, whole)) => {
                whole.merge(&part);
                *there += 1;
            }
            None => {
                self.begun.insert(part.index, (1, Box::new(part.compact())));
            }
        }
        if let Some(give_back) = self.returns.get(worker) {
            // The worker is through, and needs none any more.
            let _ = give_back.try_send(part);
        }
        while let Some(first) = self.begun.first_entry() {
            if first.get().0 < self.returns.len() {
                return;
            }
            on_interval(first.remove().1);
        }
    }

    /// No worker goes on: what is there is all there is.
    pub(crate) fn flush(&mut self, on_interval: &mut dyn FnMut(Box<Interval>)) {
        while let Some((_, (_, whole))) = self.begun.pop_first() {
            on_interval(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn an_interval_is_told_once_all_workers_are_through_it() {
        let mut intervals = Intervals::default();
        let (first, _first) = sync_channel(9);
        let (second, _second) = sync_channel(9);
        intervals.add_worker(first);
        intervals.add_worker(second);
        let mut told = Vec::new();
        let part = |index, succeeded| {
            Box::new(Interval {
                index,
                succeeded,
                ..Interval::default()
            })
        };
        let mut join = |worker, index, succeeded| {
            let mut note = |whole: Box<Interval>| told.push((whole.index, whole.succeeded));
            intervals.join(worker, part(index, succeeded), &mut note);
        };
        join(0, 0, 1);
        join(0, 1, 2);
        join(1, 0, 10);
        join(0, 2, 4);
        join(1, 1, 20);
        assert_eq!(told, [(0, 11), (1, 22)]);
        intervals.flush(&mut |whole| told.push((whole.index, whole.succeeded)));
        assert_eq!(told, [(0, 11), (1, 22), (2, 4)]);
    }
}
