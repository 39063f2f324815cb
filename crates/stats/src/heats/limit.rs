//! Who was the limit of a slice: the server, the load generator, or neither.

use schemars::JsonSchema;
use serde::Serialize;

use super::Settings;

/// What held a slice back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The server used its CPUs up. However busy the generator was, a faster one would have found nothing more.
    Server,
    /// The generator used its CPUs up while the server had time left: the server can do more than was counted.
    Generator,
    /// Both had time left: the server waited for something else, for example its database, its locks or its own
    /// queue. What was counted is what it does.
    Neither,
}

impl LimitedBy {
    /// Whether the throughput is only a lower bound of what the server can do.
    pub fn is_bound(self) -> bool {
        self == LimitedBy::Generator
    }
}

/// Who was the limit, from the shares of their CPUs' time (0 to 1) that server and generator were busy.
///
/// `generator_busy_share` is the time that the generator worked, not the time that it polled for answers.
pub fn limit_of(
    server_busy_share: f64,
    generator_busy_share: f64,
    settings: &Settings,
) -> LimitedBy {
    if server_busy_share >= settings.saturated {
        LimitedBy::Server
    } else if generator_busy_share >= settings.saturated {
        LimitedBy::Generator
    } else {
        LimitedBy::Neither
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_cpu_left_is_the_limit_however_busy_the_generator_was() {
        let settings = Settings::default();
        for (server, generator, limit) in [
            (0.98, 1.0, LimitedBy::Server),
            (0.95, 0.99, LimitedBy::Server),
            (0.949, 0.95, LimitedBy::Generator),
            (0.5, 1.0, LimitedBy::Generator),
            (0.5, 0.94, LimitedBy::Neither),
            (1.0, 0.2, LimitedBy::Server),
        ] {
            let found = limit_of(server, generator, &settings);
            assert_eq!(found, limit, "{server}, {generator}");
            assert_eq!(found.is_bound(), limit == LimitedBy::Generator);
        }
    }
}
