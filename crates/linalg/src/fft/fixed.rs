//! Programs for one length and geometry: everything that decides addresses is a constant.
//!
//! Large transforms on GPUs have them. Divisions by constants are cheap, and the compiler sees the
//! whole sequence of passes. The text is what `FIXED` in `cl/fft_lines.cl` asks for.

use super::cut::Cut;
use super::lines::Lines;
use std::fmt::Write;

/// Numbers of a transform below which a program of its own is not worth its compilation.
const LEAST_ELEMENTS: usize = 1 << 16;

/// Most work-items of a group.
const MOST_ITEMS: usize = 256;

/// Elements that a group should have at least.
const ELEMENTS: usize = 2048;

/// What a program is for.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// Lines or pairs that a group takes.
    pub vectors: usize,
    /// Work-items of a group.
    pub local: usize,
    /// Elements of local memory between real and imaginary parts.
    pub plane: usize,
    radices: Vec<usize>,
    constants: String,
}

impl Fixed {
    /// Returns the program for lines, unless the device or their number is better off without.
    ///
    /// `m` is the length of transforms in local memory, `kind` that of `cl/fft.cl`. Results are turned
    /// by the number of the column if `columns` is not 0.
    pub fn of(
        cut: Cut,
        real: usize,
        lines: &Lines,
        (m, kind, columns): (usize, u32, usize),
        radices: &[usize],
    ) -> Option<Self> {
        let (n, count) = (lines.length, lines.count());
        let groups_lines = if lines.are_paired() { count.div_ceil(2) } else { count };
        if cut.lanes > 1 || n * count < LEAST_ELEMENTS || count >= 1 << 31 || radices.is_empty() {
            return None;
        }
        let slots = n.max(m);
        // The first pass writes elements as far apart as its radix. One slot more keeps them out of one bank.
        let pad = radices[0];
        let padded = slots + slots / pad + 1;
        let is_contiguous = lines.from.stride == 1;
        // Neighbouring lines are read side by side: 64 bytes at least.
        let least = if is_contiguous { 1 } else { 64 / (2 * real) };
        let wanted = (ELEMENTS / slots).max(least).min(groups_lines);
        let fits = |vectors: &usize| cut.bytes(padded, *vectors, real) <= cut.local_bytes;
        let vectors = (1..=wanted).rev().find(fits)?;
        let vectors = if is_contiguous { vectors } else { 1 << vectors.ilog2() };
        let local = (slots * vectors / 8).next_multiple_of(32).clamp(32, MOST_ITEMS.min(cut.local));
        let plane = padded * vectors;
        let mut text = String::new();
        let mut define = |name: &str, value: String| {
            writeln!(text, "#define {name} {value}").expect("text has room");
        };
        for (name, value) in [
            ("LENGTH", n),
            ("CONVOLUTION", m),
            ("KIND", kind as usize),
            ("VECTORS", vectors),
            ("COLUMNS", columns),
            ("READ_MODE", lines.from.mode as usize),
            ("WRITTEN_MODE", lines.to.mode as usize),
            ("PLANE", plane),
        ] {
            define(&format!("FIXED_{name}"), format!("{value}u"));
        }
        define("FIXED_READ_STEP", format!("{}ul", lines.from.stride));
        define("FIXED_WRITTEN_STEP", format!("{}ul", lines.to.stride));
        let slot = format!("((slot) + (slot) / {pad}u)");
        if is_contiguous {
            define("AT(slot)", format!("({slot} + v * {padded}u)"));
            define(
                "OF_PASS(i, count, element)",
                "const uint element = i % (count), v = i / (count)".to_owned(),
            );
        } else {
            define("AT(slot)", format!("({slot} * {vectors}u + v)"));
            define(
                "OF_PASS(i, count, element)",
                format!("const uint element = i / {vectors}u, v = i % {vectors}u"),
            );
        }
        for (side, distances) in [&lines.from.distances, &lines.to.distances].into_iter().enumerate() {
            text += &place(side, &lines.extents, distances);
        }
        Some(Self { vectors, local, plane, radices: radices.to_vec(), constants: text })
    }

    /// Returns the radices of the passes, the first one first.
    pub fn radices(&self) -> &[usize] {
        &self.radices
    }

    /// Returns the text that stands in front of the passes.
    pub fn constants(&self) -> String {
        self.constants.clone()
    }

    /// Returns the function that does all passes, with the arguments of the one in `cl/fft_lines.cl`.
    pub fn sequence(&self) -> String {
        let mut text = "static inline __local vreal *run_passes(const ulong radices, const uint m, const uint vectors, const uint plane, \
                        __global const real *roots, __local vreal *from, __local vreal *to)\n{\n"
            .to_owned();
        let (mut l, mut names) = (1, ["from", "to"]);
        for radix in &self.radices {
            let [from, to] = names;
            writeln!(
                text,
                "    GROUP_BARRIER;\n    pass_{radix}({l}u, m, vectors, plane, roots, {from}, {to});"
            )
            .expect("text has room");
            l *= radix;
            names = [to, from];
        }
        text + "    GROUP_BARRIER;\n    return " + names[0] + ";\n}\n"
    }
}

/// Returns the function that says where a line begins on one side.
fn place(side: usize, extents: &[usize], distances: &[usize]) -> String {
    let mut text = format!("static inline ulong fixed_place_{side}(uint line)\n{{\n    ulong place = 0;\n");
    for (number, (extent, distance)) in extents.iter().zip(distances).enumerate() {
        if number + 1 == extents.len() {
            writeln!(text, "    place += line * {distance}ul;")
        } else {
            writeln!(text, "    place += (line % {extent}u) * {distance}ul;\n    line /= {extent}u;")
        }
        .expect("text has room");
    }
    text + "    return place;\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_constants() {
        let text = place(1, &[6, 4], &[1, 12]);
        assert!(text.contains("place += (line % 6u) * 1ul;\n    line /= 6u;\n    place += line * 12ul;"));
        assert!(place(0, &[], &[]).contains("ulong place = 0;\n    return place;"));
    }
}
