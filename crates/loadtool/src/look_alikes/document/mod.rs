//! Reports of loads as other load generators print them, for scripts that read those: ab 2.3, wrk 4, hey 0.1 and oha 1.
//!
//! Each function returns what the tool would have printed on standard output. Figures mean what they mean there: an answer
//! of any status is a request that is complete, and its time counts. What deadheat would say to that is in [`remarks`].

mod ab;
mod found;
mod hey;
mod oha;
mod remarks;
mod wrk;

pub use ab::{Ab, ab, ab_percentiles};
pub use hey::hey;
pub use oha::{oha, oha_json};
pub use remarks::{Tool, remarks};
pub use wrk::wrk;
