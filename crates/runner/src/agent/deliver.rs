//! How this program gets to another host: through the launcher, once, into a file that is named by its SHA-256.

use std::{
    fs,
    io::{self, Write},
};

use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// What the script says when the program is not there.
pub(super) const SEND: &str = "deadheat-send";

/// This program's file.
pub(super) struct Parcel {
    bytes: Vec<u8>,
    name: String,
}

impl Parcel {
    /// Of the program that runs, even if its file has been replaced meanwhile.
    pub(super) fn own() -> io::Result<Self> {
        let bytes = fs::read("/proc/self/exe")?;
        let name = hex(Sha256::digest(&bytes));
        Ok(Self { bytes, name })
    }

    /// A POSIX shell's script that becomes the agent, and asks for the program before if it is not there.
    pub(super) fn script(&self) -> String {
        let (name, size) = (&self.name, self.bytes.len());
        format!(
            "umask 077; \
             d=\"${{XDG_CACHE_HOME:-${{HOME:?has no value, so there is no folder for deadheat}}/.cache}}/deadheat/agents\"; \
             f=\"$d/{name}\"; p=\"$f.$$\"; \
             if [ ! -x \"$f\" ]; then \
             mkdir -p \"$d\" && echo {SEND} && head -c {size} > \"$p\" && [ \"$(wc -c < \"$p\")\" -eq {size} ] \
             && chmod 700 \"$p\" && mv \"$p\" \"$f\" || {{ rm -f \"$p\"; exit 1; }}; \
             fi; exec \"$f\" agent"
        )
    }

    /// Sends the program.
    pub(super) fn send(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.bytes)?;
        out.flush()
    }
}
