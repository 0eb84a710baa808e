//! The variable properties of a kernel, kept as JSON and shown to people.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The values of everything that may be varied in a kernel.
///
/// A variant is kept as the object that `serde` makes. If that object changes, older entries are
/// not used.
pub trait Variant: Clone + PartialEq + Serialize + DeserializeOwned {}

impl<V: Clone + PartialEq + Serialize + DeserializeOwned> Variant for V {}

/// Returns a variant as text for people: `work_group=64 max_registers=128`.
pub fn text_of(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::Object(fields)) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            fields.join(" ")
        }
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}
