//! A site term in results: entries of JSON, their schema, and lines of tables.

use super::SiteTermKeys;
use super::behaviour::parameters;
use super::flavour::Flavour;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The site term of a result, by the keys that gave it.
///
/// It is written as the entries of its parameters: to be flattened into a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteTermResult(pub SiteTermKeys);

impl SiteTermResult {
    /// Returns its lines in tables: names and values.
    pub fn lines(&self, flavour: Option<Flavour>) -> impl Iterator<Item = (&'static str, String)> {
        let numbers = self.0.numbers();
        parameters().into_iter().filter_map(move |parameter| parameter.line(&numbers, flavour))
    }
}

impl Serialize for SiteTermResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = self.0.numbers();
        let entries = parameters().into_iter().flat_map(|parameter| parameter.entries(&numbers));
        serializer.collect_map(entries.map(|entry| (entry.key, entry.value)))
    }
}

impl JsonSchema for SiteTermResult {
    fn schema_name() -> Cow<'static, str> {
        "SiteTermResult".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let numbers = SiteTermKeys::default().numbers();
        let entries = parameters().into_iter().flat_map(|parameter| parameter.entries(&numbers));
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for entry in entries {
            let number = json_schema!({ "type": "number", "format": "double" });
            let optional = json_schema!({ "type": ["number", "null"], "format": "double" });
            let mut of_entry = if entry.optional { optional } else { number };
            let description = format!("{}, of the first [[quark]] if there are several", entry.meaning);
            of_entry.insert("description".to_owned(), description.into());
            properties.insert(entry.key.to_owned(), of_entry.to_value());
            required.push(Value::from(entry.key));
        }
        json_schema!({ "type": "object", "properties": properties, "required": required })
    }
}
