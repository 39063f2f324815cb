//! The messages between the coordinator and an agent, and the maximum length of each kind.

use std::{
    io::{self, Read},
    net::IpAddr,
    time::Duration,
};

use deadheat_model::{Interval, LoadSpec, Observation, SliceEvent, SliceResult, machine::Machine};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::frame::{self, FrameError};
use crate::doctor::Examination;

/// The version of the protocol. Coordinator and agent must have the same version.
pub(super) const PROTOCOL: u32 = 10;

/// A message of the coordinator. The first is `Hello`, the last is `Bye`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum Order {
    Hello {
        protocol: u32,
    },
    /// Query the agent's clock.
    Clock {
        nth: u32,
    },
    /// Prepare a load.
    Load {
        spec: Box<LoadSpec>,
    },
    /// Start the load when the agent's monotonic clock shows this time, in nanoseconds.
    Start {
        at: u64,
    },
    /// Prepare a load in slices with this number.
    Open {
        load: u32,
        spec: Box<LoadSpec>,
    },
    /// Run a slice that starts when the agent's monotonic clock shows this time, in nanoseconds.
    Slice {
        load: u32,
        at: u64,
        #[serde(with = "deadheat_model::seconds")]
        guard: Duration,
        #[serde(with = "deadheat_model::seconds")]
        length: Duration,
    },
    /// Close the connections of a load.
    Close {
        load: u32,
    },
    /// Start a database on an address of the agent's host, which only one client and the host itself can reach.
    Database {
        listen: IpAddr,
        client: IpAddr,
    },
    /// Stop the load or slice now.
    Stop,
    /// The coordinator's heartbeat.
    Alive,
    Bye,
    /// Run the checks of `deadheat doctor` on the host, and watch other programs for this time.
    Examine {
        #[serde(with = "deadheat_model::seconds")]
        watch: Duration,
        connections: u32,
    },
}

/// A message of an agent. The first is `Hello`, the last is `Bye`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "say")]
pub(super) enum AgentMessage {
    Hello(Box<Host>),
    Clock {
        nth: u32,
        at: u64,
    },
    /// The load is prepared.
    Ready,
    /// The load reached one of its instants.
    Reached(SliceEvent),
    Interval {
        interval: Box<Interval>,
    },
    /// The load has ended.
    Observed {
        observation: Box<Observation>,
    },
    /// The load in slices is prepared.
    Opened {
        load: u32,
    },
    /// A slice has ended.
    Sliced {
        load: u32,
        result: Box<SliceResult>,
    },
    /// The database is running.
    Serving {
        /// The URL with a password, which is stored nowhere else.
        url: String,
        description: String,
    },
    /// An order failed.
    Refused {
        why: String,
    },
    /// The agent's heartbeat.
    Alive,
    Bye,
    Examined(Box<Examination>),
}

/// The identity of an agent and its host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Host {
    pub(super) protocol: u32,
    /// Deadheat's version on the host.
    pub(super) version: String,
    /// The host's own name.
    pub(super) name: String,
    pub(super) machine: Machine,
}

/// The name and limits of a kind of message.
pub(super) struct MessageKind {
    /// The kind's name, the value of the field `say`.
    name: &'static str,
    /// The maximum length of the content in bytes.
    longest: u32,
    /// The maximum length in bytes of a text in the message, which is checked before the message is parsed. `None`:
    /// values are not checked.
    checked: Option<usize>,
}

/// A kind whose values are checked.
const fn kind(name: &'static str, longest: u32, longest_text: usize) -> MessageKind {
    MessageKind {
        name,
        longest,
        checked: Some(longest_text),
    }
}

/// A kind with numbers and texts of any size, which the receiver checks.
const fn free(name: &'static str, longest: u32) -> MessageKind {
    MessageKind {
        name,
        longest,
        checked: None,
    }
}

/// The maximum length of a message with a few numbers, in bytes.
const SMALL: u32 = 512;
/// The maximum length of a load with bodies, lists and certificates, in bytes.
const LOAD: u32 = 256 << 20;
/// The maximum length of a histogram in base64, in bytes.
const HISTOGRAM: usize = 1 << 20;
/// The maximum length of the reason of a refusal, in bytes.
pub(super) const MAX_SAID_OF_A_REFUSAL: usize = 4_000;

/// A message with a kind that limits its length.
pub(super) trait Message: Serialize + DeserializeOwned {
    /// All kinds. A kind's number is its index here.
    const KINDS: &'static [MessageKind];

    /// The number of the message's kind.
    fn number(&self) -> u8;

    /// The name of the message's kind.
    fn name(&self) -> &'static str {
        Self::KINDS[usize::from(self.number())].name
    }
}

impl Message for Order {
    const KINDS: &'static [MessageKind] = &[
        kind("hello", SMALL, 64),
        kind("clock", SMALL, 64),
        free("load", LOAD),
        free("start", SMALL),
        free("open", LOAD),
        free("slice", SMALL),
        kind("close", SMALL, 64),
        kind("database", SMALL, 64),
        kind("stop", SMALL, 64),
        kind("alive", SMALL, 64),
        kind("bye", SMALL, 64),
        kind("examine", SMALL, 64),
    ];

    fn number(&self) -> u8 {
        match self {
            Self::Hello { .. } => 0,
            Self::Clock { .. } => 1,
            Self::Load { .. } => 2,
            Self::Start { .. } => 3,
            Self::Open { .. } => 4,
            Self::Slice { .. } => 5,
            Self::Close { .. } => 6,
            Self::Database { .. } => 7,
            Self::Stop => 8,
            Self::Alive => 9,
            Self::Bye => 10,
            Self::Examine { .. } => 11,
        }
    }
}

impl Message for AgentMessage {
    const KINDS: &'static [MessageKind] = &[
        kind("hello", 256 << 10, 4 << 10),
        free("clock", SMALL),
        kind("ready", SMALL, 64),
        kind("reached", SMALL, 64),
        kind("interval", 4 << 20, HISTOGRAM),
        kind("observed", 32 << 20, HISTOGRAM),
        kind("opened", SMALL, 64),
        kind("sliced", 32 << 20, HISTOGRAM),
        kind("serving", 8 << 10, 2 << 10),
        // JSON may encode one byte as six.
        kind(
            "refused",
            8 * MAX_SAID_OF_A_REFUSAL as u32,
            MAX_SAID_OF_A_REFUSAL,
        ),
        kind("alive", SMALL, 64),
        kind("bye", SMALL, 64),
        kind("examined", 1 << 20, 16 << 10),
    ];

    fn number(&self) -> u8 {
        match self {
            Self::Hello(_) => 0,
            Self::Clock { .. } => 1,
            Self::Ready => 2,
            Self::Reached(_) => 3,
            Self::Interval { .. } => 4,
            Self::Observed { .. } => 5,
            Self::Opened { .. } => 6,
            Self::Sliced { .. } => 7,
            Self::Serving { .. } => 8,
            Self::Refused { .. } => 9,
            Self::Alive => 10,
            Self::Bye => 11,
            Self::Examined(_) => 12,
        }
    }
}

impl AgentMessage {
    /// A refusal, with the reason shortened to the maximum length.
    pub(super) fn refused(why: impl Into<String>) -> Self {
        let mut why = why.into();
        let mut most = MAX_SAID_OF_A_REFUSAL.min(why.len());
        while !why.is_char_boundary(most) {
            most -= 1;
        }
        why.truncate(most);
        Self::Refused { why }
    }
}

/// Encodes a message as a frame.
///
/// # Errors
/// When it is longer than its kind allows.
pub(super) fn framed<M: Message>(message: &M) -> io::Result<Vec<u8>> {
    let content = serde_json::to_vec(message)?;
    let kind = &M::KINDS[usize::from(message.number())];
    if content.len() > kind.longest as usize {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "a message of {} bytes, and one of this kind (`{}`) has at most {}",
                content.len(),
                kind.name,
                kind.longest
            ),
        ));
    }
    frame::framed(message.number(), &content)
}

/// Reads the next message.
pub(super) fn receive<M: Message>(input: &mut impl Read) -> Result<M, FrameError> {
    let kind = |number: u8| M::KINDS.get(usize::from(number));
    let (number, content) = frame::read(input, |number| kind(number).map_or(0, |it| it.longest))?;
    // The checksum is right, so the sender sent a wrong message.
    let implausible = |why: String| FrameError::Implausible(why);
    let Some(kind) = kind(number) else {
        return Err(implausible(format!("a message of kind {number}")));
    };
    let checked = kind
        .checked
        .map_or(Ok(()), |longest_text| frame::check(&content, longest_text));
    let message: M = checked
        .and_then(|()| serde_json::from_slice(&content))
        .map_err(|error| implausible(format!("`{}`: {error}", kind.name)))?;
    if message.number() != number {
        return Err(implausible(format!(
            "`{}` as a message of kind `{}`",
            message.name(),
            kind.name
        )));
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_messages_have_their_names() {
        fn agree<M: Message>(messages: &[M]) {
            assert_eq!(messages.len(), M::KINDS.len());
            for (nth, message) in messages.iter().enumerate() {
                assert_eq!(usize::from(message.number()), nth);
                let json = serde_json::to_value(message).unwrap();
                assert_eq!(json["say"], message.name());
                let frame = framed(message).unwrap();
                let back: M = receive(&mut frame.as_slice()).unwrap();
                assert_eq!(back.number(), message.number());
            }
        }
        let spec = || {
            use deadheat_model::{
                Schedule, StopRule,
                load::{Exchange, Expectation, RequestSpec, StatusSet, Target},
            };
            let expect = Expectation {
                status: StatusSet::success(),
                length: None,
                content: None,
            };
            let schedule = Schedule::Closed {
                connections: 1,
                ramp: Duration::ZERO,
            };
            let exchange = Exchange::new(RequestSpec::get("/"), expect);
            let target = Target::plain(([127, 0, 0, 1], 80).into());
            let mut spec = LoadSpec::new(target, vec![exchange], schedule, StopRule::Interrupt);
            spec.seed = u64::MAX;
            Box::new(spec)
        };
        let local = IpAddr::from([127, 0, 0, 1]);
        let (load, at) = (7, u64::MAX);
        let length = Duration::from_millis(130);
        agree(&[
            Order::Hello { protocol: PROTOCOL },
            Order::Clock { nth: 1 },
            Order::Load { spec: spec() },
            Order::Start { at },
            Order::Open { load, spec: spec() },
            Order::Slice {
                load,
                at,
                guard: length,
                length,
            },
            Order::Close { load },
            Order::Database {
                listen: local,
                client: local,
            },
            Order::Stop,
            Order::Alive,
            Order::Bye,
            Order::Examine {
                watch: length,
                connections: 1,
            },
        ]);
        agree(&[
            AgentMessage::Hello(Box::default()),
            AgentMessage::Clock { nth: 1, at },
            AgentMessage::Ready,
            AgentMessage::Reached(SliceEvent::CountingStarted),
            AgentMessage::Interval {
                interval: Box::default(),
            },
            AgentMessage::Observed {
                observation: Box::default(),
            },
            AgentMessage::Opened { load },
            AgentMessage::Sliced {
                load,
                result: Box::default(),
            },
            AgentMessage::Serving {
                url: "url".to_owned(),
                description: "PostgreSQL".to_owned(),
            },
            AgentMessage::refused("\u{1}".repeat(2 * MAX_SAID_OF_A_REFUSAL)),
            AgentMessage::Alive,
            AgentMessage::Bye,
            AgentMessage::Examined(Box::default()),
        ]);
    }

    #[test]
    fn a_message_of_another_kind_than_its_frame_says_is_refused() {
        let content = serde_json::to_vec(&AgentMessage::refused("no")).unwrap();
        let frame = frame::framed(AgentMessage::Ready.number(), &content).unwrap();
        let error = receive::<AgentMessage>(&mut frame.as_slice()).unwrap_err();
        assert!(
            error.to_string().contains("as a message of kind"),
            "{error}"
        );
        let frame = frame::framed(200, b"").unwrap();
        let error = receive::<AgentMessage>(&mut frame.as_slice()).unwrap_err();
        assert!(error.to_string().contains("kind 200"), "{error}");
    }
}
