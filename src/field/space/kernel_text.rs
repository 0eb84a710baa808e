//! The kernel of a formula: its text and the order of its arguments.

use lattice_solvers::update::{Assignment, Formula, Operand};
use std::collections::HashMap;

/// Vectors that a work-item loads at once. With more it would run out of registers.
const LOADED_AT_ONCE: usize = 4;

/// A parameter of the kernel of a formula.
///
/// The kernel's text and its arguments are made from one list of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Parities of a vector.
    Parities,
    /// Blocks of a parity.
    Blocks,
    /// The memory of sums that are still on the device.
    Numbers,
    /// A factor.
    Factor(usize),
    /// A vector.
    Field(Operand),
    /// The memory for the sums of this launch.
    Sums,
}

/// Returns the parameters of the kernel of a formula, in the kernel's order.
pub fn taken(formula: &Formula) -> impl Iterator<Item = Taken> {
    let numbers = (formula.factors() > 0).then_some(Taken::Numbers);
    let sums = (formula.sums() > 0).then_some(Taken::Sums);
    [Taken::Parities, Taken::Blocks]
        .into_iter()
        .chain(numbers)
        .chain((0..formula.factors()).map(Taken::Factor))
        .chain((0..formula.read()).map(|k| Taken::Field(Operand::Read(k))))
        .chain((0..formula.written()).map(|k| Taken::Field(Operand::Written(k))))
        .chain(sums)
}

/// Returns the text of the kernel of a formula, with the macros of `cl/spinor.cl`.
///
/// Each vector is loaded once, and stored once after its last assignment. Vectors are loaded before
/// factors are taken, so that a work-item need not wait for the factors first.
pub fn kernel_text(formula: &Formula) -> String {
    let declared: Vec<String> = taken(formula).map(|taken| declaration(formula, taken)).collect();
    let mut body = Body { formula, lines: Vec::new(), values: HashMap::new(), factors: Vec::new() };
    body.write();
    let (before, after) = reduction(formula);
    format!(
        "// {}\n__kernel EXPLICIT_VECTORS void {}({})\n{{\n{before}    FOR_EACH_BLOCK(parities) {{\n        {}\n    }}\n{after}}}\n",
        formula.text(),
        formula.name(),
        declared.join(", "),
        body.lines.join("\n        "),
    )
}

fn declaration(formula: &Formula, taken: Taken) -> String {
    match taken {
        Taken::Parities => "const uint parities".to_owned(),
        Taken::Blocks => "const uint blocks".to_owned(),
        Taken::Numbers => "NUMBER_MEMORY".to_owned(),
        Taken::Factor(k) => format!("NUMBER_PARAMETERS({})", formula.factor_name(k)),
        Taken::Field(field @ Operand::Read(_)) => {
            format!("__global const stored *restrict {}", formula.field_name(field))
        }
        Taken::Field(field @ Operand::Written(_)) => {
            format!("__global stored *restrict {}", formula.field_name(field))
        }
        Taken::Sums => "REDUCTION_PARAMETERS".to_owned(),
    }
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

/// Returns `true` if later assignments or sums use the value of a vector.
fn is_used(formula: &Formula, later: &[Assignment], field: Operand) -> bool {
    let in_assignments = later
        .iter()
        .any(|later| later.first == field || later.terms().iter().any(|term| term.field == field));
    let in_product = formula.product().is_some_and(|(x, y)| x == field || y == field);
    in_assignments || in_product || formula.norm2() == Some(field)
}

/// The statements for each block.
struct Body<'a> {
    formula: &'a Formula,
    lines: Vec<String>,
    /// The variable with the present value of each vector.
    values: HashMap<&'static str, String>,
    /// Factors whose values are loaded.
    factors: Vec<usize>,
}

impl Body<'_> {
    fn write(&mut self) {
        let formula = self.formula;
        let loaded: Vec<Operand> = formula.fields().filter(|field| formula.is_loaded(*field)).collect();
        if loaded.len() <= LOADED_AT_ONCE {
            loaded.iter().for_each(|field| self.load(*field));
        }
        for (number, assignment) in formula.assignments().iter().enumerate() {
            let first = assignment.first;
            let fields = || std::iter::once(first).chain(assignment.terms().iter().map(|term| term.field));
            fields().for_each(|field| self.load(field));
            let mut value = self.value(first);
            for term in assignment.terms() {
                let factor = self.factor(term.factor);
                let sign = if term.negative { "-" } else { "" };
                value = format!("combine({value}, splat({sign}{factor}), {})", self.value(term.field));
            }
            let to = Operand::Written(assignment.to);
            let name = formula.field_name(to);
            let later = &formula.assignments()[number + 1..];
            let is_last = later.iter().all(|later| later.to != assignment.to);
            if !is_last || is_used(formula, later, to) {
                let variable = format!("{name}_{}", number + 1);
                self.lines.push(format!("const spinor {variable} = {value};"));
                self.values.insert(name, variable.clone());
                value = variable;
            }
            if is_last {
                self.lines.push(format!("STORE({name}, {value});"));
            }
        }
        if let Some((x, y)) = formula.product() {
            [x, y].into_iter().for_each(|field| self.load(field));
            self.lines.push(format!("add_product(&re, &im, {}, {});", self.value(x), self.value(y)));
        }
        if let Some(x) = formula.norm2() {
            self.load(x);
            self.lines.push(format!("norm2 = add_norm2(norm2, {});", self.value(x)));
        }
    }

    /// Loads a vector, unless its value is loaded already.
    fn load(&mut self, field: Operand) {
        let name = self.formula.field_name(field);
        if !self.values.contains_key(name) {
            let variable = format!("{name}_0");
            self.lines.push(format!("LOAD({variable}, {name});"));
            self.values.insert(name, variable);
        }
    }

    fn value(&self, field: Operand) -> String {
        self.values.get(self.formula.field_name(field)).cloned().unwrap_or_default()
    }

    /// Returns the variable with a factor, which is loaded once.
    fn factor(&mut self, factor: usize) -> String {
        let name = self.formula.factor_name(factor);
        if !self.factors.contains(&factor) {
            self.lines.push(format!("const double2 {name}_value = NUMBER({name});"));
            self.factors.push(factor);
        }
        format!("{name}_value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_solvers::update;
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
