//! Reads formulas, also while the program is compiled.

use super::formula::{
    Assignment, Formula, MOST_ASSIGNMENTS, MOST_FACTORS, MOST_FIELDS, MOST_TERMS, Operand, Term,
};
use std::fmt;

/// The reason why a text is not a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The text.
    pub text: &'static str,
    /// The character at which it is wrong, counted from 0.
    pub at: usize,
    /// The error.
    pub message: &'static str,
}

impl std::error::Error for FormulaError {}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the formula \"{}\", at character {}: {}", self.text, self.at + 1, self.message)
    }
}

/// The operator `?`, which constant functions do not have.
macro_rules! good {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

/// A right-hand side with vectors by their place among all vectors.
///
/// The written vectors are known only at the end.
#[derive(Clone, Copy)]
struct Line {
    to: usize,
    first: usize,
    negative: [bool; MOST_TERMS],
    factors: [usize; MOST_TERMS],
    fields: [usize; MOST_TERMS],
    count: usize,
}

impl Formula {
    /// Reads a formula, for example `x = x + a p; r = r - a q; (r, r)`.
    ///
    /// Factors are the letters a to d, vectors the other small letters. Assignments are done in
    /// their order. On the right stands a vector, then terms with a factor each. The vector on the
    /// left may stand there once, first or second: `y = y + a x + b z` or `y = x + a y + b z`.
    ///
    /// Sums come last: the product of two vectors, the norm of one, or both in this order. They are
    /// sums of the new vectors. `name` is a word of small letters, digits and `_`: the name of the
    /// kernel on devices.
    ///
    /// # Errors
    /// The error, and the character at which it is.
    pub const fn parse(name: &'static str, text: &'static str) -> Result<Self, FormulaError> {
        Parser::parse(name, text)
    }
}

/// A text, and the part of it that was read so far.
struct Parser {
    at: usize,
    formula: Formula,
    lines: [Line; MOST_ASSIGNMENTS],
}

impl Parser {
    const fn parse(name: &'static str, text: &'static str) -> Result<Formula, FormulaError> {
        let line = Line {
            to: 0,
            first: 0,
            negative: [false; MOST_TERMS],
            factors: [0; MOST_TERMS],
            fields: [0; MOST_TERMS],
            count: 0,
        };
        let formula = Formula {
            name,
            text,
            fields: [0; MOST_FIELDS],
            is_written: [false; MOST_FIELDS],
            is_loaded: [false; MOST_FIELDS],
            field_count: 0,
            factors: [0; MOST_FACTORS],
            factor_count: 0,
            assignments: [Assignment::NONE; MOST_ASSIGNMENTS],
            assignment_count: 0,
            product: None,
            norm2: None,
        };
        let mut parser = Self { at: 0, formula, lines: [line; MOST_ASSIGNMENTS] };
        good!(parser.name());
        loop {
            if parser.next() == b'(' {
                good!(parser.sums());
                break;
            }
            good!(parser.assignment());
            if !parser.takes(b';') {
                break;
            }
        }
        if parser.next() != 0 {
            return parser.error("a formula ends here, or goes on with `;` or, between two sums, `,`");
        }
        Ok(parser.finish())
    }

    const fn error<T>(&self, message: &'static str) -> Result<T, FormulaError> {
        Err(FormulaError { text: self.formula.text, at: self.at, message })
    }

    const fn name(&self) -> Result<(), FormulaError> {
        let name = self.formula.name.as_bytes();
        let mut k = 0;
        while k < name.len() {
            let is_later = k > 0 && (name[k].is_ascii_digit() || name[k] == b'_');
            let is_letter = name[k].is_ascii_lowercase();
            if !(is_letter || is_later) {
                return self.error("its name is not a word of small letters, digits and `_`");
            }
            k += 1;
        }
        if k == 0 { self.error("it has no name") } else { Ok(()) }
    }

    /// Returns the next character that is not a space, or 0 at the end.
    const fn next(&mut self) -> u8 {
        let text = self.formula.text.as_bytes();
        while self.at < text.len() && text[self.at] == b' ' {
            self.at += 1;
        }
        if self.at < text.len() { text[self.at] } else { 0 }
    }

    const fn takes(&mut self, character: u8) -> bool {
        let there = self.next() == character;
        self.at += there as usize;
        there
    }

    const fn expect(&mut self, character: u8, message: &'static str) -> Result<(), FormulaError> {
        if self.takes(character) { Ok(()) } else { self.error(message) }
    }

    /// Returns the place among all vectors of the one whose letter is next.
    const fn field(&mut self) -> Result<usize, FormulaError> {
        let letter = self.next();
        if !letter.is_ascii_lowercase() || letter <= b'd' {
            return self.error("a vector is wanted here: one of the letters e to z");
        }
        let Formula { fields, field_count, text, .. } = &mut self.formula;
        let mut k = 0;
        while k < *field_count && text.as_bytes()[fields[k]] != letter {
            k += 1;
        }
        if k == *field_count {
            if k == MOST_FIELDS {
                return self.error("there are more than 8 vectors");
            }
            fields[k] = self.at;
            *field_count += 1;
        }
        self.at += 1;
        Ok(k)
    }

    /// Reads a vector like [`field`](Self::field), and notes that its value is used.
    const fn used(&mut self) -> Result<usize, FormulaError> {
        let field = good!(self.field());
        if !self.formula.is_written[field] {
            self.formula.is_loaded[field] = true;
        }
        Ok(field)
    }

    /// Returns the number of the factor whose letter is next.
    const fn factor(&mut self) -> Result<usize, FormulaError> {
        let letter = self.next();
        if letter < b'a' || letter > b'd' {
            return self.error("a factor is wanted here: one of the letters a to d");
        }
        let Formula { factors, factor_count, text, .. } = &mut self.formula;
        let mut k = 0;
        while k < *factor_count && text.as_bytes()[factors[k]] != letter {
            k += 1;
        }
        if k == *factor_count {
            factors[k] = self.at;
            *factor_count += 1;
        }
        self.at += 1;
        Ok(k)
    }

    const fn assignment(&mut self) -> Result<(), FormulaError> {
        if self.formula.assignment_count == MOST_ASSIGNMENTS {
            return self.error("there are more than 4 assignments");
        }
        let mut line = self.lines[self.formula.assignment_count];
        line.to = good!(self.field());
        good!(self.expect(b'=', "`=` is wanted here"));
        line.first = good!(self.used());
        let mut own = (line.first == line.to) as usize;
        loop {
            let negative = self.next() == b'-';
            if !negative && self.next() != b'+' {
                break;
            }
            if line.count == MOST_TERMS {
                return self.error("there are more than 4 terms behind the first vector");
            }
            self.at += 1;
            line.negative[line.count] = negative;
            line.factors[line.count] = good!(self.factor());
            line.fields[line.count] = good!(self.used());
            let is_own = line.fields[line.count] == line.to;
            if is_own && line.count > 0 {
                return self
                    .error("the vector on the left stands first or second on the right, or not at all");
            }
            own += is_own as usize;
            line.count += 1;
        }
        if own > 1 {
            return self.error("the vector on the left stands twice on the right");
        }
        self.formula.is_written[line.to] = true;
        self.lines[self.formula.assignment_count] = line;
        self.formula.assignment_count += 1;
        Ok(())
    }

    const fn sums(&mut self) -> Result<(), FormulaError> {
        const ORDER: &str = "sums are (x, y), (x, x), or (x, y), (z, z)";
        let mut product = None;
        let mut norm2 = None;
        loop {
            good!(self.expect(b'(', "`(` is wanted here"));
            let left = good!(self.used());
            good!(self.expect(b',', "`,` is wanted here"));
            let right = good!(self.used());
            good!(self.expect(b')', "`)` is wanted here"));
            if norm2.is_some() || (left != right && product.is_some()) {
                return self.error(ORDER);
            }
            if left == right {
                norm2 = Some(left);
            } else {
                product = Some((left, right));
            }
            if !self.takes(b',') {
                break;
            }
        }
        let formula = &self.formula;
        let sums = match product {
            Some((left, right)) => Some((formula.operand(left), formula.operand(right))),
            None => None,
        };
        let norm2 = match norm2 {
            Some(field) => Some(formula.operand(field)),
            None => None,
        };
        (self.formula.product, self.formula.norm2) = (sums, norm2);
        Ok(())
    }

    /// Makes the formula, with vectors divided into read and written ones.
    const fn finish(mut self) -> Formula {
        let mut k = 0;
        while k < self.formula.assignment_count {
            let line = self.lines[k];
            let Operand::Written(to) = self.formula.operand(line.to) else {
                panic!("what is assigned to is written")
            };
            let mut assignment =
                Assignment { to, first: self.formula.operand(line.first), ..Assignment::NONE };
            assignment.count = line.count;
            let mut i = 0;
            while i < line.count {
                assignment.terms[i] = Term {
                    negative: line.negative[i],
                    factor: line.factors[i],
                    field: self.formula.operand(line.fields[i]),
                };
                i += 1;
            }
            self.formula.assignments[k] = assignment;
            k += 1;
        }
        self.formula
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_stand_in_the_order_of_the_text() {
        let formula = Formula::parse("step", "x = x + a p + b r; r = r - b t; (q, r), (r, r)").unwrap();
        assert_eq!((formula.factors(), formula.read(), formula.written(), formula.sums()), (2, 3, 2, 2));
        let names: Vec<_> = formula.fields().map(|field| formula.field_name(field)).collect();
        assert_eq!(names, ["x", "p", "r", "t", "q"]);
        let [first, second] = formula.assignments() else { panic!("two assignments") };
        let term = |negative, factor, field| Term { negative, factor, field };
        assert_eq!((first.to, first.first), (0, Operand::Written(0)));
        assert_eq!(first.terms(), [term(false, 0, Operand::Read(0)), term(false, 1, Operand::Written(1))]);
        assert_eq!(second.terms(), [term(true, 1, Operand::Read(1))]);
        assert_eq!(formula.product(), Some((Operand::Read(2), Operand::Written(1))));
        assert_eq!(formula.norm2(), Some(Operand::Written(1)));
    }

    #[test]
    fn what_is_overwritten_first_is_not_loaded() {
        let formula = Formula::parse("sum", "y=x+a z;w=y-b x;(w,w)").unwrap();
        let loaded: Vec<_> = formula
            .fields()
            .filter(|field| formula.is_loaded(*field))
            .map(|f| formula.field_name(f))
            .collect();
        assert_eq!(loaded, ["x", "z"]);
    }

    #[test]
    fn bad_formulas_are_refused_with_the_place() {
        for (text, at, message) in [
            ("", 0, "a vector is wanted here: one of the letters e to z"),
            ("x", 1, "`=` is wanted here"),
            ("x = ", 4, "a vector is wanted here: one of the letters e to z"),
            ("x = a p", 4, "a vector is wanted here: one of the letters e to z"),
            ("a = x", 0, "a vector is wanted here: one of the letters e to z"),
            ("X = x", 0, "a vector is wanted here: one of the letters e to z"),
            ("x = x + p", 8, "a factor is wanted here: one of the letters a to d"),
            ("x = x + a", 9, "a vector is wanted here: one of the letters e to z"),
            ("x = x + a x", 11, "the vector on the left stands twice on the right"),
            (
                "x = y + a z + b x",
                17,
                "the vector on the left stands first or second on the right, or not at all",
            ),
            ("x = y * z", 6, "a formula ends here, or goes on with `;` or, between two sums, `,`"),
            ("(x, x); y = x", 6, "a formula ends here, or goes on with `;` or, between two sums, `,`"),
            ("(x x)", 3, "`,` is wanted here"),
            ("(x, x", 5, "`)` is wanted here"),
            ("(x, x), x", 8, "`(` is wanted here"),
            ("(x, x), (x, y)", 14, "sums are (x, y), (x, x), or (x, y), (z, z)"),
            ("(x, y), (y, z)", 14, "sums are (x, y), (x, x), or (x, y), (z, z)"),
            ("(x, x), (y, y)", 14, "sums are (x, y), (x, x), or (x, y), (z, z)"),
            (
                "x = e + a f + b g + c h + d i + a j",
                30,
                "there are more than 4 terms behind the first vector",
            ),
            ("x = e; x = e; x = e; x = e; x = e", 28, "there are more than 4 assignments"),
            ("x = e + a f + b g; y = h + a i + b j; x = k", 42, "there are more than 8 vectors"),
        ] {
            let error = Formula::parse("update", text).unwrap_err();
            assert_eq!((error.at, error.message), (at, message), "{text}");
            assert!(error.to_string().contains(&format!("at character {}: {message}", at + 1)), "{error}");
        }
        for name in ["", "Step", "two words", "1a"] {
            let message = Formula::parse(name, "x = y").unwrap_err().message;
            assert!(message.contains("name"), "{name}: {message}");
        }
    }
}
