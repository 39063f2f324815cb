//! The body of an answer, by its framing.

use super::{Malformed, chunked::Chunked, head::Framing};

/// What is left of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// So many bytes.
    Sized { left: u64 },
    /// What the chunked coding says.
    Chunked(Chunked),
    /// Everything up to the end of the connection.
    UntilClose,
}

impl Body {
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Body::Sized { left: 0 },
            Framing::Sized(left) => Body::Sized { left },
            Framing::Chunked => Body::Chunked(Chunked::new()),
            Framing::UntilClose => Body::UntilClose,
        }
    }

    /// Takes bytes until the body's end; the data goes to `data`, with whether a chunk ends with it. Returns how many bytes belonged to the body.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8], bool),
    ) -> Result<usize, Malformed> {
        match self {
            Body::Sized { left } => {
                let here = (*left).min(bytes.len() as u64);
                if here > 0 {
                    data(&bytes[..here as usize], false);
                    *left -= here;
                }
                Ok(here as usize)
            }
            Body::Chunked(chunked) => chunked.feed(bytes, data),
            Body::UntilClose => {
                data(bytes, false);
                Ok(bytes.len())
            }
        }
    }

    /// Whether nothing is left, without the end of the connection.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Body::Sized { left: 0 } | Body::Chunked(Chunked::Done))
    }
}
