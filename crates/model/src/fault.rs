//! What makes a load no measurement.

use crate::Observation;

/// The share of ended requests that may fail on the way (0 to 1): with more, figures are in doubt.
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
}

impl Observation {
    /// Why this is no measurement, if so.
    pub fn fault(&self) -> Option<LoadFault> {
        if !(self.measured.is_conserved() && self.total.is_conserved()) {
            return Some(LoadFault::NotConserved);
        }
        let measured = self.measured.failed.wrong_answers();
        let count = self.total.failed.wrong_answers().max(measured);
        (count > 0).then_some(LoadFault::WrongAnswers { count })
    }
}
