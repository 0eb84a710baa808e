//! OpenCL C text of the passes: a transform of each radix in registers.
//!
//! A pass of radix R reads R elements, transforms them, turns them, and writes them. The transform
//! is straight-line text. Composite radices are two smaller ones with constant factors between. A
//! prime radix adds and subtracts x_j and x_{R−j} first, which halves the products.

use super::factors::RADICES;
use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt::Write;

/// The text under construction.
///
/// The value number `i` has the parts `r{i}` and `i{i}`.
#[derive(Default)]
struct Codelet {
    text: String,
    /// For each value `None`, or the factor and the value whose product it is.
    ///
    /// A product has no text until it is needed by itself: sums take it as a fused operation, which
    /// saves an operation and a rounding.
    products: Vec<Option<(f64, usize)>>,
}

/// Returns cos and −sin of 2π k/n, exact where they are 0, ±1 or of one size.
fn root(k: usize, n: usize) -> (f64, f64) {
    let root = crate::host::fft::root(k, n);
    if (8 * k).is_multiple_of(n) && !(4 * k).is_multiple_of(n) {
        return (FRAC_1_SQRT_2.copysign(root.re), FRAC_1_SQRT_2.copysign(root.im));
    }
    (root.re, root.im)
}

/// Writes a constant that is read back as the same number.
fn literal(value: f64) -> String {
    format!("(vreal)((real){value:?})")
}

impl Codelet {
    /// Adds a value with these expressions for its parts, and returns its number.
    fn value(&mut self, real: &str, imaginary: &str) -> usize {
        let number = self.products.len();
        self.products.push(None);
        writeln!(self.text, "        const vreal r{number} = {real}, i{number} = {imaginary};")
            .expect("text has room");
        number
    }

    /// Adds a value that is a factor times another one.
    fn product(&mut self, factor: f64, x: usize) -> usize {
        self.products.push(Some((factor, x)));
        self.products.len() - 1
    }

    /// Returns a value with the same parts that has text.
    fn made(&mut self, x: usize) -> usize {
        match self.products[x] {
            Some((factor, of)) => {
                let factor = literal(factor);
                self.value(&format!("{factor} * r{of}"), &format!("{factor} * i{of}"))
            }
            None => x,
        }
    }

    /// Adds a + b, or a − b.
    fn sum(&mut self, a: usize, b: usize, sign: f64) -> usize {
        if let Some((factor, of)) = self.products[b] {
            let (a, factor) = (self.made(a), literal(sign * factor));
            return self
                .value(&format!("fma({factor}, r{of}, r{a})"), &format!("fma({factor}, i{of}, i{a})"));
        }
        let operator = if sign > 0.0 { "+" } else { "-" };
        if let Some((factor, of)) = self.products[a] {
            let factor = literal(factor);
            let part = |part: char| format!("fma({factor}, {part}{of}, {operator}{part}{b})");
            return self.value(&part('r'), &part('i'));
        }
        self.value(&format!("r{a} {operator} r{b}"), &format!("i{a} {operator} i{b}"))
    }

    /// x e^{−2πi k/n} with constant k and n.
    fn turned(&mut self, x: usize, k: usize, n: usize) -> usize {
        let (c, s) = root(k, n);
        if (c, s) == (1.0, 0.0) {
            return x;
        }
        let x = self.made(x);
        match (c, s) {
            (-1.0, 0.0) => self.value(&format!("-r{x}"), &format!("-i{x}")),
            (0.0, -1.0) => self.value(&format!("i{x}"), &format!("-r{x}")),
            (0.0, 1.0) => self.value(&format!("-i{x}"), &format!("r{x}")),
            _ if c.abs() == s.abs() => {
                // (r + i·i)(c + i·s) with s = ±c.
                let (minus, plus) = if c == s { ("-", "+") } else { ("+", "-") };
                let sum = self.value(&format!("r{x} {minus} i{x}"), &format!("i{x} {plus} r{x}"));
                self.product(c, sum)
            }
            _ => {
                let (c, minus, s) = (literal(c), literal(-s), literal(s));
                self.value(
                    &format!("sum_of_products(r{x}, {c}, i{x}, {minus})"),
                    &format!("sum_of_products(i{x}, {c}, r{x}, {s})"),
                )
            }
        }
    }

    /// Transforms the values, and returns the numbers of the results.
    fn transform(&mut self, x: &[usize]) -> Vec<usize> {
        let n = x.len();
        match (2..n).find(|divisor| n.is_multiple_of(*divisor)) {
            None if n == 1 => x.to_vec(),
            None => self.prime(x),
            // n = a b with the least divisor a: index b·j1 + j2 becomes k1 + a·k2.
            Some(a) => {
                let b = n / a;
                let columns: Vec<Vec<usize>> = (0..b)
                    .map(|j2| {
                        let column: Vec<usize> = (0..a).map(|j1| x[b * j1 + j2]).collect();
                        let column = self.transform(&column);
                        column.into_iter().enumerate().map(|(k1, y)| self.turned(y, j2 * k1, n)).collect()
                    })
                    .collect();
                let mut result = vec![0; n];
                for k1 in 0..a {
                    let row: Vec<usize> = columns.iter().map(|column| column[k1]).collect();
                    for (k2, y) in self.transform(&row).into_iter().enumerate() {
                        result[k1 + a * k2] = y;
                    }
                }
                result
            }
        }
    }

    /// Transforms a prime number of values.
    fn prime(&mut self, x: &[usize]) -> Vec<usize> {
        let n = x.len();
        if n == 2 {
            return vec![self.sum(x[0], x[1], 1.0), self.sum(x[0], x[1], -1.0)];
        }
        let half = n / 2;
        let (mut sums, mut differences) = (Vec::new(), Vec::new());
        for j in 1..=half {
            sums.push(self.sum(x[j], x[n - j], 1.0));
            differences.push(self.sum(x[j], x[n - j], -1.0));
        }
        let first = self.made(x[0]);
        let all = |part: char| {
            sums.iter().fold(format!("{part}{first}"), |text, sum| format!("{text} + {part}{sum}"))
        };
        let mut result = vec![self.value(&all('r'), &all('i')); n];
        // A sum of constants times values, behind a term without one.
        let terms = |part: char, begin: String, factors: &[f64], values: &[usize]| {
            let terms = factors.iter().zip(values);
            terms.fold(begin, |text, (factor, value)| {
                format!("fma({}, {part}{value}, {text})", literal(*factor))
            })
        };
        for k in 1..=half {
            // The even part, and the odd part without its factor −i.
            let roots: Vec<(f64, f64)> = (1..=half).map(|j| root(j * k, n)).collect();
            let cosines: Vec<f64> = roots.iter().map(|root| root.0).collect();
            let sines: Vec<f64> = roots.iter().map(|root| -root.1).collect();
            let even = |part: char| terms(part, format!("{part}{first}"), &cosines, &sums);
            let a = self.value(&even('r'), &even('i'));
            if half == 1 {
                let (d, sine, minus) = (differences[0], literal(sines[0]), literal(-sines[0]));
                let with =
                    |r: &str, i: &str| [format!("fma({r}, i{d}, r{a})"), format!("fma({i}, r{d}, i{a})")];
                let [re, im] = with(&sine, &minus);
                result[k] = self.value(&re, &im);
                let [re, im] = with(&minus, &sine);
                result[n - k] = self.value(&re, &im);
                continue;
            }
            let odd = |part: char| {
                let begin = format!("{} * {part}{}", literal(sines[0]), differences[0]);
                terms(part, begin, &sines[1..], &differences[1..])
            };
            let b = self.value(&odd('r'), &odd('i'));
            result[k] = self.value(&format!("r{a} + i{b}"), &format!("i{a} - r{b}"));
            result[n - k] = self.value(&format!("r{a} - i{b}"), &format!("i{a} + r{b}"));
        }
        result
    }
}

/// Returns the text of the transform of values with this text, and the numbers of the results.
fn transform(radix: usize, value: impl Fn(usize) -> [String; 2]) -> (String, Vec<usize>) {
    let mut codelet = Codelet::default();
    let inputs: Vec<usize> = (0..radix)
        .map(|j| {
            let [re, im] = value(j);
            codelet.value(&re, &im)
        })
        .collect();
    let outputs = codelet.transform(&inputs);
    let outputs = outputs.into_iter().map(|y| codelet.made(y)).collect();
    (codelet.text, outputs)
}

/// Returns the text of the pass of one radix.
fn pass(radix: usize) -> String {
    let (body, outputs) = transform(radix, |j| {
        [format!("from[AT(b + {j} * step)]"), format!("from[plane + AT(b + {j} * step)]")]
    });
    let mut text = format!("static inline void pass_{radix}(PASS_PARAMETERS)\n{{\n    PASS_BEGIN({radix})\n");
    text += &body;
    for (j, y) in outputs.iter().enumerate() {
        writeln!(text, "        PASS_PUT({j}, r{y}, i{y})").expect("text has room");
    }
    text + "    PASS_END\n}\n"
}

/// Returns the text of functions that transform so many values in place.
pub(super) fn butterflies(radices: &[usize]) -> String {
    let butterfly = |radix: usize| {
        let (body, outputs) = transform(radix, |j| [format!("re[{j}]"), format!("im[{j}]")]);
        let mut text =
            format!("static inline void butterfly_{radix}(real *const re, real *const im)\n{{\n{body}");
        for (j, y) in outputs.iter().enumerate() {
            writeln!(text, "        re[{j}] = r{y};\n        im[{j}] = i{y};").expect("text has room");
        }
        text + "}\n"
    };
    distinct(radices).into_iter().map(butterfly).collect()
}

fn distinct(radices: &[usize]) -> Vec<usize> {
    let mut radices = radices.to_vec();
    radices.sort_unstable();
    radices.dedup();
    radices
}

/// Returns the text of the passes of these radices.
pub(super) fn passes_of(radices: &[usize]) -> String {
    distinct(radices).into_iter().map(pass).collect()
}

/// Returns the text of all passes, and of the function `pass` that chooses among them.
pub(super) fn passes() -> String {
    passes_among(&RADICES.map(|(radix, _)| radix))
}

/// Returns the text of the passes of these radices, and of the function `pass` that chooses among them.
pub(super) fn passes_among(radices: &[usize]) -> String {
    let radices = distinct(radices);
    let mut text = passes_of(&radices);
    text += "static inline void pass(const uint radix, PASS_PARAMETERS)\n{\n    switch (radix) {\n";
    for radix in radices {
        writeln!(text, "    case {radix}: pass_{radix}(PASS_ARGUMENTS); break;").expect("text has room");
    }
    text + "    }\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_factors_are_exact_where_they_can_be() {
        assert_eq!(root(0, 5), (1.0, 0.0));
        assert_eq!(root(3, 12), (0.0, -1.0));
        assert_eq!(root(6, 12), (-1.0, 0.0));
        assert_eq!(root(9, 12), (0.0, 1.0));
        assert_eq!(root(1, 8), (FRAC_1_SQRT_2, -FRAC_1_SQRT_2));
        assert_eq!(root(3, 8), (-FRAC_1_SQRT_2, -FRAC_1_SQRT_2));
    }

    #[test]
    fn small_radices_need_no_products() {
        for radix in [2, 4] {
            let text = pass(radix);
            let body = text.lines().filter(|line| line.contains("const vreal") && !line.contains("from["));
            assert!(body.clone().count() > 0 && body.clone().all(|line| !line.contains('*')), "{text}");
        }
    }
}
