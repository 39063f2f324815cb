//! Bytes as base64 text in records.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Serialises bytes as base64.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

/// The JSON Schema of base64 text.
pub fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "contentEncoding": "base64" })
}

/// Deserialises bytes from base64. Other text is an error.
pub fn deserialize<'de, D: Deserializer<'de>, B: From<Vec<u8>>>(
    deserializer: D,
) -> Result<B, D::Error> {
    let bytes = STANDARD.decode(String::deserialize(deserializer)?);
    bytes.map(B::from).map_err(D::Error::custom)
}
