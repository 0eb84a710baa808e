//! Tables of masses.

use super::fitted_mass::FittedMass;
use super::table_file::{TableRows, escaped, number_field, quoted};
use lattice_cli::report::{rounded, with_error};
use serde::Serialize;

/// A row of a table.
#[derive(Serialize)]
pub struct MassRow<'a> {
    /// The part of the name that tells the hadron from other rows.
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

/// A table of masses.
#[derive(Serialize)]
pub struct MassTable<'a> {
    hadrons: &'a [MassRow<'a>],
}

impl<'a> MassTable<'a> {
    pub fn new(hadrons: &'a [MassRow<'a>]) -> Self {
        Self { hadrons }
    }
}

impl TableRows for MassTable<'_> {
    fn latex(&self) -> String {
        let mut lines = vec![
            "\\begin{tabular}{lllll}".to_owned(),
            "hadron & $am$ & fit range & $\\chi^2/\\mathrm{dof}$ & $p$ \\\\ \\hline".to_owned(),
        ];
        for MassRow { hadron, fit, .. } in self.hadrons {
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

    fn csv(&self) -> String {
        let mut text = "hadron,mass,error,statistical,systematic,first,last,chi_squared_per_degree,p_value,\
                        configurations,name\n"
            .to_owned();
        for MassRow { hadron, name, configurations, fit } in self.hadrons {
            let fields = [
                quoted(hadron),
                number_field(Some(fit.mass)),
                number_field(Some(fit.error)),
                number_field(Some(fit.statistical)),
                number_field(fit.systematic),
                fit.first.to_string(),
                fit.last.to_string(),
                number_field(fit.chi_squared_per_degree),
                number_field(fit.p_value),
                configurations.to_string(),
                quoted(name),
            ];
            text += &format!("{}\n", fields.join(","));
        }
        text
    }
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
        let rows = MassTable::new(&rows);
        let latex = rows.latex();
        assert!(latex.contains("\nnucleon\\_Cg5 & 0.1234(56) & 3--8 & 1.25 & -- \\\\\n"), "{latex}");
        let table = rows.csv();
        let [header, line] = [0, 1].map(|n| table.lines().nth(n).unwrap());
        assert_eq!(line, "nucleon_Cg5,1.2341e-1,5.6e-3,5e-3,,3,8,1.25e0,,7,\"kappa 0.1, nucleon_Cg5\"");
        assert_eq!(header.split(',').count(), line.split(',').count() - 1);
        let value = serde_json::to_value(&rows).unwrap();
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
    }
}
