//! What makes a load no measurement. One place for it: loads are judged by it while a session runs, and records
//! afterwards.

use crate::Observation;

/// The share of ended requests that may fail on the way (0 to 1): with more, a load is no measurement.
pub const TRANSPORT_FAILURES: f64 = 0.001;

/// Why a load is no measurement. The first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// Requests were lost or invented: the generator's own figures do not add up.
    NotConserved,
    /// Answers came and were wrong, in the warm-up or in the measurement. One is enough.
    WrongAnswers {
        /// Wrong answers.
        count: u64,
    },
    /// Not one verified answer in the measurement.
    NoSuccess,
    /// Too many requests failed on the way, in the measurement.
    TransportFailures {
        /// Requests that failed so.
        count: u64,
        /// Requests that ended.
        ended: u64,
    },
}

impl Observation {
    /// Why this is no measurement, if so; `transport_failures` is the share of its ended requests that may fail on the
    /// way ([`TRANSPORT_FAILURES`]).
    pub fn fault(&self, transport_failures: f64) -> Option<LoadFault> {
        let measured = &self.measured;
        if !(measured.is_conserved() && self.total.is_conserved()) {
            return Some(LoadFault::NotConserved);
        }
        let wrong_measured = measured.failed.wrong_answers();
        let wrong = self.total.failed.wrong_answers().max(wrong_measured);
        if wrong > 0 {
            return Some(LoadFault::WrongAnswers { count: wrong });
        }
        if measured.succeeded == 0 || self.window.is_zero() {
            return Some(LoadFault::NoSuccess);
        }
        let (count, ended) = (measured.failed.total(), measured.ended());
        let too_many = count as f64 > transport_failures * ended as f64;
        too_many.then_some(LoadFault::TransportFailures { count, ended })
    }
}
