//! The result of `info` for a gauge configuration.

use super::verification::Verification;
use super::{digits, extents, shortened};
use lattice_cl::gauge::{Plaquette, link_trace, plaquette, polyakov_loop};
use lattice_cl::host::{Unitarity, unitarity};
use lattice_cl::io::{Checksum, Format, GaugeFile, HeaderCheck, LinkSign, UNITARITY_LIMIT};
use lattice_cli::report::{Table, path_text, scientific};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub struct ConfigurationInfo {
    schema_version: u32,
    kind: &'static str,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    format: Format,
    dims: [usize; 4],
    precision: u32,
    plaquette: Plaquette,
    link_trace: f64,
    polyakov: [f64; 2],
    #[serde(flatten)]
    unitarity: Unitarity,
    signs_in_links: Vec<LinkSign>,
    checksum: Option<Checksum>,
    header_checks: Vec<HeaderCheck>,
    fields: usize,
    header: Vec<(String, String)>,
    warnings: Vec<String>,
    #[serde(skip)]
    extents_were_given: bool,
    #[serde(flatten)]
    verification: Verification,
}

impl ConfigurationInfo {
    pub fn of(path: &Path, file: GaugeFile) -> Self {
        let configuration = file.configuration;
        let polyakov = polyakov_loop(&configuration);
        let mut info = Self {
            schema_version: 1,
            kind: "configuration",
            file: path.to_owned(),
            format: file.format,
            dims: configuration.dims().extents(),
            precision: configuration.precision().bits(),
            plaquette: plaquette(&configuration),
            link_trace: link_trace(&configuration),
            polyakov: [polyakov.re, polyakov.im],
            unitarity: unitarity(&configuration),
            signs_in_links: file.signs,
            checksum: file.checksum,
            header_checks: file.header_checks,
            fields: file.fields,
            header: file.facts,
            // Formats without extents warn of those that were given.
            extents_were_given: file
                .warnings
                .iter()
                .any(|warning| warning.contains("does not say its extents")),
            warnings: file.warnings,
            verification: Verification::default(),
        };
        info.verification = info.verification();
        info
    }

    /// Returns what was verified, and what the file gives no means to verify.
    fn verification(&self) -> Verification {
        let mut found = Verification::default();
        found.verified.extend(["structure", "size", "finite links"].map(str::to_owned));
        match &self.checksum {
            Some(checksum) if checksum.ok => found.verified.push(format!("{} checksum", checksum.kind)),
            Some(_) => {}
            None => found.not_verified.push("checksum (none in the file)".to_owned()),
        }
        let (right, _): (Vec<_>, Vec<_>) = self.header_checks.iter().partition(|check| check.ok);
        found.verified.extend(right.iter().map(|check| format!("{} of the header", check.quantity)));
        if self.header_checks.is_empty() {
            found.not_verified.push("plaquette (none in the file)".to_owned());
        }
        let Unitarity { unitarity_deviation, determinant_deviation } = self.unitarity;
        if unitarity_deviation.max(determinant_deviation) <= UNITARITY_LIMIT {
            found.verified.push("links in SU(3)".to_owned());
        }
        if self.extents_were_given {
            found.not_verified.push("order of the extents (given, not in the file)".to_owned());
        }
        found
    }

    /// Lists in words what speaks against the file.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.checksum.as_ref().is_some_and(|checksum| !checksum.ok) {
            doubts.push("the checksum does not match".to_owned());
        }
        let mismatches = self.header_checks.iter().filter(|check| !check.ok);
        doubts.extend(mismatches.map(|check| format!("the {} does not match", check.quantity)));
        let Unitarity { unitarity_deviation, determinant_deviation } = self.unitarity;
        // In this form NaN is a doubt as well.
        if ![unitarity_deviation, determinant_deviation].iter().all(|deviation| *deviation <= UNITARITY_LIMIT)
        {
            doubts.push("links are far from SU(3)".to_owned());
        }
        doubts
    }

    /// Describes the file in one line.
    pub fn line(&self) -> String {
        let checksum = match &self.checksum {
            None => "no checksum",
            Some(Checksum { ok: true, .. }) => "checksum verified",
            Some(Checksum { ok: false, .. }) => "checksum MISMATCH",
        };
        format!(
            "{}  {} {}, {} bits, plaquette {}, {checksum}",
            self.file.display(),
            self.format,
            extents(self.dims),
            self.precision,
            digits(self.plaquette.average)
        )
    }

    pub fn table(&self, verbose: bool) -> Table {
        let Plaquette { average, spatial, temporal } = self.plaquette;
        let [re, im] = self.polyakov;
        let Unitarity { unitarity_deviation, determinant_deviation } = self.unitarity;
        let mut table = Table::default();
        table.line("file", self.file.display());
        table.line("format", self.format);
        table.line("extents", extents(self.dims));
        table.line("precision", format_args!("{} bits", self.precision));
        let [average, spatial, temporal, re] = [average, spatial, temporal, re].map(digits);
        let sign = if im.is_sign_negative() { "" } else { "+" };
        table.line("plaquette", format_args!("{average} (spatial {spatial}, temporal {temporal})"));
        table.line("link trace", digits(self.link_trace));
        table.line("Polyakov loop", format_args!("{re} {sign}{} i", digits(im)));
        table.line("unitarity", format_args!("largest |U U† − 1| = {}", scientific(unitarity_deviation, 2)));
        table.line(
            "determinant",
            format_args!("largest |det U − 1| = {}", scientific(determinant_deviation, 2)),
        );
        for sign in &self.signs_in_links {
            table.line("sign", format_args!("−1 on {sign} in the file"));
        }
        match &self.checksum {
            None => table.line("checksum", "none in the file"),
            Some(Checksum { kind, stored, ok: true, .. }) => {
                table.line("checksum", format_args!("{kind} {stored}, verified"));
            }
            Some(Checksum { kind, stored, computed, ok: false }) => {
                table.line("checksum", format_args!("{kind} MISMATCH: stored {stored}, computed {computed}"));
            }
        }
        for HeaderCheck { quantity, stored, computed, ok, .. } in &self.header_checks {
            let verdict = if *ok { "verified" } else { "MISMATCH" };
            table.line("header", format_args!("{quantity} {verdict}: stored {stored}, computed {computed}"));
        }
        self.verification.lines(&mut table);
        if self.fields > 1 {
            table.line("fields", format_args!("{}; this is the first", self.fields));
        }
        let provenance = Format::provenance();
        for (name, value) in &self.header {
            match provenance.iter().find(|known| *known == name) {
                Some(&known) if !value.is_empty() => table.line(known, shortened(value)),
                None if verbose => table.line("says", format_args!("{name} = {}", shortened(value))),
                _ => {}
            }
        }
        table
    }
}
