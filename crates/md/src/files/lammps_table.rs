//! Tables of pair potentials as LAMMPS reads them.

use super::error::{FileError, FileProblem};
use super::text::{count, number, read, shown};
use crate::spline::Spline;
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
    rows: usize,
    distances: Distances,
    /// The derivatives of F at both ends.
    ends: Option<[f64; 2]>,
}

impl TableFile {
    /// Reads all sections of a file.
    ///
    /// # Errors
    /// With the file and the line: a header that is none, rows that are missing, words that are no
    /// numbers, distances that do not rise.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &read(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()))
            .filter(|(_, line)| !line.is_empty());
        let mut sections = Vec::new();
        while let Some((keyword_line, keyword)) = lines.next() {
            let name = keyword.split_whitespace().next().unwrap_or(keyword).to_owned();
            let at = |line: usize| move |problem| FileError::new(path, line, problem);
            let (line, header) =
                lines.next().ok_or_else(|| at(keyword_line)(FileProblem::Ends("the header of a table")))?;
            let header = Header::parse(header).map_err(at(line))?;
            let mut rows: Vec<(usize, [f64; 3])> = Vec::new();
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
            sections
                .push((name, Curve::of_rows(&header, rows).map_err(|(line, problem)| at(line)(problem))?));
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
            _ => Ok(Self { rows, distances, ends }),
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

/// Reads index, r, E and F; `None` if the line is no row.
fn row_of(line: &str) -> Option<Result<[f64; 3], FileProblem>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [index, r, energy, force] = words[..] else { return None };
    index.parse::<u64>().ok()?;
    let row = || Ok([number(r)?, number(energy)?, number(force)?]);
    Some(row())
}

impl Curve {
    fn of_rows(header: &Header, mut rows: Vec<(usize, [f64; 3])>) -> Result<Self, (usize, FileProblem)> {
        if header.distances == Distances::Bits {
            rows.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
        }
        for pair in rows.windows(2) {
            let [(_, before), (line, row)] = pair else { continue };
            if row[0] <= before[0] {
                return Err((*line, FileProblem::NotRising(row[0])));
            }
        }
        // Files have few digits of r. The header has all.
        let distances: Vec<f64> =
            rows.iter().enumerate().map(|(i, (_, row))| header.distance(i).unwrap_or(row[0])).collect();
        let column = |k: usize| rows.iter().map(|(_, row)| row[k]).collect::<Vec<f64>>();
        let energy = Spline::new(distances.clone(), column(1), None);
        let force = Spline::new(distances.clone(), column(2), header.ends);
        // The natural spline bends wrongly at its ends, so its slope counts between them.
        let inner = 2.min((rows.len() - 1) / 2);
        let largest = rows.iter().map(|(_, row)| row[2].abs()).fold(0.0, f64::max);
        let apart = (inner..rows.len() - inner)
            .map(|i| (rows[i].1[2] + energy.at(distances[i])[1]).abs())
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
        TableFile::parse(Path::new("file.table"), text)
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
        assert!(matches!(problem("ONE\n"), (1, FileProblem::Ends(_))));
        let mut bad = good.clone();
        bad[3][0] = bad[2][0];
        assert!(matches!(problem(&table("N 5", &bad)), (9, FileProblem::NotRising(_))));
        bad[3][0] = f64::NAN;
        assert!(matches!(problem(&table("N 5", &bad)), (9, FileProblem::NotFinite(_))));
    }
}
