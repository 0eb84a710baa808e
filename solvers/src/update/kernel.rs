//! The kernel of a formula, in the words of a language.

use super::formula::{Assignment, Formula, Operand};
use std::collections::HashMap;

/// The words of a language in which kernels are written.
///
/// `$1`, `$2` and so on stand for what the comments name, in this order. Numbers and sums have the
/// same words everywhere.
pub struct KernelWords {
    /// Declarations of the extents.
    pub extents: &'static [&'static str],
    /// Declaration of a vector that is only read: its name.
    pub read: &'static str,
    /// Declaration of a vector that is written: its name.
    pub written: &'static str,
    /// Most vectors that a work-item loads before everything else.
    pub loaded_at_once: usize,
    /// Loads a vector: the variable, the vector.
    pub load: &'static str,
    /// Loads a factor: its name. Empty if factors are loaded before the loop.
    pub load_factor: &'static str,
    /// A value plus a term: the value, the factor, the value of the vector.
    pub plus: &'static str,
    /// A value minus a term.
    pub minus: &'static str,
    /// Defines a variable: its name, the value.
    pub define: &'static str,
    /// `true` if a value has a variable even if it is stored at once.
    pub defines_all: bool,
    /// Stores a vector: the vector, the value.
    pub store: &'static str,
    /// Adds to the inner product: the two values.
    pub add_product: &'static str,
    /// Adds to the squared norm: the value.
    pub add_norm2: &'static str,
}

/// A parameter of the kernel of a formula.
///
/// The kernel's text and its arguments are made from one list of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelParameter {
    /// The extents.
    Extents,
    /// The memory of numbers that are still on the device.
    Numbers,
    /// A factor.
    Factor(usize),
    /// A vector.
    Field(Operand),
    /// The memory for the sums of this launch.
    Sums,
}

/// Returns the parameters of the kernel of a formula, in the kernel's order.
pub fn kernel_parameters(formula: &Formula) -> impl Iterator<Item = KernelParameter> {
    let numbers = (formula.factors() > 0).then_some(KernelParameter::Numbers);
    let sums = (formula.sums() > 0).then_some(KernelParameter::Sums);
    std::iter::once(KernelParameter::Extents)
        .chain(numbers)
        .chain((0..formula.factors()).map(KernelParameter::Factor))
        .chain((0..formula.read()).map(|k| KernelParameter::Field(Operand::Read(k))))
        .chain((0..formula.written()).map(|k| KernelParameter::Field(Operand::Written(k))))
        .chain(sums)
}

impl KernelWords {
    /// Returns the declarations of the parameters, with commas between them.
    pub fn declarations(&self, formula: &Formula) -> String {
        let declaration = |parameter| match parameter {
            KernelParameter::Extents => self.extents.join(", "),
            KernelParameter::Numbers => "NUMBER_MEMORY".to_owned(),
            KernelParameter::Factor(k) => format!("NUMBER_PARAMETERS({})", formula.factor_name(k)),
            KernelParameter::Field(field @ Operand::Read(_)) => {
                filled(self.read, [formula.field_name(field)])
            }
            KernelParameter::Field(field) => filled(self.written, [formula.field_name(field)]),
            KernelParameter::Sums => "REDUCTION_PARAMETERS".to_owned(),
        };
        kernel_parameters(formula).map(declaration).collect::<Vec<_>>().join(", ")
    }

    /// Returns the statements for each element of the vectors, a line each.
    ///
    /// Each vector is loaded once, and stored once after its last assignment. Vectors are loaded
    /// before factors are taken, so that a work-item need not wait for the factors first.
    pub fn statements(&self, formula: &Formula) -> Vec<String> {
        let (lines, values, factors) = (Vec::new(), HashMap::new(), Vec::new());
        let mut body = Body { words: self, formula, lines, values, factors };
        body.write();
        body.lines
    }
}

/// Returns a pattern with its `$1`, `$2` … replaced.
fn filled<const N: usize>(pattern: &str, words: [&str; N]) -> String {
    let mut text = pattern.to_owned();
    for (k, word) in words.into_iter().enumerate() {
        text = text.replace(&format!("${}", k + 1), word);
    }
    text
}

/// Returns `true` if later assignments or sums use the value of a vector.
fn is_used(formula: &Formula, later: &[Assignment], field: Operand) -> bool {
    let in_assignments = later
        .iter()
        .any(|later| later.first == field || later.terms().iter().any(|term| term.field == field));
    let in_product = formula.product().is_some_and(|(x, y)| x == field || y == field);
    in_assignments || in_product || formula.norm2() == Some(field)
}

/// The statements for each element.
struct Body<'a> {
    words: &'a KernelWords,
    formula: &'a Formula,
    lines: Vec<String>,
    /// The variable with the present value of each vector.
    values: HashMap<&'static str, String>,
    /// Factors whose values are loaded.
    factors: Vec<usize>,
}

impl Body<'_> {
    fn write(&mut self) {
        let Self { words, formula, .. } = *self;
        let loaded: Vec<Operand> = formula.fields().filter(|field| formula.is_loaded(*field)).collect();
        if loaded.len() <= words.loaded_at_once {
            loaded.iter().for_each(|field| self.load(*field));
        }
        for (number, assignment) in formula.assignments().iter().enumerate() {
            self.load(assignment.first);
            assignment.terms().iter().for_each(|term| self.load(term.field));
            let mut value = self.value(assignment.first);
            for term in assignment.terms() {
                let factor = self.factor(term.factor);
                let pattern = if term.negative { words.minus } else { words.plus };
                value = filled(pattern, [&value, &factor, &self.value(term.field)]);
            }
            let to = Operand::Written(assignment.to);
            let name = formula.field_name(to);
            let later = &formula.assignments()[number + 1..];
            let is_last = later.iter().all(|later| later.to != assignment.to);
            if words.defines_all || !is_last || is_used(formula, later, to) {
                let variable = format!("{name}_{}", number + 1);
                self.lines.push(filled(words.define, [&variable, &value]));
                self.values.insert(name, variable.clone());
                value = variable;
            }
            if is_last {
                self.lines.push(filled(words.store, [name, &value]));
            }
        }
        if let Some((x, y)) = formula.product() {
            [x, y].into_iter().for_each(|field| self.load(field));
            self.lines.push(filled(words.add_product, [&self.value(x), &self.value(y)]));
        }
        if let Some(x) = formula.norm2() {
            self.load(x);
            self.lines.push(filled(words.add_norm2, [&self.value(x)]));
        }
    }

    /// Loads a vector, unless its value is loaded already.
    fn load(&mut self, field: Operand) {
        let name = self.formula.field_name(field);
        if !self.values.contains_key(name) {
            let variable = format!("{name}_0");
            self.lines.push(filled(self.words.load, [&variable, name]));
            self.values.insert(name, variable);
        }
    }

    fn value(&self, field: Operand) -> String {
        self.values.get(self.formula.field_name(field)).cloned().unwrap_or_default()
    }

    /// Returns the variable with a factor, which is loaded once.
    fn factor(&mut self, factor: usize) -> String {
        let name = self.formula.factor_name(factor);
        if !self.words.load_factor.is_empty() && !self.factors.contains(&factor) {
            self.lines.push(filled(self.words.load_factor, [name]));
            self.factors.push(factor);
        }
        format!("{name}_value")
    }
}
