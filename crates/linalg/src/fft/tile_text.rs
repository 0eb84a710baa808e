//! OpenCL C text of the kernel of a tile; `cl/fft_tiles.cl` stands in front.

use super::tile::{Along, Phase, Tile, TileKind};
use std::fmt::Write;

/// A pass of a tile.
struct Pass<'a> {
    phase: &'a Phase,
    radix: usize,
    /// Product of the radices before.
    l: usize,
    number: usize,
}

/// The parts that go through local memory together.
const BOTH: &[usize] = &[0, 1];

const NAMES: [&str; 2] = ["re", "im"];

impl Pass<'_> {
    fn step(&self) -> usize {
        self.phase.length() / self.radix
    }

    /// Returns the text for all butterflies that an item has, with `text` for each.
    ///
    /// `text` gets the number of the butterfly's first element in the item's arrays.
    fn each(&self, items: usize, text: impl Fn(usize) -> String) -> String {
        let count = self.phase.rows * self.phase.columns / self.radix;
        let mut all = String::new();
        for round in 0..count.div_ceil(items) {
            let guard =
                if (round + 1) * items > count { format!("if (i < {count}u) ") } else { String::new() };
            let places = match self.phase.along {
                Along::Rows => format!("const uint a = i / {0}u, q = i % {0}u;", self.step()),
                Along::Columns => format!("const uint q = i / {0}u, b = i % {0}u;", self.phase.columns),
            };
            let text = text(round * self.radix);
            write!(
                all,
                "    {{ const uint i = item + {}u; {guard}{{\n        {places}\n{text}    }} }}\n",
                round * items
            )
            .expect("text has room");
        }
        all
    }

    /// Returns row and column of element j that a butterfly reads.
    fn read(&self, j: usize) -> [String; 2] {
        self.place(format!("(q + {}u)", j * self.step()))
    }

    /// Returns row and column of result j of a butterfly.
    fn written(&self, j: usize) -> [String; 2] {
        let (l, more) = (self.l, (self.radix - 1) * self.l);
        self.place(format!("(q + q / {l}u * {more}u + {}u)", j * l))
    }

    fn place(&self, element: String) -> [String; 2] {
        match self.phase.along {
            Along::Rows => ["a".to_owned(), element],
            Along::Columns => [element, "b".to_owned()],
        }
    }

    /// Returns the text of the transforms in registers.
    fn transforms(&self, items: usize) -> String {
        let (n, radix, l) = (self.phase.length(), self.radix, self.l);
        let roots = if self.phase.along == Along::Rows { "row_roots" } else { "column_roots" };
        let [re, im] = NAMES.map(|name| format!("{name}{}", self.number));
        self.each(items, |at| {
            let mut text = format!("        butterfly_{radix}({re} + {at}, {im} + {at});\n");
            // The last pass turns nothing.
            for j in (1..radix).filter(|_| l * radix < n) {
                let k = at + j;
                writeln!(text, "        TURN({roots}, q / {l}u * {}u, {re}[{k}], {im}[{k}])", j * l)
                    .expect("text has room");
            }
            text
        })
    }
}

/// Returns the place of an element in local memory.
fn address(phase: &Phase, [row, column]: &[String; 2]) -> String {
    let [a, b] = phase.gaps();
    let gap = |place: &String, gap: Option<usize>| match gap {
        Some(gap) => format!("({place} + {place} / {gap}u)"),
        None => place.clone(),
    };
    format!("{} * {}u + {}", gap(row, a), phase.pitch(), gap(column, b))
}

impl Tile {
    fn passes(&self) -> Vec<Pass<'_>> {
        let mut passes = Vec::new();
        for phase in &self.phases {
            let mut l = 1;
            for &radix in &phase.radices {
                passes.push(Pass { phase, radix, l, number: passes.len() });
                l *= radix;
            }
        }
        passes
    }

    /// Returns all radices.
    pub fn radices(&self) -> Vec<usize> {
        self.phases.iter().flat_map(|phase| phase.radices.iter().copied()).collect()
    }

    /// Returns the text of the kernel. `dimensions` are those of the geometry.
    ///
    /// Steps of rows and columns that are 1 are constants.
    pub fn kernel(&self, steps: [[usize; 2]; 2]) -> String {
        let passes = self.passes();
        let step = |side: usize, which: usize| match steps[side][which] {
            1 => "1u".to_owned(),
            _ => format!("{}_{}", ["from", "to"][side], ["row", "column"][which]),
        };
        let steps = [0, 1].map(|side| [0, 1].map(|which| step(side, which)));
        let mut text = BEGIN.to_owned();
        text += match self.kind {
            TileKind::Plane | TileKind::RealPlane | TileKind::HalfPlane => {
                "    const ulong2 base = places_of(geometry, (line_number)get_group_id(0));\n"
            }
            _ => "",
        };
        for (number, pass) in passes.iter().enumerate() {
            let held = (pass.phase.rows * pass.phase.columns / pass.radix).div_ceil(self.items) * pass.radix;
            writeln!(text, "    real re{number}[{held}], im{number}[{held}];").expect("text has room");
            if number == 0 {
                text += &self.load(pass, &steps[0]);
            } else {
                text += &self.exchange(&passes[number - 1], pass);
            }
            text += &pass.transforms(self.items);
        }
        text += &self.store(passes.last().expect("a tile has passes"), &steps[1]);
        text + "}\n"
    }

    /// Returns the text that finds the line of a butterfly, or two of real rows, for tiles of lines.
    fn line(&self, is_pair: bool) -> String {
        let line = match self.kind {
            TileKind::Columns => "b",
            TileKind::Rows | TileKind::RealRows | TileKind::HalfRows if !is_pair => "a",
            TileKind::RealRows | TileKind::HalfRows => "2 * a",
            _ => return String::new(),
        };
        let mut text = format!(
            "        const ulong line = (ulong)get_group_id(0) * {}u + {line};\n        \
             const int exists = line < tiles;\n        \
             const ulong2 base = places_of(geometry, (line_number)(exists ? line : 0));\n",
            self.together()
        );
        if is_pair {
            text += "        const int two = line + 1 < tiles;\n        \
                     const ulong2 second = places_of(geometry, (line_number)(two ? line + 1 : 0));\n";
        }
        text
    }

    /// Returns the place of an element in global memory.
    fn global(&self, part: char, [row, column]: &[String; 2], steps: &[String; 2]) -> String {
        match self.kind {
            TileKind::Rows | TileKind::RealRows | TileKind::HalfRows => {
                format!("base.{part} + (ulong){column} * {}", steps[1])
            }
            TileKind::Columns => format!("base.{part} + (ulong){row} * {}", steps[0]),
            _ => format!("base.{part} + (ulong){row} * {} + (ulong){column} * {}", steps[0], steps[1]),
        }
    }

    fn load(&self, pass: &Pass<'_>, steps: &[String; 2]) -> String {
        let exists = matches!(self.kind, TileKind::Rows | TileKind::Columns | TileKind::HalfRows);
        pass.each(self.items, |at| {
            let mut text = self.line(self.kind == TileKind::RealRows);
            for j in 0..pass.radix {
                let (k, [row, column]) = (at + j, pass.read(j));
                if self.kind == TileKind::RealRows {
                    let step = &steps[1];
                    write!(
                        text,
                        "        re0[{k}] = exists ? source[base.x + (ulong){column} * {step}] : (real)0;\n        \
                         im0[{k}] = two ? source[second.x + (ulong){column} * {step}] : (real)0;\n"
                    )
                } else if self.kind == TileKind::RealPlane {
                    let from = self.global('x', &[format!("(2 * {row})"), column], steps);
                    write!(
                        text,
                        "        re0[{k}] = source[{from}];\n        \
                         im0[{k}] = 2 * {row} + 1 < {}u ? source[{from} + {}] : (real)0;\n",
                        self.real_rows, steps[0]
                    )
                } else {
                    let from = self.global('x', &[row, column], steps);
                    let from = format!("load_pair(source, {from})");
                    let from = if exists { format!("exists ? {from} : (real2_)(0, 0)") } else { from };
                    write!(
                        text,
                        "        {{ const real2_ z = {from};\n          \
                         re0[{k}] = load_swapped ? z.y : z.x; im0[{k}] = load_swapped ? z.x : z.y; }}\n"
                    )
                }
                .expect("text has room");
            }
            text
        })
    }

    fn store(&self, pass: &Pass<'_>, steps: &[String; 2]) -> String {
        let exists = match self.kind {
            TileKind::Rows | TileKind::Columns | TileKind::RealRows => "if (exists) ",
            _ => "",
        };
        let [re, im] = NAMES.map(|name| format!("{name}{}", pass.number));
        pass.each(self.items, |at| {
            let mut text = self.line(self.kind == TileKind::HalfRows);
            for j in 0..pass.radix {
                let (k, [row, column]) = (at + j, pass.written(j));
                let z = format!(
                    "const real2_ z = (store_swapped ? (real2_)({im}[{k}], {re}[{k}]) : (real2_)({re}[{k}], {im}[{k}])) * scale;"
                );
                if self.kind == TileKind::HalfRows {
                    let step = &steps[1];
                    write!(
                        text,
                        "        {{ {z}\n          \
                         if (exists) target[base.y + (ulong){column} * {step}] = z.x;\n          \
                         if (two) target[second.y + (ulong){column} * {step}] = z.y; }}\n"
                    )
                } else if self.kind == TileKind::HalfPlane {
                    let to = self.global('y', &[format!("(2 * {row})"), column], steps);
                    write!(
                        text,
                        "        {{ {z}\n          target[{to}] = z.x;\n          \
                         if (2 * {row} + 1 < {}u) target[{to} + {}] = z.y; }}\n",
                        self.real_rows, steps[0]
                    )
                } else {
                    let to = self.global('y', &[row, column], steps);
                    write!(text, "        {{ {z}\n          {exists}store_pair(target, {to}, z); }}\n")
                }
                .expect("text has room");
            }
            text
        })
    }

    /// Returns the text that takes the results of a pass to the next one.
    fn exchange(&self, from: &Pass<'_>, to: &Pass<'_>) -> String {
        let groups: &[&[usize]] = if self.is_by_parts { &[&[0], &[1]] } else { &[BOTH] };
        let mut text = String::new();
        for (group, parts) in groups.iter().enumerate() {
            if from.number > 0 || group > 0 {
                text += "    GROUP_BARRIER;\n";
            }
            text += &from.each(self.items, |at| {
                let mut text = String::new();
                for j in 0..from.radix {
                    for &part in *parts {
                        let place = self.at(from.phase, &from.written(j), part);
                        let name = NAMES[part];
                        writeln!(text, "        {place} = {name}{}[{}];", from.number, at + j)
                            .expect("text has room");
                    }
                }
                text
            });
            text += if from.number == 0 { "    FIRST_BARRIER;\n" } else { "    GROUP_BARRIER;\n" };
            let is_turn = !std::ptr::eq(from.phase, to.phase);
            text += &to.each(self.items, |at| {
                let take = |j: usize| match self.kind {
                    TileKind::RealPlane | TileKind::RealRows if is_turn => {
                        self.unpack(from.phase, to, at + j, j, parts)
                    }
                    TileKind::HalfPlane | TileKind::HalfRows if is_turn => {
                        self.pack(from.phase, to, at + j, j, parts)
                    }
                    _ => {
                        let take = |&part: &usize| {
                            let (name, place) = (NAMES[part], self.at(from.phase, &to.read(j), part));
                            format!("        {name}{}[{}] = {place};\n", to.number, at + j)
                        };
                        parts.iter().map(take).collect()
                    }
                };
                (0..to.radix).map(take).collect()
            });
        }
        text
    }

    /// Returns the place of a part in local memory, laid out for a phase.
    fn at(&self, phase: &Phase, place: &[String; 2], part: usize) -> String {
        let offset = if self.is_by_parts { 0 } else { part * self.plane() };
        format!("work[{} + {offset}u]", address(phase, place))
    }

    /// Returns the text that takes element j of a column of half a spectrum, from rows in pairs.
    ///
    /// With z = x + i y, x has (Z_k + conj Z_{n−k})/2, and y (Z_k − conj Z_{n−k})/(2i).
    fn unpack(&self, phase: &Phase, to: &Pass<'_>, k: usize, j: usize, parts: &[usize]) -> String {
        let ([row, column], n) = (to.read(j), self.real_columns);
        let [re, im] = NAMES.map(|name| format!("{name}{}[{k}]", to.number));
        let other = format!("({column} == 0 ? 0 : {n}u - {column})");
        let mut text = String::new();
        for &part in parts {
            let [u, v] = [&column, &other]
                .map(|column| self.at(phase, &[format!("({row} / 2)"), column.clone()], part));
            let results = match part {
                0 => format!("if ({row} & 1) {im} = (real)0.5 * (v - u); else {re} = (real)0.5 * (u + v);"),
                _ => format!("if ({row} & 1) {re} = (real)0.5 * (u + v); else {im} = (real)0.5 * (u - v);"),
            };
            writeln!(text, "        {{ const real u = {u}, v = {v};\n          {results} }}")
                .expect("text has room");
        }
        text
    }

    /// Returns the text that takes element j of a pair of rows, from half a spectrum.
    ///
    /// Real and imaginary parts are exchanged, as for all inverses. The imaginary parts of results 0 and
    /// n/2 of real rows are 0 whatever is there.
    fn pack(&self, phase: &Phase, to: &Pass<'_>, k: usize, j: usize, parts: &[usize]) -> String {
        let ([row, column], n) = (to.read(j), self.real_columns);
        let [re, im] = NAMES.map(|name| format!("{name}{}[{k}]", to.number));
        let mut text = format!(
            "        {{ const uint near = {column} <= {}u ? {column} : {n}u - {column};\n          \
             const real sign = near == 0 || 2 * near == {n}u ? (real)0 : near == {column} ? (real)1 : (real)-1;\n",
            n / 2
        );
        let near = "near".to_owned();
        for &part in parts {
            let x = self.at(phase, &[format!("(2 * {row})"), near.clone()], part);
            let y = self.at(phase, &[format!("(2 * {row} + 1)"), near.clone()], part);
            let results = match part {
                0 => format!("{re} = sign * u; {im} = -sign * v;"),
                _ => format!("{re} += v; {im} += u;"),
            };
            writeln!(
                text,
                "          {{ const real u = {x}, v = 2 * {row} + 1 < {}u ? {y} : (real)0; {results} }}",
                self.real_rows
            )
            .expect("text has room");
        }
        text + "        }\n"
    }
}

const BEGIN: &str = "\
__kernel void fft_tiles(__global const real *from, const ulong from_offset, __global real *to, const ulong to_offset,
                        __global const ulong *geometry, __global const real *row_roots, __global const real *column_roots,
                        const ulong tiles, const ulong from_row, const ulong from_column, const ulong to_row, const ulong to_column,
                        const uint2 modes, const real scale, __local real *work)
{
    __global real *const target = to + to_offset * (modes.y >> 16);
    __global const real *const source = modes.x & IN_PLACE ? target : from + from_offset * (modes.y & 0xFFFF);
    const int load_swapped = (modes.x & LOAD_SWAPPED) != 0, store_swapped = (modes.x & STORE_SWAPPED) != 0;
    const uint item = get_local_id(0);
";
