//! Frames (RFC 9113 §4.1, §6) and error codes (§7).

/// Bytes of a frame's header.
pub(super) const HEADER: usize = 9;
/// The longest payload that this client accepts, which is also the least that every server does (RFC 9113 §4.2).
pub(super) const MOST_PAYLOAD: usize = 16_384;

pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const PRIORITY: u8 = 0x2;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PING: u8 = 0x6;
pub(super) const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const WITH_PRIORITY: u8 = 0x20;

pub(super) const NO_ERROR: u32 = 0x0;
pub(super) const PROTOCOL_ERROR: u32 = 0x1;
pub(super) const CANCEL: u32 = 0x8;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Header {
    /// The header at the start of `bytes`, if it is all there.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER>()?;
        let [a, b, c, kind, flags, id @ ..] = *header;
        Some(Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The highest bit has no meaning (RFC 9113 §4.1).
            stream: u32::from_be_bytes(id) & LAST_STREAM,
        })
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn bytes(self) -> [u8; HEADER] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }
}

/// The highest number of a stream.
pub(super) const LAST_STREAM: u32 = 0x7fff_ffff;

/// Appends a whole frame.
pub(super) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let header = Header {
        length: payload.len(),
        kind,
        flags,
        stream,
    };
    out.extend_from_slice(&header.bytes());
    out.extend_from_slice(payload);
}

/// Makes frames of the header block that was appended behind room for a frame's header at `from`.
#[inline]
pub(super) fn finish_block(out: &mut Vec<u8>, from: usize, stream: u32, ends: u8) {
    let length = out.len() - from - HEADER;
    let header = |kind, flags, length| Header {
        length,
        kind,
        flags,
        stream,
    };
    if length <= MOST_PAYLOAD {
        let header = header(HEADERS, ends | END_HEADERS, length).bytes();
        out[from..from + HEADER].copy_from_slice(&header);
        return;
    }
    let block = out.split_off(from + HEADER);
    out.truncate(from);
    let mut pieces = block.chunks(MOST_PAYLOAD).peekable();
    let (mut kind, mut flags) = (HEADERS, ends);
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= END_HEADERS;
        }
        out.extend_from_slice(&header(kind, flags, piece.len()).bytes());
        out.extend_from_slice(piece);
        (kind, flags) = (CONTINUATION, 0);
    }
}

/// A number of 32 bits at the start of a payload.
#[inline]
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().copied().map(u32::from_be_bytes)
}

/// What a failed request is told apart by: the server's error code.
pub(super) fn reset(code: u32) -> &'static str {
    match code {
        0x0 => "the server reset the stream: NO_ERROR",
        0x1 => "the server reset the stream: PROTOCOL_ERROR",
        0x2 => "the server reset the stream: INTERNAL_ERROR",
        0x3 => "the server reset the stream: FLOW_CONTROL_ERROR",
        0x4 => "the server reset the stream: SETTINGS_TIMEOUT",
        0x5 => "the server reset the stream: STREAM_CLOSED",
        0x6 => "the server reset the stream: FRAME_SIZE_ERROR",
        0x7 => "the server reset the stream: REFUSED_STREAM",
        0x8 => "the server reset the stream: CANCEL",
        0x9 => "the server reset the stream: COMPRESSION_ERROR",
        0xa => "the server reset the stream: CONNECT_ERROR",
        0xb => "the server reset the stream: ENHANCE_YOUR_CALM",
        0xc => "the server reset the stream: INADEQUATE_SECURITY",
        0xd => "the server reset the stream: HTTP_1_1_REQUIRED",
        _ => "the server reset the stream with an unknown error code",
    }
}

/// The same of a connection that the server has given up.
pub(super) fn gone(code: u32) -> &'static str {
    match code {
        0x0 => "the server closed the connection after GOAWAY: NO_ERROR",
        0x1 => "the server closed the connection after GOAWAY: PROTOCOL_ERROR",
        0x2 => "the server closed the connection after GOAWAY: INTERNAL_ERROR",
        0x3 => "the server closed the connection after GOAWAY: FLOW_CONTROL_ERROR",
        0x4 => "the server closed the connection after GOAWAY: SETTINGS_TIMEOUT",
        0x5 => "the server closed the connection after GOAWAY: STREAM_CLOSED",
        0x6 => "the server closed the connection after GOAWAY: FRAME_SIZE_ERROR",
        0x7 => "the server closed the connection after GOAWAY: REFUSED_STREAM",
        0x8 => "the server closed the connection after GOAWAY: CANCEL",
        0x9 => "the server closed the connection after GOAWAY: COMPRESSION_ERROR",
        0xa => "the server closed the connection after GOAWAY: CONNECT_ERROR",
        0xb => "the server closed the connection after GOAWAY: ENHANCE_YOUR_CALM",
        0xc => "the server closed the connection after GOAWAY: INADEQUATE_SECURITY",
        0xd => "the server closed the connection after GOAWAY: HTTP_1_1_REQUIRED",
        _ => "the server closed the connection after GOAWAY with an unknown error code",
    }
}
