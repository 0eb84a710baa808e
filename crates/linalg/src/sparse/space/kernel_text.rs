//! The kernel of a formula: its text and the order of its arguments.

use lattice_solvers::update::{Formula, Operand};
use std::collections::HashMap;
use std::fmt::Write;

/// Returns the vectors of a formula in the order of the kernel's parameters.
pub(super) fn fields(formula: &Formula) -> impl Iterator<Item = Operand> {
    (0..formula.read()).map(Operand::Read).chain((0..formula.written()).map(Operand::Written))
}

/// Returns the text of the kernel of a formula, with the macros of `cl/packs.cl`.
///
/// Each vector is loaded once, and stored once after its last assignment.
pub(super) fn kernel_text(formula: &Formula) -> String {
    let mut declared = vec!["ulong count".to_owned()];
    if formula.factors() > 0 {
        declared.push("NUMBER_MEMORY".to_owned());
    }
    declared.extend((0..formula.factors()).map(|k| format!("NUMBER_PARAMETERS({})", formula.factor_name(k))));
    let mut before = String::new();
    for field in fields(formula) {
        let name = formula.field_name(field);
        let kind = if matches!(field, Operand::Read(_)) { "const " } else { "" };
        declared.push(format!("__global {kind}element *restrict {name}"));
        let _ = writeln!(before, "    const ulong {name}_offset = 0;");
    }
    for k in 0..formula.factors() {
        let name = formula.factor_name(k);
        let _ = writeln!(before, "    const element {name}_value = ELEMENT_OF(NUMBER({name}));");
    }
    let mut after = String::new();
    if formula.sums() > 0 {
        declared.push("REDUCTION_PARAMETERS".to_owned());
        before.insert_str(0, "    REDUCTION_LOCAL;\n");
        let mut sums = Vec::new();
        if formula.product().is_some() {
            before.push_str("    DOT_SUMS;\n");
            after.push_str("    const double2 product = DOT_RESULT(1);\n");
            sums.extend(["product.x", "product.y"]);
        }
        if formula.norm2().is_some() {
            before.push_str("    dpack squares = 0.0;\n");
            sums.push("fold_all(squares)");
        }
        let count = sums.len();
        sums.resize(3, "0.0");
        let _ = writeln!(after, "    REDUCE({count}, {});", sums.join(", "));
    }
    format!(
        "// {}\nKERNEL {}({}) {{\n{before}    FOR_EACH_PACK(\n{}    )\n{after}}}\n",
        formula.text(),
        formula.name(),
        declared.join(", "),
        body(formula),
    )
}

/// Returns the statements for each pack.
fn body(formula: &Formula) -> String {
    let mut lines = String::new();
    let mut values: HashMap<&'static str, String> = HashMap::new();
    for field in formula.fields().filter(|field| formula.is_loaded(*field)) {
        let name = formula.field_name(field);
        let _ = writeln!(lines, "        const pack {name}_0 = LOAD({name});");
        values.insert(name, format!("{name}_0"));
    }
    let value = |values: &HashMap<&str, String>, field| values[formula.field_name(field)].clone();
    for (number, assignment) in formula.assignments().iter().enumerate() {
        let mut sum = value(&values, assignment.first);
        for term in assignment.terms() {
            let sign = if term.negative { "-" } else { "+" };
            let factor = formula.factor_name(term.factor);
            sum = format!("{sum} {sign} times({factor}_value, {})", value(&values, term.field));
        }
        let to = Operand::Written(assignment.to);
        let name = formula.field_name(to);
        let _ = writeln!(lines, "        const pack {name}_{} = {sum};", number + 1);
        values.insert(name, format!("{name}_{}", number + 1));
        let is_last = formula.assignments()[number + 1..].iter().all(|later| later.to != assignment.to);
        if is_last {
            let _ = writeln!(lines, "        STORE({name}_{}, {name})", number + 1);
        }
    }
    if let Some((x, y)) = formula.product() {
        let _ = writeln!(lines, "        DOT_ADD({}, {});", value(&values, x), value(&values, y));
    }
    if let Some(x) = formula.norm2() {
        let x = value(&values, x);
        let _ = writeln!(lines, "        squares += to_double({x}) * to_double({x});");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_solvers::update;

    #[test]
    fn a_vector_is_loaded_once_and_stored_once() {
        for formula in update::ALL {
            let text = kernel_text(formula);
            // The first line is the formula itself.
            let text = text.split_once('\n').unwrap().1;
            for field in formula.fields() {
                let name = formula.field_name(field);
                let loads = text.matches(&format!("LOAD({name})")).count();
                let stores = text.matches(&format!(", {name})\n")).count();
                assert_eq!(loads, usize::from(formula.is_loaded(field)), "{text}");
                assert_eq!(stores, usize::from(matches!(field, Operand::Written(_))), "{text}");
            }
        }
    }
}
