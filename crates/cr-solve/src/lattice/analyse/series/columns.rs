//! Columns of numbers: plain text and CSV.

use super::choice::{Choice, ColumnChoice, Measurements};
use super::order::expect_later;
use super::problem::SeriesProblem;
use lattice_files::number::{index, real};
use lattice_files::text::{shortened_bytes, without_mark};
use std::io::{BufRead, Read};

/// Most bytes of a line: 16 MiB.
const LONGEST: u64 = 1 << 24;

/// Most characters of a word that are shown in a message.
const SHOWN: usize = 40;

/// Reads columns of numbers.
///
/// Words are separated by commas, by semicolons or by white space. A `#` begins a comment. The first
/// line may have names.
///
/// # Errors
/// The number of the line, and what is wrong with it; 0 for the whole file.
pub fn read(mut input: impl BufRead, choice: &Choice) -> Result<Measurements, (usize, SeriesProblem)> {
    let mut table: Option<ColumnTable> = None;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let at = |problem: SeriesProblem| (number, problem);
        input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line).map_err(|error| at(error.into()))?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 > LONGEST {
            return Err(at(SeriesProblem::LongLine { longest: LONGEST }));
        }
        let text = if number == 1 { without_mark(&line) } else { &line };
        let text = text.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        if text.is_empty() {
            continue;
        }
        let words = words(text);
        match &mut table {
            None => {
                let names = header(&words);
                let has_names = names.is_some();
                let mut begun = ColumnTable::new(names, words.len(), choice).map_err(at)?;
                if !has_names {
                    begun.add(&words).map_err(at)?;
                }
                table = Some(begun);
            }
            Some(table) => table.add(&words).map_err(at)?,
        }
    }
    match table {
        Some(table) if table.rows > 0 => Ok(table.measurements),
        _ => Err((0, SeriesProblem::Empty)),
    }
}

fn words(text: &[u8]) -> Vec<&[u8]> {
    match [b',', b';'].into_iter().find(|separator| text.contains(separator)) {
        Some(separator) => text.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect(),
        None => text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect(),
    }
}

/// Returns the names of a line that has no number.
fn header(words: &[&[u8]]) -> Option<Vec<String>> {
    let name = |word: &&[u8]| {
        let name = word.trim_ascii_start().strip_prefix(b"\"").unwrap_or(word);
        let name = name.strip_suffix(b"\"").unwrap_or(name);
        let is_name = name.first().is_some_and(|letter| letter.is_ascii_alphabetic() || *letter == b'_');
        (is_name && real(name).is_none()).then(|| String::from_utf8_lossy(name).into_owned())
    };
    words.iter().map(name).collect()
}

/// The columns that are read, and where they are in a line.
struct ColumnTable {
    /// Columns of a line.
    width: usize,
    /// Places of the measurements in a line.
    places: Vec<usize>,
    /// FilePosition of the configuration number in a line.
    number: Option<usize>,
    rows: usize,
    measurements: Measurements,
}

impl ColumnTable {
    fn new(names: Option<Vec<String>>, width: usize, choice: &Choice) -> Result<Self, SeriesProblem> {
        let all = names.clone().unwrap_or_else(|| (1..=width).map(|number| number.to_string()).collect());
        let place = |choice: &ColumnChoice| {
            let place = match choice {
                ColumnChoice::Number(number) => (*number <= width).then(|| number - 1),
                ColumnChoice::Name(name) => {
                    names.iter().flat_map(|names| names.iter().position(|other| other == name)).next()
                }
            };
            place.ok_or_else(|| SeriesProblem::NoColumn { choice: choice.clone(), names: all.clone() })
        };
        let number = choice.numbers.as_ref().map(place).transpose()?;
        let places = match &choice.column {
            Some(column) => vec![place(column)?],
            None => (0..width).filter(|place| Some(*place) != number).collect(),
        };
        let measurements = Measurements {
            names: places.iter().map(|&place| all[place].clone()).collect(),
            columns: vec![Vec::new(); places.len()],
            numbers: number.map(|_| Vec::new()),
        };
        Ok(Self { width, places, number, rows: 0, measurements })
    }

    fn add(&mut self, words: &[&[u8]]) -> Result<(), SeriesProblem> {
        if words.len() != self.width {
            return Err(SeriesProblem::Columns { expected: self.width, found: words.len() });
        }
        if let (Some(place), Some(numbers)) = (self.number, &mut self.measurements.numbers) {
            let number = index(words[place]).ok_or_else(|| SeriesProblem::NotAnIndex(shown(words[place])))?;
            expect_later(numbers.last().copied(), number)?;
            numbers.push(number);
        }
        for (&place, column) in self.places.iter().zip(&mut self.measurements.columns) {
            match real(words[place]) {
                Some(value) if value.is_finite() => column.push(value),
                Some(_) => return Err(SeriesProblem::NotFinite(shown(words[place]))),
                None => return Err(SeriesProblem::NotANumber(shown(words[place]))),
            }
        }
        self.rows += 1;
        Ok(())
    }
}

fn shown(word: &[u8]) -> String {
    shortened_bytes(word, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(column: &str, numbers: &str) -> Choice {
        let parsed = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        Choice { column: parsed(column), numbers: parsed(numbers) }
    }

    #[test]
    fn columns_are_read_as_people_write_them() {
        for (text, column, numbers, wanted) in [
            ("\u{feff}# a comment\n1\n\n 2.5D-1 # another\r\n-3e0", "", "", vec![vec![1.0, 0.25, -3.0]]),
            ("1 2\n3\t4\n", "", "", vec![vec![1.0, 3.0], vec![2.0, 4.0]]),
            ("1, 2\n3 ,4\n", "2", "", vec![vec![2.0, 4.0]]),
            ("1;x;2\n3;y;4\n", "3", "", vec![vec![2.0, 4.0]]),
            ("n,\"plaquette\"\n10,0.5\n20,0.25\n", "plaquette", "n", vec![vec![0.5, 0.25]]),
            ("n,plaquette\n10,0.5\n20,0.25\n", "", "1", vec![vec![0.5, 0.25]]),
        ] {
            let read = read(text.as_bytes(), &choice(column, numbers)).unwrap();
            assert_eq!(read.columns, wanted, "{text}");
            assert_eq!(read.numbers, (!numbers.is_empty()).then(|| vec![10, 20]), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, column, numbers, line, wanted) in [
            ("1\nNaN\n", "", "", 2, "`NaN` is not finite"),
            ("1\n\n-inf\n", "", "", 3, "not finite"),
            ("1\nx\n", "", "", 2, "`x` is no number"),
            ("1x\n2\n", "", "", 1, "`1x` is no number"),
            ("1 2\n3\n", "", "", 2, "1 columns follow lines of 2"),
            ("1,\n", "", "", 1, "`` is no number"),
            ("# nothing\n", "", "", 0, "no measurements"),
            ("name\n", "", "", 0, "no measurements"),
            ("1 2\n", "3", "", 1, "no column 3; choose 1 or 2"),
            ("a b\n1 2\n", "c", "", 1, "no column c; choose a or b"),
            ("1 2\n1 3\n", "", "1", 2, "configuration 1 is there twice"),
            ("2 2\n1 3\n", "", "1", 2, "configuration 1 follows 2"),
            ("1.5 2\n", "", "1", 1, "`1.5` is no configuration number"),
        ] {
            let (at, problem) = read(text.as_bytes(), &choice(column, numbers)).unwrap_err();
            assert!(at == line && problem.to_string().contains(wanted), "{text}: {at}, {problem}");
        }
    }
}
