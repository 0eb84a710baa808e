//! Programs for one length: the sequence of passes and the places in local memory are constants.
//!
//! Large transforms have them. Divisions by constants are cheap, and the compiler sees the
//! whole sequence of passes. Strides and distances of lines are arguments, so that the axes of a cube
//! share a program. The text is what `FIXED` in `cl/fft_lines.cl` asks for.

use super::cut::Cut;
use super::lines::Lines;
use super::variant::FftTuning;
use std::fmt::Write;

/// Numbers of a transform below which a program of its own is not worth its compilation.
pub(super) const LEAST_ELEMENTS: usize = 1 << 16;

/// What a program is for.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// Lines of a vector.
    pub lanes: usize,
    /// Vectors of lines or pairs that a group takes.
    pub vectors: usize,
    /// Work-items of a group.
    pub local: usize,
    /// Elements of local memory between real and imaginary parts.
    pub plane: usize,
    radices: Vec<usize>,
    constants: String,
}

/// How lines are shared out over groups, and where their elements lie in local memory.
struct Groups {
    lanes: usize,
    vectors: usize,
    local: usize,
    plane: usize,
    /// The place of an element.
    at: String,
    /// The element and the vector of a step of an item.
    of_pass: String,
}

impl Groups {
    /// A group is an item that has one vector of lines.
    fn of_processor(cut: Cut, real: usize, lines: &Lines, slots: usize) -> Self {
        // Twice as many single numbers fill a vector, if not many vectors have lines of two rows then.
        let wide = 64 / real;
        let run = lines.extents.first().copied().unwrap_or(1);
        let is_even = run.is_multiple_of(wide) || run >= 8 * wide;
        let fits = cut.bytes(slots, 1, real) / cut.lanes * wide <= cut.local_bytes;
        let lanes = if is_even && fits { wide } else { cut.lanes };
        let of_pass = "const uint element = i, v = 0".to_owned();
        Self { lanes, vectors: 1, local: 1, plane: slots, at: "(slot)".to_owned(), of_pass }
    }

    fn of_gpu(
        cut: Cut,
        real: usize,
        lines: &Lines,
        tuning: &FftTuning,
        [slots, lines_or_pairs]: [usize; 2],
    ) -> Option<Self> {
        // The first pass writes elements as far apart as its radix. One slot more keeps them out of one bank.
        let pad = tuning.radices[0];
        let padded = slots + slots / pad + 1;
        let is_contiguous = lines.from.stride == 1;
        // Neighbouring lines are read side by side: 64 bytes at least.
        let least = if is_contiguous { 1 } else { 64 / (2 * real) };
        let wanted = (tuning.elements as usize / slots).max(least).min(lines_or_pairs);
        let fits = |vectors: &usize| cut.bytes(padded, *vectors, real) <= cut.local_bytes;
        let vectors = (1..=wanted).rev().find(fits)?;
        let vectors = if is_contiguous { vectors } else { 1 << vectors.ilog2() };
        let local =
            (slots * vectors / 8).next_multiple_of(32).clamp(32, (tuning.items as usize).min(cut.local));
        let slot = format!("((slot) + (slot) / {pad}u)");
        let (at, of_pass) = if is_contiguous {
            (
                format!("({slot} + v * {padded}u)"),
                "const uint element = i % (count), v = i / (count)".to_owned(),
            )
        } else {
            (
                format!("({slot} * {vectors}u + v)"),
                format!("const uint element = i / {vectors}u, v = i % {vectors}u"),
            )
        };
        Some(Self { lanes: 1, vectors, local, plane: padded * vectors, at, of_pass })
    }
}

impl Fixed {
    /// Returns the program for lines, unless the device or their number is better off without.
    ///
    /// Results are turned by the number of the column if `columns` is not 0.
    pub fn of(cut: Cut, real: usize, lines: &Lines, tuning: &FftTuning, columns: usize) -> Option<Self> {
        let (m, radices) = (tuning.length(), &tuning.radices);
        let (n, count) = (lines.length, lines.count());
        let groups_lines = if lines.are_paired() { count.div_ceil(2) } else { count };
        if n * count < LEAST_ELEMENTS || count >= 1 << 31 || radices.is_empty() {
            return None;
        }
        let slots = n.max(m);
        let groups = if cut.lanes > 1 {
            Groups::of_processor(cut, real, lines, slots)
        } else {
            Groups::of_gpu(cut, real, lines, tuning, [slots, groups_lines])?
        };
        let mut text = String::new();
        let mut define = |name: &str, value: String| {
            writeln!(text, "#define {name} {value}").expect("text has room");
        };
        for (name, value) in [
            ("LENGTH", n),
            ("CONVOLUTION", m),
            ("KIND", tuning.way as usize),
            ("VECTORS", groups.vectors),
            ("COLUMNS", columns),
            ("READ_MODE", lines.from.mode as usize),
            ("WRITTEN_MODE", lines.to.mode as usize),
            ("GIVEN", lines.from.present),
            ("KEPT", lines.to.present),
            ("PLANE", groups.plane),
            ("DIMENSIONS", lines.extents.len()),
        ] {
            define(&format!("FIXED_{name}"), format!("{value}u"));
        }
        let step = |stride: usize, given: &str| if stride == 1 { "1ul".to_owned() } else { given.to_owned() };
        define("FIXED_READ_STEP", step(lines.from.stride, "from_stride"));
        define("FIXED_WRITTEN_STEP", step(lines.to.stride, "to_stride"));
        define("AT(slot)", groups.at);
        define("OF_PASS(i, count, element)", groups.of_pass);
        let Groups { lanes, vectors, local, plane, .. } = groups;
        Some(Self { lanes, vectors, local, plane, radices: radices.clone(), constants: text })
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
                "    PASS_BARRIER;\n    pass_{radix}({l}u, m, vectors, plane, roots, {from}, {to});"
            )
            .expect("text has room");
            l *= radix;
            names = [to, from];
        }
        text + "    GROUP_BARRIER;\n    return " + names[0] + ";\n}\n"
    }
}
