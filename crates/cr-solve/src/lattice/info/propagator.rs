//! The result of `info` for a propagator: solutions of the Dirac equation.

use super::verification::Verification;
use super::{extents, shortened};
use lattice_cl::io::{Checksum, PropagatorFormat, PropagatorSummary, SolutionSummary};
use lattice_cli::report::{Table, path_text, scientific};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub struct PropagatorInfo {
    schema_version: u32,
    kind: &'static str,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    format: PropagatorFormat,
    dims: [usize; 4],
    solutions: Vec<Solution>,
    /// Σ |x|² over all solutions and the sites of each time slice.
    ///
    /// With all twelve sources the sum is the pion correlator.
    norm2_by_t: Vec<f64>,
    header: Vec<(String, String)>,
    warnings: Vec<String>,
    #[serde(flatten)]
    verification: Verification,
}

#[derive(Serialize)]
struct Solution {
    spin: usize,
    color: usize,
    precision: u32,
    norm: f64,
    checksum: Option<Checksum>,
}

impl From<&SolutionSummary> for Solution {
    fn from(summary: &SolutionSummary) -> Self {
        Self {
            spin: summary.spin,
            color: summary.colour,
            precision: summary.precision.bits(),
            norm: summary.norm2_by_t.iter().sum::<f64>().sqrt(),
            checksum: summary.checksum.clone(),
        }
    }
}

impl PropagatorInfo {
    pub fn of(path: &Path, summary: PropagatorSummary) -> Self {
        let dims = summary.dims.extents();
        let mut norm2_by_t = vec![0.0; dims[3]];
        for solution in &summary.solutions {
            for (sum, norm2) in norm2_by_t.iter_mut().zip(&solution.norm2_by_t) {
                *sum += norm2;
            }
        }
        let mut info = Self {
            schema_version: 1,
            kind: "propagator",
            file: path.to_owned(),
            format: summary.format,
            dims,
            solutions: summary.solutions.iter().map(Solution::from).collect(),
            norm2_by_t,
            header: summary.facts,
            warnings: summary.warnings,
            verification: Verification::default(),
        };
        info.verification = info.verification();
        info
    }

    /// Lists in words what speaks against the file.
    pub fn doubts(&self) -> Vec<String> {
        let wrong = self.sums().filter(|sum| !sum.ok).count();
        Vec::from_iter((wrong > 0).then(|| format!("{wrong} checksums do not match")))
    }

    fn sums(&self) -> impl Iterator<Item = &Checksum> {
        self.solutions.iter().filter_map(|solution| solution.checksum.as_ref())
    }

    fn checksums(&self) -> String {
        let (all, there) = (self.solutions.len(), self.sums().count());
        let kind = self.sums().next().map_or("", |sum| sum.kind);
        match self.sums().filter(|sum| !sum.ok).count() {
            _ if there == 0 => "none in the file".to_owned(),
            0 if there == all => match self.sum_of_all() {
                Some(sum) => format!("{kind} {sum}, verified"),
                None => format!("{kind}, verified for all {all} solutions"),
            },
            0 => format!("{kind}, verified for {there} of {all} solutions; the others have none"),
            wrong => format!("{kind}, MISMATCH for {wrong} of {all} solutions"),
        }
    }

    /// Returns what was verified, and what the file gives no means to verify.
    fn verification(&self) -> Verification {
        let mut found = Verification::default();
        found.verified.extend(["structure", "size", "finite numbers"].map(str::to_owned));
        let (all, there) = (self.solutions.len(), self.sums().filter(|sum| sum.ok).count());
        if there == all {
            found.verified.push("checksum".to_owned());
        } else {
            found.not_verified.push(format!("checksum of {} of {all} solutions", all - there));
        }
        found.not_verified.push("the equation that the solutions solve".to_owned());
        found
    }

    /// Returns the checksum that all solutions share.
    ///
    /// There is such a sum if there is one solution, or if all solutions stand in one record.
    fn sum_of_all(&self) -> Option<&str> {
        let mut sums = self.sums().map(|sum| sum.stored.as_str());
        let first = sums.next()?;
        sums.all(|sum| sum == first).then_some(first)
    }

    /// Lists the sources that have solutions.
    fn sources(&self) -> String {
        let all = (0..4).all(|spin| (0..3).all(|color| self.has(spin, color)));
        if all && self.solutions.len() == 12 {
            return "12: all spins and colours".to_owned();
        }
        let sources = self.solutions.iter().map(|solution| format!("{}.{}", solution.spin, solution.color));
        format!("{}: spin.colour {}", self.solutions.len(), sources.collect::<Vec<_>>().join(" "))
    }

    fn has(&self, spin: usize, color: usize) -> bool {
        self.solutions.iter().any(|solution| (solution.spin, solution.color) == (spin, color))
    }

    fn precisions(&self) -> String {
        let mut found: Vec<u32> = self.solutions.iter().map(|solution| solution.precision).collect();
        found.sort_unstable();
        found.dedup();
        found.iter().map(|bits| format!("{bits} bits")).collect::<Vec<_>>().join(" and ")
    }

    /// Describes the file in one line.
    pub fn line(&self) -> String {
        format!(
            "{}  propagator {}, {}, {} solutions, norm² {}, checksum {}",
            self.file.display(),
            extents(self.dims),
            self.precisions(),
            self.solutions.len(),
            scientific(self.norm2_by_t.iter().sum::<f64>(), 12),
            self.checksums()
        )
    }

    pub fn table(&self, verbose: bool) -> Table {
        let mut table = Table::default();
        table.line("file", self.file.display());
        table.line(
            "format",
            format_args!("{}, a propagator: spinors in the DeGrand-Rossi basis", self.format),
        );
        table.line("extents", extents(self.dims));
        table.line("precision", self.precisions());
        table.line("solutions", self.sources());
        table.line(
            "norm²",
            format_args!("{}, summed over all", scientific(self.norm2_by_t.iter().sum::<f64>(), 12)),
        );
        let shown = if verbose { self.norm2_by_t.len() } else { 4 };
        for (t, norm2) in self.norm2_by_t.iter().enumerate().take(shown) {
            table.line("", format_args!("{} on t = {t}", scientific(*norm2, 12)));
        }
        if shown < self.norm2_by_t.len() {
            table.line("", format_args!("... to t = {}, with -v", self.norm2_by_t.len() - 1));
        }
        if verbose {
            for Solution { spin, color, norm, .. } in &self.solutions {
                table.line("norm", format_args!("{} for spin {spin}, colour {color}", scientific(*norm, 12)));
            }
        }
        table.line("checksum", self.checksums());
        self.verification.lines(&mut table);
        for (name, value) in &self.header {
            match name.as_str() {
                "description" => table.line("description", shortened(value)),
                "date" => table.line("date", value),
                _ => table.line("says", format_args!("{name} = {value}")),
            }
        }
        table
    }
}
