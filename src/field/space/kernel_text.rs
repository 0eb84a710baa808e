//! The text of the kernel of a formula.

use lattice_solvers::update::{Formula, KernelWords};

/// The macros of `cl/spinor.cl`.
const WORDS: KernelWords = KernelWords {
    extents: &["const uint parities", "const uint blocks"],
    read: "__global const stored *restrict $1",
    written: "__global stored *restrict $1",
    // With more a work-item would run out of registers.
    loaded_at_once: 4,
    load: "LOAD($1, $2);",
    load_factor: "const double2 $1_value = NUMBER($1);",
    plus: "combine($1, splat($2), $3)",
    minus: "combine($1, splat(-$2), $3)",
    define: "const spinor $1 = $2;",
    defines_all: false,
    store: "STORE($1, $2);",
    add_product: "add_product(&re, &im, $1, $2);",
    add_norm2: "norm2 = add_norm2(norm2, $1);",
};

/// Returns the text of the kernel of a formula, with the macros of `cl/spinor.cl`.
pub fn kernel_text(formula: &Formula) -> String {
    let (before, after) = reduction(formula);
    format!(
        "// {}\n__kernel EXPLICIT_VECTORS void {}({})\n{{\n{before}    FOR_EACH_BLOCK(parities) {{\n        {}\n    }}\n{after}}}\n",
        formula.text(),
        formula.name(),
        WORDS.declarations(formula),
        WORDS.statements(formula).join("\n        "),
    )
}

/// Returns the text before and after the loop over blocks.
///
/// This text begins and ends the sums.
fn reduction(formula: &Formula) -> (String, String) {
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    if formula.product().is_some() {
        begun.extend(["re", "im"]);
    }
    if formula.norm2().is_some() {
        begun.push("norm2");
    }
    if begun.is_empty() {
        return (String::new(), String::new());
    }
    ended.extend(begun.iter().map(|sum| format!("sum_of_lanes({sum})")));
    ended.resize(3, "0.0".to_owned());
    let zeros: Vec<String> = begun.iter().map(|sum| format!("{sum} = (vdouble)0")).collect();
    let before = format!("    REDUCTION_LOCAL;\n    vdouble {};\n", zeros.join(", "));
    (before, format!("    REDUCE({}, {});\n", begun.len(), ended.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_solvers::update::{self, Operand};
    use std::collections::HashSet;

    #[test]
    fn a_vector_is_loaded_once_and_stored_once() {
        let text = kernel_text(update::BICGSTAB_DIRECTION.formula());
        let expected = "// p = p - a v; p = r + b p
__kernel EXPLICIT_VECTORS void bicgstab_direction(const uint parities, const uint blocks, NUMBER_MEMORY, \
             NUMBER_PARAMETERS(a), NUMBER_PARAMETERS(b), __global const stored *restrict v, \
             __global const stored *restrict r, __global stored *restrict p)
{
    FOR_EACH_BLOCK(parities) {
        LOAD(p_0, p);
        LOAD(v_0, v);
        LOAD(r_0, r);
        const double2 a_value = NUMBER(a);
        const spinor p_1 = combine(p_0, splat(-a_value), v_0);
        const double2 b_value = NUMBER(b);
        STORE(p, combine(r_0, splat(b_value), p_1));
    }
}
";
        assert_eq!(text, expected);
        for formula in update::ALL {
            let text = kernel_text(formula);
            for field in formula.fields() {
                let name = formula.field_name(field);
                let count = |word: String| text.matches(&word).count();
                let is_written = matches!(field, Operand::Written(_));
                assert_eq!(count(format!(", {name});\n")), usize::from(formula.is_loaded(field)), "{text}");
                assert_eq!(count(format!("STORE({name}, ")), usize::from(is_written), "{text}");
            }
        }
    }

    #[test]
    fn kernels_of_one_program_have_names_and_texts_of_their_own() {
        let names: HashSet<_> = update::ALL.iter().map(Formula::name).collect();
        let texts: HashSet<_> = update::ALL.iter().map(Formula::text).collect();
        assert_eq!((names.len(), texts.len()), (update::ALL.len(), update::ALL.len()));
    }
}
