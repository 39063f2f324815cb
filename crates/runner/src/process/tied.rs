//! Another Deadheat as a child, which needs no supervisor: all that it starts has one of its own, and ends with it.

use std::{
    io,
    os::unix::process::{CommandExt as _, parent_id},
    process::Command,
};

use super::sys;

/// Has the kernel kill the command's process when the calling thread ends, in whatever way (prctl(2),
/// `PR_SET_PDEATHSIG`).
pub(crate) fn end_with_this_thread(command: &mut Command) {
    let own = std::process::id();
    let prepare = move || {
        sys::die_with_parent()?;
        // Who starts agents may have had them ignore SIGINT, as shells do with what they start in the background.
        sys::take_signals()?;
        // A parent that ended before that call sends no signal.
        if parent_id() == own {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    };
    // SAFETY: the closure makes system calls only and touches nothing that a fork could have left locked.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
}
