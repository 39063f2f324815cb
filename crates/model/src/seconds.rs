//! Durations as a JSON number of seconds, for records (manifests write "60s" instead).

use std::time::{Duration, TryFromFloatSecsError};

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Serialises seconds as a number.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// The maximum duration that is read, about three centuries. Any number of such durations can be added up.
const LONGEST: Duration = Duration::from_secs(10_000_000_000);

/// Deserialises seconds from a number. Negative, infinite and longer durations are errors.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    duration(f64::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Why a number of seconds is not read as a duration.
#[derive(Debug, PartialEq, thiserror::Error)]
enum DurationError {
    #[error("{seconds:e} s are longer than any measurement")]
    TooLong { seconds: f64 },
    #[error(transparent)]
    OutOfRange(#[from] TryFromFloatSecsError),
}

fn duration(seconds: f64) -> Result<Duration, DurationError> {
    let duration = Duration::try_from_secs_f64(seconds)?;
    if duration <= LONGEST {
        Ok(duration)
    } else {
        Err(DurationError::TooLong { seconds })
    }
}

/// The JSON Schema of a number of seconds.
pub fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "minimum": 0 })
}

/// Optional durations in seconds.
pub mod option {
    use std::time::Duration;

    use schemars::{Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer, de::Error as _};

    /// Serialises seconds as a number, or null.
    pub fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration
            .map(|duration| duration.as_secs_f64())
            .serialize(serializer)
    }

    /// Deserialises seconds from a number, or `None` from null.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        let duration = seconds.map(super::duration).transpose();
        duration.map_err(D::Error::custom)
    }

    /// The JSON Schema of a number of seconds, or null.
    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "null"], "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_cannot_be_added_up_are_errors() {
        assert_eq!(duration(1.5), Ok(Duration::from_millis(1_500)));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e11, 1.8e19, 1e300] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
