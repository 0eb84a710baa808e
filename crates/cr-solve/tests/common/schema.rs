//! Whether a value is as a JSON Schema says: of the keywords, those that schemas of the project have.

use serde_json::Value;

/// # Panics
/// At the first place where the value is not as the schema says, and at a keyword that is not known here.
pub fn assert_valid(schema: &Value, value: &Value) {
    check(schema, schema, value, "$");
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str) {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("{place}: a schema is an object"));
    for (keyword, wanted) in keywords {
        let right = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => {
                let pointer = wanted.as_str().unwrap().trim_start_matches('#');
                check(root, root.pointer(pointer).unwrap(), value, place);
                true
            }
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|name| is_of_type(value, name)),
                name => is_of_type(value, name),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "anyOf" => {
                let fits =
                    |choice: &Value| std::panic::catch_unwind(|| check(root, choice, value, place)).is_ok();
                wanted.as_array().unwrap().iter().any(fits)
            }
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap()),
            "minLength" | "maxLength" => value.is_string(),
            "prefixItems" => {
                for (item, schema) in value.as_array().into_iter().flatten().zip(wanted.as_array().unwrap()) {
                    check(root, schema, item, place);
                }
                true
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{place}[{number}]"));
                }
                true
            }
            "required" => value.as_object().is_none_or(|object| {
                wanted.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" => {
                for (name, property) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        check(root, schema, property, &format!("{place}.{name}"));
                    }
                }
                true
            }
            "additionalProperties" if wanted == &Value::Bool(true) => true,
            "additionalProperties" => {
                assert_eq!(wanted, &Value::Bool(false), "{place}: nothing else is known here");
                let known = |name: &String| keywords["properties"].get(name).is_some();
                value.as_object().is_none_or(|object| object.keys().all(known))
            }
            other => panic!("{place}: the keyword `{other}` is not known here"),
        };
        assert!(right, "{place} is not as `{keyword}` wants it: {value}");
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}
