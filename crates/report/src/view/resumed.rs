//! That a session was not measured at one go.

use deadheat_model::SessionRecord;

use super::clean;
use crate::figure::list;

/// When it went on, and which blocks lie on both sides of a pause; `None` when there was no pause.
pub fn sentence(record: &SessionRecord) -> Option<String> {
    let times: Vec<String> = record
        .resumed
        .iter()
        .map(|one| match one.rebooted {
            true => format!("{}, after a restart of the machine", clean(&one.at)),
            false => clean(&one.at),
        })
        .collect();
    let often = match times.len() {
        0 => return None,
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        many => format!("{many} times"),
    };
    let torn: Vec<String> = record
        .straddling_blocks()
        .iter()
        .map(|block| (block + 1).to_string())
        .collect();
    // The order of a block is random, so that a pause in it favours nobody.
    let parts = match torn.as_slice() {
        [] => "No block lies on both sides of a pause.".to_owned(),
        [block] => format!(
            "Block {block} lies on both sides of a pause: what it compares was not measured close together, which makes \
             intervals wider and favours no stack."
        ),
        blocks => format!(
            "Blocks {} lie on both sides of a pause: what they compare was not measured close together, which makes \
             intervals wider and favours no stack.",
            list(blocks)
        ),
    };
    let times = times.join("; ");
    Some(format!(
        "The session was resumed {often} ({times}). {parts}"
    ))
}
