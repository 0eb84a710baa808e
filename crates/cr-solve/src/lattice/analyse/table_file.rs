//! Files of tables: LaTeX, CSV and JSON.

use lattice_cli::failure::{Failure, Status};
use serde::Serialize;
use std::path::Path;

/// The rows of a table. Their keys are those of JSON.
pub trait TableRows: Serialize {
    /// Returns a table of LaTeX.
    fn latex(&self) -> String;

    /// Returns lines of CSV, the names of columns first.
    fn csv(&self) -> String;
}

/// Writes a table in the form that the ending of its name says.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, rows: &impl TableRows) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let text = match ending.as_deref() {
        Some("tex") => rows.latex(),
        Some("csv") => rows.csv(),
        _ => json(rows)?,
    };
    Ok(lattice_cl::io::write_file(path, text.as_bytes())?)
}

fn json(rows: &impl TableRows) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Document<'a, R> {
        schema_version: u32,
        #[serde(flatten)]
        rows: &'a R,
    }
    let text = serde_json::to_string_pretty(&Document { schema_version: 1, rows });
    text.map(|text| text + "\n").map_err(|error| Failure::new(Status::Failed, error))
}

/// Returns a text for LaTeX, in which no letter is a command.
pub fn escaped(text: &str) -> String {
    let one = |letter: char| match letter {
        '_' | '%' | '&' | '$' | '#' | '{' | '}' => format!("\\{letter}"),
        '~' | '^' => format!("\\{letter}{{}}"),
        '\\' => "\\textbackslash{}".to_owned(),
        _ => letter.to_string(),
    };
    text.chars().map(one).collect()
}

/// Returns a field of CSV (RFC 4180).
pub fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Returns a number of CSV, empty for one that is unknown.
pub fn number_field(number: Option<f64>) -> String {
    number.map_or(String::new(), |number| format!("{number:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_commands_and_no_separators() {
        assert_eq!(escaped("a\\b^c"), "a\\textbackslash{}b\\^{}c");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!((number_field(Some(0.5)), number_field(None)), ("5e-1".to_owned(), String::new()));
    }
}
