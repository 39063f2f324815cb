//! A server whose capacity is known.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{Script, Step, Turn, answers};

/// One queue in virtual time: a request takes 1/`per_second` after the one before it, and its answer comes so much
/// later. However busy the machine is, no more requests are served, and none later, than such a queue would.
pub fn single_queue(per_second: f64, later: Duration) -> impl Script {
    let each = Duration::from_secs_f64(1.0 / per_second);
    let free = Mutex::new(Duration::ZERO);
    move |turn: &Turn<'_>| {
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = turn.arrived.max(*free) + each;
        vec![Step::Until(*free + later), Step::Send(answers::hello())]
    }
}
