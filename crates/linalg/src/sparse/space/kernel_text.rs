//! The text of the kernel of a formula.

use lattice_solvers::update::{Formula, KernelParameter, KernelWords, kernel_parameters};
use std::fmt::Write;

/// The macros of `cl/packs.cl`.
const WORDS: KernelWords = KernelWords {
    extents: &["ulong count"],
    read: "__global const element *restrict $1",
    written: "__global element *restrict $1",
    loaded_at_once: usize::MAX,
    load: "const pack $1 = LOAD($2);",
    load_factor: "",
    plus: "$1 + times($2, $3)",
    minus: "$1 - times($2, $3)",
    define: "const pack $1 = $2;",
    defines_all: true,
    store: "STORE($2, $1)",
    add_product: "DOT_ADD($1, $2);",
    add_norm2: "squares += to_double($1) * to_double($1);",
};

/// Returns the text of the kernel of a formula, with the macros of `cl/packs.cl`.
pub(super) fn kernel_text(formula: &Formula) -> String {
    let mut before = String::new();
    for parameter in kernel_parameters(formula) {
        let KernelParameter::Field(field) = parameter else { continue };
        let name = formula.field_name(field);
        let _ = writeln!(before, "    const ulong {name}_offset = 0;");
    }
    for k in 0..formula.factors() {
        let name = formula.factor_name(k);
        let _ = writeln!(before, "    const element {name}_value = ELEMENT_OF(NUMBER({name}));");
    }
    let mut after = String::new();
    if formula.sums() > 0 {
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
        "// {}\nKERNEL {}({}) {{\n{before}    FOR_EACH_PACK(\n        {}\n    )\n{after}}}\n",
        formula.text(),
        formula.name(),
        WORDS.declarations(formula),
        WORDS.statements(formula).join("\n        "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_solvers::update::{self, Operand};

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
