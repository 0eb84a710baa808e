//! Values that documents have as text, written as on the command line.

use lattice_files::words::Words;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;

/// Writes the text that the value is displayed as.
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads a value from text.
///
/// # Errors
/// If the text is no such value. The message tells the problem and the allowed texts.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    parse(&String::deserialize(deserializer)?)
}

pub(crate) fn parse<T: FromStr<Err: Display>, E: Error>(text: &str) -> Result<T, E> {
    text.parse().map_err(|error| E::custom(format!("{text} is not allowed: {error}")))
}

/// Reading and writing of a value that may be left out.
pub mod option {
    use super::{Deserialize, Deserializer, Display, FromStr, Serializer, parse};

    /// Writes a value like [`super::serialize`], or nothing.
    pub fn serialize<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a value like [`super::deserialize`], or nothing.
    ///
    /// # Errors
    /// All errors of [`super::deserialize`].
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        Option::<String>::deserialize(deserializer)?.map(|text| parse(&text)).transpose()
    }
}

/// Returns the keys that are given in a table, with their values.
pub(crate) fn keys(table: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(table) {
        Ok(Value::Object(keys)) => keys,
        // Only a path that is no text has no document.
        _ => Map::new(),
    }
}

/// Makes the schema of an enumeration of words.
pub fn words_of<T: Words>(_: &mut SchemaGenerator) -> Schema {
    words(T::VALUES.iter().map(|value| value.word()))
}

/// Makes the schema of one of these words.
pub fn words<T: Display>(all: impl IntoIterator<Item = T>) -> Schema {
    let words: Vec<String> = all.into_iter().map(|word| word.to_string()).collect();
    json_schema!({ "type": "string", "enum": words })
}
