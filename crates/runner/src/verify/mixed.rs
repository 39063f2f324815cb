//! Several workloads at once, in one process: each is asked for as often as its weight says, in an order that spreads it evenly.

use deadheat_load::spread;
use deadheat_model::{Exchange, WorkloadManifest, workload::Oracle};
use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Client, Depth, Fault, PATIENCE, Verifier, question::ProbeRequest};
use crate::services::Postgres;

/// Different requests of a part, at most.
const MAX: usize = 500;

/// A part with its weight.
type Part<'a> = (&'a WorkloadManifest, u32);

/// The parts of a mixed workload; none of any other.
fn parts(workload: &WorkloadManifest) -> Vec<Part<'_>> {
    let Oracle::Mixed { part } = &workload.oracle else {
        return Vec::new();
    };
    let weights = part.iter().map(|part| part.weight);
    workload.parts().into_iter().zip(weights).collect()
}

/// What the groups of a mixed load are called: those of its parts, one after the other.
pub(super) fn routes(workload: &WorkloadManifest) -> Vec<String> {
    let own = |(part, _): Part<'_>| match super::routes(part) {
        none if none.is_empty() => vec![format!("{} {}", part.method, part.path)],
        several => several,
    };
    parts(workload).into_iter().flat_map(own).collect()
}

impl Verifier<'_> {
    /// Checks each part, briefly if the stack has passed it before, then all together over many connections.
    pub(super) fn verify_mixed(&mut self, depth: Depth) -> Result<u32, Fault> {
        for (part, _) in parts(self.workload) {
            let own = if self.passed_before.contains(&part.id) {
                Depth::Brief
            } else {
                depth
            };
            self.passed += self.part(part).verify(own)?;
        }
        if depth == Depth::Full {
            if self.workload.oracle.writes() {
                // The questions of items are right after a reset.
                self.own_table(Postgres::reset_items)?;
            }
            self.verify_concurrent_connections()?;
        }
        Ok(self.passed)
    }

    /// Questions of each part in turn.
    pub(super) fn mixed_questions(&mut self, count: usize) -> Result<Vec<ProbeRequest>, Fault> {
        let parts = parts(self.workload);
        let each = count.div_ceil(parts.len().max(1));
        let mut questions = Vec::new();
        for (part, _) in &parts {
            questions.push(self.part(part).questions(each)?);
        }
        let turns = (0..each).flat_map(|turn| questions.iter().map(move |own| own[turn].clone()));
        Ok(turns.take(count).collect())
    }

    /// The requests of all parts, each as often as its weight says.
    pub(super) fn mixed_to_load(&mut self) -> Result<Vec<Exchange>, Fault> {
        let parts = parts(self.workload);
        let mut first_group = 0;
        let mut all = Vec::new();
        for (part, _) in &parts {
            let mut own = self.part(part).exchanges()?;
            own.truncate(MAX);
            for exchange in &mut own {
                exchange.group = Some(first_group + exchange.group.unwrap_or(0));
            }
            first_group += super::routes(part).len().max(1) as u32;
            all.push(own);
        }
        let weights: Vec<u32> = parts.iter().map(|(_, weight)| *weight).collect();
        let lengths: Vec<usize> = all.iter().map(Vec::len).collect();
        Ok(order(&weights, &lengths)
            .into_iter()
            .map(|(part, turn)| all[part][turn].clone())
            .collect())
    }

    /// A verifier of a part, which asks as this one does.
    fn part<'p>(&'p mut self, workload: &'p WorkloadManifest) -> Verifier<'p> {
        let route = self.client.route().clone();
        Verifier {
            address: self.address,
            path: self.declared.path_of(workload),
            client: Client::with_timeout(route, PATIENCE, self.stop),
            declared: self.declared.clone(),
            workload,
            point: &workload.point[0],
            fixtures: self.fixtures,
            seat: self.seat,
            random: ChaCha8Rng::seed_from_u64(self.random.next_u64()),
            passed: 0,
            late: self.late,
            passed_before: Vec::new(),
            stop: self.stop,
        }
    }
}

/// The order of the requests of parts with these weights and numbers of requests, as pairs of the part and the index of
/// its request. It contains each request at least once and has the proportions of the weights.
fn order(weights: &[u32], lengths: &[usize]) -> Vec<(usize, usize)> {
    let rounds = weights.iter().zip(lengths);
    let rounds = rounds.map(|(weight, length)| length.div_ceil(*weight as usize));
    let rounds = rounds.max().unwrap_or(0);
    let weights: Vec<i64> = weights.iter().copied().map(i64::from).collect();
    let mut turns = vec![0; weights.len()];
    (0..rounds)
        .flat_map(|_| spread(&weights))
        .map(|part| {
            let turn = turns[part] % lengths[part].max(1);
            turns[part] += 1;
            (part, turn)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_by_their_weights_evenly_and_all_of_their_requests_come() {
        let order = order(&[3, 1, 1], &[1, 20, 5]);
        assert_eq!(order.len(), 100);
        for stretch in order.chunks(5) {
            let of = |part| stretch.iter().filter(|(one, _)| *one == part).count();
            assert_eq!([of(0), of(1), of(2)], [3, 1, 1]);
        }
        for turn in 0..20 {
            assert!(order.contains(&(1, turn)));
        }
    }
}
