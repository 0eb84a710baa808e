//! Tables of pair potentials as LAMMPS reads them.

use super::error::{FileError, FileProblem};
use super::table_units::{Scale, is_tags, tags};
use super::text::{count, name, number, read, shown};
use crate::spline::Spline;
use crate::units::Units;
use std::path::Path;

/// A file of tables, each a section with a keyword.
#[derive(Clone, Debug)]
pub struct TableFile {
    sections: Vec<(String, Curve)>,
    path: std::path::PathBuf,
}

/// A potential through the rows of a section: cubic splines of E and of F = −E′, each by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    range: [f64; 2],
    rows: usize,
    energy: Spline,
    force: Spline,
    inconsistency: f64,
}

/// How the distances of a section are given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Distances {
    /// By the rows.
    Listed,
    /// At equal steps of r.
    Linear([f64; 2]),
    /// At equal steps of r².
    Squared([f64; 2]),
    /// By the rows, in the order of the bits of r².
    Bits,
}

/// The line behind a keyword.
#[derive(Debug, PartialEq)]
struct Header {
    text: String,
    rows: usize,
    distances: Distances,
    /// The derivatives of F at both ends.
    ends: Option<[f64; 2]>,
}

impl TableFile {
    /// Reads all sections of a file, and makes kcal/mol and Å of what it has.
    ///
    /// # Errors
    /// All errors of [`TableFile::read_in`].
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::read_in(path, Units::Real)
    }

    /// Reads all sections of a file, and converts them if a line has other `UNITS:`.
    ///
    /// # Errors
    /// With the file and the line: no section at all, a header that is none, rows that are missing or too many, words
    /// that are no numbers, distances that do not rise or are not those of the header, units that
    /// cannot be converted.
    pub fn read_in(path: &Path, units: Units) -> Result<Self, FileError> {
        Self::parse(path, &read(path)?, units)
    }

    fn parse(path: &Path, text: &str, units: Units) -> Result<Self, FileError> {
        let at = |line: usize| move |problem| FileError::new(path, line, problem);
        let mut scale = None;
        for (i, line) in text.lines().enumerate() {
            let comment = line.find('#').map_or("", |begin| &line[begin..]);
            for tag in tags(if is_tags(line) { line } else { comment }) {
                let found = Scale::from(tag, units).map_err(at(i + 1))?;
                if scale.replace(found).is_some_and(|before| before != found) {
                    let wanted = "those of a line before";
                    let hint = "give a file for each";
                    let found = shown(tag);
                    return Err(at(i + 1)(FileProblem::Units { found, wanted, hint }));
                }
            }
        }
        let scale = scale.unwrap_or(Scale::NONE);
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()))
            .filter(|(_, line)| !line.is_empty() && !is_tags(line))
            .peekable();
        let mut sections: Vec<(String, Curve)> = Vec::new();
        while let Some((keyword_line, keyword)) = lines.next() {
            let name =
                name(keyword.split_whitespace().next().unwrap_or(keyword)).map_err(at(keyword_line))?;
            let (line, header) =
                lines.next().ok_or_else(|| at(keyword_line)(FileProblem::Ends("the header of a table")))?;
            let header = Header::parse(header).map_err(at(line))?;
            let mut rows: Vec<(usize, Row)> = Vec::new();
            let mut last = line;
            while rows.len() < header.rows {
                let row = lines.next().map(|(line, text)| (line, row_of(text)));
                match row {
                    Some((line, Some(row))) => {
                        rows.push((line, row.map_err(at(line))?));
                        last = line;
                    }
                    _ => {
                        let (wanted, found) = (header.rows, rows.len());
                        return Err(at(last)(FileProblem::Rows { name, wanted, found }));
                    }
                }
            }
            let mut more = 0;
            let mut first_more = None;
            while let Some((line, _)) = lines.next_if(|(_, text)| row_of(text).is_some()) {
                more += 1;
                first_more.get_or_insert(line);
            }
            if let Some(line) = first_more {
                let (wanted, found) = (header.rows, header.rows + more);
                return Err(at(line)(FileProblem::Rows { name, wanted, found }));
            }
            let curve = Curve::of_rows(&header, rows, scale);
            sections.push((name, curve.map_err(|(line, problem)| at(line)(problem))?));
        }
        if sections.is_empty() {
            return Err(FileError::new(path, None, FileProblem::NoTables));
        }
        Ok(Self { sections, path: path.to_owned() })
    }

    /// Returns the keywords.
    pub fn names(&self) -> Vec<String> {
        self.sections.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns a section.
    ///
    /// # Errors
    /// [`FileProblem::NoSection`] with the sections that there are.
    pub fn section(&self, name: &str) -> Result<&Curve, FileError> {
        self.sections.iter().find(|(known, _)| known == name).map(|(_, curve)| curve).ok_or_else(|| {
            let problem = FileProblem::NoSection { name: name.to_owned(), known: self.names() };
            FileError::new(&self.path, None, problem)
        })
    }
}

impl Header {
    fn parse(line: &str) -> Result<Self, FileProblem> {
        let wrong = || FileProblem::TableHeader(shown(line));
        let mut words = line.split_whitespace();
        let (mut rows, mut distances, mut ends) = (None, Distances::Listed, None);
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or_else(wrong);
            let mut pair = || -> Result<[f64; 2], FileProblem> { Ok([number(next()?)?, number(next()?)?]) };
            match word {
                "N" => rows = Some(count(next()?)?),
                "R" => distances = Distances::Linear(pair()?),
                "RSQ" => distances = Distances::Squared(pair()?),
                "BITMAP" => {
                    pair()?;
                    distances = Distances::Bits;
                }
                "FPRIME" => ends = Some(pair()?),
                _ => return Err(wrong()),
            }
        }
        let rows = rows.filter(|&rows| rows >= 2).ok_or_else(wrong)?;
        if distances == Distances::Bits && !rows.is_power_of_two() {
            return Err(FileProblem::Bitmap(rows));
        }
        match distances {
            Distances::Linear([low, high]) | Distances::Squared([low, high])
                if !(0.0 <= low && low < high) =>
            {
                Err(wrong())
            }
            _ => Ok(Self { text: shown(line), rows, distances, ends }),
        }
    }

    /// Returns the distance of a row, from 0, if the header tells it.
    fn distance(&self, row: usize) -> Option<f64> {
        let part = row as f64 / (self.rows - 1) as f64;
        match self.distances {
            Distances::Listed | Distances::Bits => None,
            Distances::Linear([low, high]) => Some(low + part * (high - low)),
            Distances::Squared([low, high]) => Some((low * low + part * (high * high - low * low)).sqrt()),
        }
    }
}

/// A row of a section.
struct Row {
    /// r, E and F.
    numbers: [f64; 3],
    /// The digits of r.
    digits: Digits,
}

/// How many digits a number was written with.
#[derive(Clone, Copy)]
struct Digits {
    /// From the first that is not 0.
    significant: i32,
    /// The power of ten of the last one.
    last: i32,
}

/// Reads index, r, E and F; `None` if the line is no row: one of several words, the first a number.
fn row_of(line: &str) -> Option<Result<Row, FileProblem>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first()?.parse::<u64>().ok().filter(|_| words.len() > 1)?;
    let row = || {
        let [_, r, energy, force] = words[..] else { return Err(FileProblem::TableRow(words.len())) };
        let numbers = [number(r)?, number(energy)?, number(force)?];
        Ok(Row { numbers, digits: Digits::of(r, numbers[0]) })
    };
    Some(row())
}

impl Digits {
    /// Counts the digits of a number, by its word.
    fn of(word: &str, value: f64) -> Self {
        let is_exponent = |&(i, c): &(usize, char)| i > 0 && matches!(c, 'e' | 'E' | 'd' | 'D' | '+' | '-');
        let end = word.char_indices().find(is_exponent).map_or(word.len(), |(i, _)| i);
        let mantissa = &word[..end];
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count() as i32;
        let behind_point = mantissa.split_once('.').map_or(0, |(_, behind)| digits(behind));
        let significant = digits(mantissa.trim_start_matches(['+', '-', '0', '.']));
        // The exponent is that of the number over its mantissa.
        let exponent = match mantissa.parse::<f64>() {
            Ok(of_mantissa) if value != 0.0 => (value / of_mantissa).abs().log10().round() as i32,
            _ => 0,
        };
        Self { significant, last: exponent.saturating_sub(behind_point) }
    }

    /// Returns the digits that a column was written with: programs leave zeros at the end out.
    fn of_column(rows: &[(usize, Row)]) -> Self {
        let all = || rows.iter().map(|(_, row)| row.digits);
        Self {
            significant: all().map(|digits| digits.significant).max().unwrap_or(0),
            last: all().map(|digits| digits.last).min().unwrap_or(0),
        }
    }

    /// Returns how far a number of this column may be from what it was before rounding.
    fn rounding(self, value: f64) -> f64 {
        let leading = if value > 0.0 { value.log10().floor() as i32 } else { i32::MIN / 2 };
        0.5 * 10.0_f64.powi(self.last.max(leading + 1 - self.significant))
    }
}

impl Curve {
    /// Makes a curve of rows and the lines that they stand on.
    fn of_rows(
        header: &Header,
        mut rows: Vec<(usize, Row)>,
        scale: Scale,
    ) -> Result<Self, (usize, FileProblem)> {
        if header.distances == Distances::Bits {
            rows.sort_by(|(_, a), (_, b)| a.numbers[0].total_cmp(&b.numbers[0]));
        }
        for pair in rows.windows(2) {
            let [(_, before), (line, row)] = pair else { continue };
            if row.numbers[0] <= before.numbers[0] {
                return Err((*line, FileProblem::NotRising(row.numbers[0])));
            }
        }
        // Files have few digits of r. The header has all.
        let digits = Digits::of_column(&rows);
        let mut distances = Vec::with_capacity(rows.len());
        for (i, (line, row)) in rows.iter().enumerate() {
            let found = row.numbers[0];
            let wanted = header.distance(i).unwrap_or(found);
            // LAMMPS complains of more than a millionth too.
            if (found - wanted).abs() > 1.001 * digits.rounding(wanted) + 1e-6 * wanted {
                let header = header.text.clone();
                return Err((*line, FileProblem::Distance { header, wanted, found }));
            }
            distances.push(scale.length * wanted);
        }
        let force_scale = scale.energy / scale.length;
        let column = |k: usize, scale: f64| rows.iter().map(|(_, row)| scale * row.numbers[k]).collect();
        let energy = Spline::new(distances.clone(), column(1, scale.energy), None);
        let forces: Vec<f64> = column(2, force_scale);
        let ends = header.ends.map(|ends| ends.map(|end| end * force_scale / scale.length));
        let force = Spline::new(distances.clone(), forces.clone(), ends);
        // The spline's slope is less exact at its ends, so it counts between them.
        let inner = 2.min((rows.len() - 1) / 2);
        let largest = forces.iter().map(|force| force.abs()).fold(0.0, f64::max);
        let apart = (inner..rows.len() - inner)
            .map(|i| (forces[i] + energy.at(distances[i])[1]).abs())
            .fold(0.0, f64::max);
        let inconsistency = if largest > 0.0 { apart / largest } else { apart };
        let range = [distances[0], distances[distances.len() - 1]];
        Ok(Self { range, rows: rows.len(), energy, force, inconsistency })
    }

    /// Returns E and E′ at a distance.
    pub fn energy_and_slope(&self, r: f64) -> [f64; 2] {
        [self.energy.at(r)[0], -self.force.at(r)[0]]
    }

    /// Returns the first and the last distance.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the largest |F + E′| over the largest |F|, with the slope E′ of E's spline.
    ///
    /// It is small if both columns are of one potential. The two rows at each end do not count.
    pub fn inconsistency(&self) -> f64 {
        self.inconsistency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(header: &str, rows: &[[f64; 3]]) -> String {
        let rows: String =
            rows.iter().enumerate().map(|(i, [r, e, f])| format!("{} {r} {e} {f}\n", i + 1)).collect();
        format!("# a comment\n\nFIRST of them\n{header}\n\n{rows}\n# the end\n")
    }

    fn parse(text: &str) -> Result<TableFile, FileError> {
        TableFile::parse(Path::new("file.table"), text, Units::Real)
    }

    /// Rows of E = r².
    fn rows(count: usize) -> Vec<[f64; 3]> {
        (0..count).map(|i| 1.0 + i as f64 / (count - 1) as f64).map(|r| [r, r * r, -2.0 * r]).collect()
    }

    #[test]
    fn every_kind_of_distances_is_read() {
        for header in ["N 33", "N 33 R 1 2", "FPRIME -2 -2 N 33 R 1.0 2.0"] {
            let text = table(header, &rows(33)) + &table("N 4", &rows(4)).replace("FIRST", "SECOND");
            let file = parse(&text).unwrap();
            assert_eq!(file.names(), ["FIRST", "SECOND"]);
            let curve = file.section("FIRST").unwrap();
            let [energy, slope] = curve.energy_and_slope(1.51);
            assert!((energy - 1.51 * 1.51).abs() < 1e-5 && (slope - 3.02).abs() < 1e-12, "{energy} {slope}");
            assert!(curve.inconsistency() < 1e-2 && curve.range() == [1.0, 2.0] && curve.rows() == 33);
            let missing = file.section("THIRD").unwrap_err().to_string();
            assert!(missing.contains("`THIRD`; there are: FIRST, SECOND"), "{missing}");
        }
        let squares: Vec<_> = (0..17).map(|i| (1.0 + 3.0 * f64::from(i) / 16.0).sqrt()).collect();
        let of_squares: Vec<_> = squares.iter().map(|&r| [r, r, -1.0]).collect();
        let file = parse(&table("N 17 RSQ 1 2", &of_squares)).unwrap();
        assert!((file.section("FIRST").unwrap().energy_and_slope(1.77)[0] - 1.77).abs() < 1e-3);
        let mut turned = rows(16);
        turned.rotate_left(5);
        assert!(parse(&table("N 16 BITMAP 1 2", &turned)).is_ok());
        assert!(parse(&table("N 16", &turned)).is_err());
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let text = table("N 33", &rows(33));
        let text = text.strip_prefix("# a comment\n\n").unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("\u{feff}{text}")).unwrap();
        let found = TableFile::read(file.path()).unwrap();
        assert_eq!(found.section("FIRST").unwrap(), parse(text).unwrap().section("FIRST").unwrap());
    }

    #[test]
    fn files_whose_columns_disagree_say_so() {
        let mut wrong = rows(33);
        wrong.iter_mut().for_each(|row| row[2] = -row[2]);
        let file = parse(&table("N 33", &wrong)).unwrap();
        assert!((file.section("FIRST").unwrap().inconsistency() - 2.0).abs() < 0.1);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let problem = |text: &str| {
            let error = parse(text).unwrap_err();
            (error.line.unwrap(), *error.problem)
        };
        let good = rows(5);
        assert!(matches!(problem(&table("N 6", &good)), (10, FileProblem::Rows { wanted: 6, found: 5, .. })));
        assert!(matches!(problem(&table("N 999999999999", &good)), (10, FileProblem::Rows { .. })));
        assert!(matches!(problem(&table("M 5", &good)), (4, FileProblem::TableHeader(_))));
        assert!(matches!(problem(&table("N 5 R 2 1", &good)), (4, FileProblem::TableHeader(_))));
        assert!(matches!(problem(&table("N 5 BITMAP 1 2", &good)), (4, FileProblem::Bitmap(5))));
        for empty in ["", "\n", "# a comment\n", "DATE: 2026-01-01 UNITS: real\n"] {
            assert!(matches!(*parse(empty).unwrap_err().problem, FileProblem::NoTables));
        }
        assert!(matches!(problem("ONE\n"), (1, FileProblem::Ends(_))));
        let mut bad = good.clone();
        bad[3][0] = bad[2][0];
        assert!(matches!(problem(&table("N 5", &bad)), (9, FileProblem::NotRising(_))));
        bad[3][0] = f64::NAN;
        assert!(matches!(problem(&table("N 5", &bad)), (9, FileProblem::NotFinite(_))));
    }

    #[test]
    fn distances_that_the_header_contradicts_are_named() {
        let line_of = |header: &str, rows: &[[f64; 3]]| match parse(&table(header, rows)) {
            Ok(_) => None,
            Err(error) => {
                assert!(matches!(*error.problem, FileProblem::Distance { .. }), "{error}");
                error.line
            }
        };
        let good = rows(5);
        assert_eq!(line_of("N 5 R 1 2", &good), None);
        assert_eq!(line_of("N 5 R 1 2.1", &good), Some(7));
        assert_eq!(line_of("N 5 R 0.9 2", &good), Some(6));
        assert_eq!(line_of("N 5 RSQ 1 2", &good), Some(7));
        let mut one = good.clone();
        one[3][0] += 1e-4;
        assert_eq!(line_of("N 5 R 1 2", &one), Some(9));
        assert_eq!(line_of("N 5", &one), None);
        // Rounded digits contradict nothing.
        let rounded = |digits: usize, odd: &str| {
            let row = |i: usize| {
                let r = 1.0 + i as f64 / 31.0;
                format!("{} {r:.digits$}{odd} {} {}\n", i + 1, r * r, -2.0 * r)
            };
            let rows: String = (0..32).map(row).collect();
            parse(&format!("ONE\nN 32 R 1 2\n\n{rows}"))
        };
        for (digits, odd) in [(2, ""), (3, "e0"), (7, "D+00"), (12, "+000")] {
            let found = rounded(digits, odd).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(found.section("ONE").unwrap().range(), [1.0, 2.0]);
        }
    }

    #[test]
    fn rows_have_four_columns() {
        let good = table("N 5", &rows(5));
        let row = good.lines().find(|line| line.starts_with("3 ")).unwrap();
        let with = |to: &str| parse(&good.replace(row, to)).map(drop);
        assert!(with(&format!("{row} # a comment")).is_ok());
        let short = row.rsplit_once(' ').unwrap().0;
        for (to, columns) in [(format!("{row} 7"), 5), (format!("{row} x"), 5), (short.to_owned(), 3)] {
            let error = with(&to).unwrap_err();
            assert_eq!(error.line, Some(8), "{error}");
            assert!(matches!(*error.problem, FileProblem::TableRow(found) if found == columns), "{error}");
        }
        let last = good.lines().find(|line| line.starts_with("5 ")).unwrap();
        let error = parse(&good.replace(last, &format!("{last}\n6 3 9 -6 1"))).unwrap_err();
        assert!(matches!(*error.problem, FileProblem::Rows { wanted: 5, found: 6, .. }), "{error}");
    }

    #[test]
    fn rows_beyond_the_header_are_counted() {
        let error = parse(&table("N 4", &rows(6))).unwrap_err();
        assert_eq!(error.line, Some(10));
        assert!(matches!(*error.problem, FileProblem::Rows { wanted: 4, found: 6, .. }), "{error}");
    }

    #[test]
    fn units_of_a_file_are_converted_or_refused() {
        let plain = table("N 33 FPRIME -2 -2 R 1 2", &rows(33));
        let with =
            |tags: &str, units| TableFile::parse(Path::new("file.table"), &format!("{tags}\n{plain}"), units);
        let at = |tags: &str, r: f64| {
            with(tags, Units::Real).unwrap().section("FIRST").unwrap().energy_and_slope(r)
        };
        let [energy, slope] = at("# nothing", 1.51);
        assert_eq!(at("# DATE: today UNITS: real", 1.51), [energy, slope]);
        let volt = 23.060_547_830_6;
        for tags in ["# UNITS: metal", "DATE: 2026-01-01 UNITS: metal CONTRIBUTOR: me", "#units:Metal"] {
            let [converted, rise] = at(tags, 1.51);
            assert!((converted / energy / volt - 1.0).abs() < 1e-9, "{tags}");
            assert!((rise / slope / volt - 1.0).abs() < 1e-9, "{tags}");
        }
        // Lengths are converted too: slopes by energy over length.
        let [nano, rise] = at("# UNITS: nano", 15.1);
        let joule = 1e-21 * 6.022_140_76e23 / 4184.0;
        assert!((nano / energy / joule - 1.0).abs() < 1e-9 && (rise / slope / joule - 0.1).abs() < 1e-9);
        for (tags, units, line) in [
            ("# UNITS: lj", Units::Real, 1),
            ("# UNITS: metal", Units::Reduced, 1),
            ("# UNITS: martian", Units::Real, 1),
            ("# UNITS: metal\n# UNITS: real", Units::Real, 2),
        ] {
            let error = with(tags, units).unwrap_err();
            assert!(error.line == Some(line) && error.to_string().contains("UNITS"), "{error}");
        }
        assert_eq!(
            with("# UNITS: lj", Units::Reduced).unwrap().section("FIRST").unwrap().energy_and_slope(1.51),
            [energy, slope]
        );
    }

    #[test]
    fn messages_have_no_control_characters() {
        let escape = "\u{1b}]0;x\u{7}";
        for text in [
            format!("A{escape}\nN 4\n\n"),
            format!("A\nN {escape}\n"),
            format!("A\n{escape} 4\n"),
            format!("A\nN 4\n\n1 {escape} 2 3\n"),
            format!("# UNITS: {escape}\nA\n"),
        ] {
            let said = parse(&text).unwrap_err().to_string();
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
        let file = parse(&table("N 33", &rows(33))).unwrap();
        let said = file.section(escape).unwrap_err().to_string();
        assert!(!said.chars().any(char::is_control), "{said:?}");
    }
}
