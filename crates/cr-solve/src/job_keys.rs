//! The keys of job files, from the schema of jobs.

use lattice_cl::job::Job;
use serde_json::Value;
use std::fmt;
use std::sync::LazyLock;

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// An integer, zero or more.
    Count,
    Number,
    Flag,
    /// A number or several.
    Numbers,
    /// A string or several.
    Texts,
}

impl Kind {
    /// Tells whether a value has this type.
    pub fn has(self, value: &toml_edit::Value) -> bool {
        let is_number = |value: &toml_edit::Value| value.is_integer() || value.is_float();
        let several = |is: &dyn Fn(&toml_edit::Value) -> bool| {
            is(value) || value.as_array().is_some_and(|several| several.iter().all(is))
        };
        match self {
            Self::Text => value.is_str(),
            Self::Count => value.as_integer().is_some_and(|number| number >= 0),
            Self::Number => is_number(value),
            Self::Flag => value.is_bool(),
            Self::Numbers => several(&is_number),
            Self::Texts => several(&toml_edit::Value::is_str),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Count => "an integer that is not negative",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Numbers => "a number or a list of numbers",
            Self::Texts => "a string or a list of strings",
        })
    }
}

/// A table of a job, `[solver]`, or an entry of a list, `[[source]]`.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// `true` if there may be several.
    pub is_list: bool,
    /// Its keys, with the types of their values.
    pub keys: Vec<(String, Kind)>,
}

impl Table {
    /// Returns the type of a key's value.
    pub fn kind(&self, key: &str) -> Option<Kind> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, kind)| *kind)
    }

    /// Returns the header of the table in a file.
    pub fn header(&self) -> String {
        if self.is_list { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }

    /// Says which keys the table may have.
    pub fn allowed(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        format!("{} may have {}", self.header(), names.join(", "))
    }
}

/// The key outside of all tables.
pub const COMMAND: &str = "command";

/// Returns all tables and lists of a job.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        let schema = Job::schema().to_value();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let tables = properties.filter(|(name, _)| *name != COMMAND);
        tables.map(|(name, property)| table(&schema, name, property)).collect()
    });
    &TABLES
}

/// Returns the table that has a key of this name.
///
/// Keys of different tables have different names, except for keys of lists.
pub fn table_of(key: &str) -> Option<&'static Table> {
    tables().iter().find(|table| !table.is_list && table.kind(key).is_some())
}

fn table(schema: &Value, name: &str, property: &Value) -> Table {
    let property = resolved(schema, property);
    let is_list = property.get("items").is_some();
    let of_entry = if is_list { resolved(schema, &property["items"]) } else { property };
    let keys = of_entry["properties"].as_object().into_iter().flatten();
    Table {
        name: name.to_owned(),
        is_list,
        keys: keys.map(|(name, of_key)| (name.clone(), kind(schema, of_key))).collect(),
    }
}

/// Returns the definition that a part of a schema refers to.
fn resolved<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let pointer = part.get("$ref").and_then(Value::as_str).map(|text| text.trim_start_matches('#'));
    pointer.and_then(|pointer| schema.pointer(pointer)).unwrap_or(part)
}

fn kind(schema: &Value, part: &Value) -> Kind {
    let part = resolved(schema, part);
    if let Some([one, _]) = part.get("anyOf").and_then(Value::as_array).map(Vec::as_slice) {
        return if kind(schema, one) == Kind::Number { Kind::Numbers } else { Kind::Texts };
    }
    // An optional value has the types ["integer", "null"].
    let stated = part.get("type").map(|stated| stated.get(0).unwrap_or(stated));
    match stated.and_then(Value::as_str) {
        Some("integer") => Kind::Count,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Flag,
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_their_types_are_those_of_the_schema() {
        let kind = |table: &str, key: &str| {
            tables().iter().find(|known| known.name == table).and_then(|table| table.kind(key))
        };
        for (table, key, wanted) in [
            ("configuration", "file", Kind::Text),
            ("configuration", "links", Kind::Count),
            ("configuration", "ignore-checksum", Kind::Flag),
            ("action", "kappa", Kind::Numbers),
            ("action", "mu", Kind::Number),
            ("action", "csw", Kind::Number),
            ("sources", "spin", Kind::Count),
            ("source", "label", Kind::Text),
            ("solver", "tol", Kind::Number),
            ("solver", "max-iterations", Kind::Count),
            ("solver", "multigrid-vectors", Kind::Count),
            ("observable", "along", Kind::Text),
            ("outputs", "every", Kind::Text),
            ("devices", "device", Kind::Texts),
        ] {
            assert_eq!(kind(table, key), Some(wanted), "{table}.{key}");
        }
        assert_eq!(kind("action", "tol"), None);
    }

    #[test]
    fn names_of_keys_tell_their_table() {
        let mut names: Vec<&str> = tables()
            .iter()
            .filter(|table| !table.is_list)
            .flat_map(|table| table.keys.iter().map(|(name, _)| name.as_str()))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
