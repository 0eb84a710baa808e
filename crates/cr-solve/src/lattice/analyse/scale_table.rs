//! Tables of flow scales.

use super::estimates::Estimate;
use super::table_file::{TableRows, number_field};
use lattice_cli::report::{rounded, with_error};
use serde::Serialize;

/// The scales of a reference value, null where the flow ends before.
#[derive(Serialize)]
pub struct FlowScale {
    pub reference: f64,
    /// In units of the lattice spacing squared.
    pub t0: Estimate,
    /// In units of the lattice spacing.
    pub w0: Estimate,
}

/// A table of scales, a row for each reference value.
#[derive(Serialize)]
pub struct ScaleTable<'a> {
    pub configurations: usize,
    pub scales: &'a [FlowScale],
}

impl TableRows for ScaleTable<'_> {
    fn latex(&self) -> String {
        let mut lines = vec![
            "\\begin{tabular}{lll}".to_owned(),
            "reference & $t_0/a^2$ & $w_0/a$ \\\\ \\hline".to_owned(),
        ];
        let number = |Estimate { value, error }: Estimate| match value {
            Some(value) => with_error(value, error.unwrap_or(0.0)),
            None => "--".to_owned(),
        };
        for &FlowScale { reference, t0, w0 } in self.scales {
            lines.push(format!("{} & {} & {} \\\\", rounded(reference, 6), number(t0), number(w0)));
        }
        lines.push("\\end{tabular}\n".to_owned());
        lines.join("\n")
    }

    fn csv(&self) -> String {
        let mut text = "reference,t0,t0_error,w0,w0_error,configurations\n".to_owned();
        for FlowScale { reference, t0, w0 } in self.scales {
            let numbers = [Some(*reference), t0.value, t0.error, w0.value, w0.error].map(number_field);
            text += &format!("{},{}\n", numbers.join(","), self.configurations);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_row_for_each_reference() {
        let reached = |value| Estimate { value: Some(value), error: Some(0.02) };
        let scales = [
            FlowScale { reference: 0.3, t0: reached(1.5), w0: reached(1.25) },
            FlowScale {
                reference: 0.5,
                t0: Estimate { error: None, ..reached(2.0) },
                w0: Estimate::default(),
            },
        ];
        let table = ScaleTable { configurations: 7, scales: &scales };
        let latex = table.latex();
        assert!(latex.contains("\n0.3 & 1.500(20) & 1.250(20) \\\\\n0.5 & 2 & -- \\\\\n\\end"), "{latex}");
        let csv = "reference,t0,t0_error,w0,w0_error,configurations\n3e-1,1.5e0,2e-2,1.25e0,2e-2,7\n5e-1,2e0,,,,7\n";
        assert_eq!(table.csv(), csv);
    }
}
