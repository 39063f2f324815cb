//! Durations as a JSON number of seconds, for records (manifests write "60s" instead).

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Writes seconds as a number.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Reads seconds from a number; negative or infinite ones are errors.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
}
