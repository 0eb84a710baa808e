//! Tables of masses: LaTeX, CSV and JSON.

use super::fitted_mass::FittedMass;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::{rounded, with_error};
use serde::Serialize;
use std::path::Path;

/// A row of a table.
#[derive(Serialize)]
pub struct MassRow<'a> {
    /// What tells the hadron from those of the other rows.
    pub hadron: String,
    /// The whole name of the correlator.
    pub name: &'a str,
    pub configurations: usize,
    #[serde(flatten)]
    pub fit: &'a FittedMass,
}

/// Returns names without the beginning that all of them have.
///
/// Names consist of parts with commas between them. Each keeps one part at least.
pub fn short_names(names: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split(", ").collect()).collect();
    let Some(first) = parts.first() else { return Vec::new() };
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_shared = |&place: &usize| parts.iter().all(|parts| parts[place] == first[place]);
    let shared = (0..shortest - 1).take_while(is_shared).count();
    parts.iter().map(|parts| parts[shared..].join(", ")).collect()
}

/// Writes a table in the form that the ending of its name says.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, rows: &[MassRow<'_>]) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let text = match ending.as_deref() {
        Some("tex") => latex(rows),
        Some("csv") => csv(rows),
        _ => json(rows)?,
    };
    Ok(lattice_cl::io::write_file(path, text.as_bytes())?)
}

fn latex(rows: &[MassRow<'_>]) -> String {
    let mut lines = vec![
        "\\begin{tabular}{lllll}".to_owned(),
        "hadron & $am$ & fit range & $\\chi^2/\\mathrm{dof}$ & $p$ \\\\ \\hline".to_owned(),
    ];
    for MassRow { hadron, fit, .. } in rows {
        let number = |number: Option<f64>| number.map_or("--".to_owned(), |number| rounded(number, 3));
        lines.push(format!(
            "{} & {} & {}--{} & {} & {} \\\\",
            escaped(hadron),
            with_error(fit.mass, fit.error),
            fit.first,
            fit.last,
            number(fit.chi_squared_per_degree),
            number(fit.p_value)
        ));
    }
    lines.push("\\end{tabular}\n".to_owned());
    lines.join("\n")
}

/// Returns a text for LaTeX, in which no letter is a command.
fn escaped(text: &str) -> String {
    let one = |letter: char| match letter {
        '_' | '%' | '&' | '$' | '#' | '{' | '}' => format!("\\{letter}"),
        '~' | '^' => format!("\\{letter}{{}}"),
        '\\' => "\\textbackslash{}".to_owned(),
        _ => letter.to_string(),
    };
    text.chars().map(one).collect()
}

fn csv(rows: &[MassRow<'_>]) -> String {
    let mut text =
        "hadron,mass,error,statistical,systematic,first,last,chi_squared_per_degree,p_value,configurations,name\n"
            .to_owned();
    for MassRow { hadron, name, configurations, fit } in rows {
        let number = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:e}"));
        let fields = [
            quoted(hadron),
            number(Some(fit.mass)),
            number(Some(fit.error)),
            number(Some(fit.statistical)),
            number(fit.systematic),
            fit.first.to_string(),
            fit.last.to_string(),
            number(fit.chi_squared_per_degree),
            number(fit.p_value),
            configurations.to_string(),
            quoted(name),
        ];
        text += &format!("{}\n", fields.join(","));
    }
    text
}

/// Returns a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn json(rows: &[MassRow<'_>]) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema_version: u32,
        hadrons: &'a [MassRow<'a>],
    }
    let text = serde_json::to_string_pretty(&Document { schema_version: 1, hadrons: rows });
    text.map(|text| text + "\n").map_err(|error| Failure::new(Status::Failed, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_row_for_each_hadron() {
        let fit = FittedMass {
            mass: 0.123_41,
            error: 0.005_6,
            statistical: 0.005,
            systematic: None,
            first: 3,
            last: 8,
            ranges: 1,
            correlated: true,
            chi_squared: 5.0,
            degrees_of_freedom: 4,
            chi_squared_per_degree: Some(1.25),
            p_value: None,
        };
        let name = "kappa 0.1, nucleon_Cg5";
        let hadron = short_names(&[name]).remove(0);
        let rows = [MassRow { hadron, name, configurations: 7, fit: &fit }];
        assert!(
            latex(&rows).contains("\nnucleon\\_Cg5 & 0.1234(56) & 3--8 & 1.25 & -- \\\\\n"),
            "{}",
            latex(&rows)
        );
        let table = csv(&rows);
        let [header, line] = [0, 1].map(|n| table.lines().nth(n).unwrap());
        assert_eq!(line, "nucleon_Cg5,1.2341e-1,5.6e-3,5e-3,,3,8,1.25e0,,7,\"kappa 0.1, nucleon_Cg5\"");
        assert_eq!(header.split(',').count(), line.split(',').count() - 1);
        let value: serde_json::Value = serde_json::from_str(&json(&rows).unwrap()).unwrap();
        assert_eq!(
            (&value["hadrons"][0]["mass"], &value["hadrons"][0]["first"]),
            (&0.12341.into(), &3.into())
        );
        for (names, short) in [
            (&["k 1, pion", "k 1, rho"][..], &["pion", "rho"][..]),
            (&["k 1, pion", "k 2, pion"], &["k 1, pion", "k 2, pion"]),
            (&["k 1, pion", "k 1, pion, momentum [0,0,1]"], &["pion", "pion, momentum [0,0,1]"]),
            (&[], &[]),
        ] {
            assert_eq!(short_names(names), short);
        }
        assert_eq!(escaped("a\\b^c"), "a\\textbackslash{}b\\^{}c");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
