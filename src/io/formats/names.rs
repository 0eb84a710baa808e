//! Names of formats, and the lists that help, messages and documents are made of.

use super::registry::Format;
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;
use lattice_files::words::sentence;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::LazyLock;

impl Format {
    /// Returns the name in lower case, as the program takes and prints it.
    pub fn name(self) -> &'static str {
        self.reader().about().name
    }

    /// Returns the name for use in sentences.
    pub fn title(self) -> &'static str {
        self.reader().about().title
    }

    /// Returns a few words about reading and checks.
    pub fn description(self) -> &'static str {
        self.reader().about().reads
    }

    /// Returns the format that the ending of a file name tells, if it tells one.
    pub fn of_file_name(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.reader().about().endings.contains(&ending.as_str()))
    }

    /// Tells whether files of this format can have links of this precision.
    ///
    /// `false` for a format that is only read.
    pub fn holds(self, precision: Precision) -> bool {
        WriteOptions { precision: Some(precision), ..WriteOptions::new(self) }.check().is_ok()
    }

    /// Tells whether a file of this format takes over a fact of another format.
    ///
    /// The fact is an entry of [`GaugeFile::facts`](crate::io::GaugeFile::facts).
    pub fn takes_over(self, fact: &str) -> bool {
        self.reader().about().takes_over.contains(&fact)
    }

    /// Returns the entries that tell where a configuration comes from, in any format.
    ///
    /// They are entries of [`GaugeFile::facts`](crate::io::GaugeFile::facts).
    pub fn provenance() -> Vec<&'static str> {
        let mut known = Vec::new();
        for fact in Self::READ.into_iter().flat_map(|format| format.reader().about().provenance) {
            if !known.contains(fact) {
                known.push(*fact);
            }
        }
        known
    }

    /// Returns the titles of all formats that are read, as a list in a sentence.
    pub fn titles_read() -> String {
        sentence(&Self::READ.map(Self::title), "or")
    }

    /// Returns the names of all formats that are written, as a list in a sentence.
    pub fn names_written() -> String {
        sentence(&Self::ALL.map(Self::name), "or")
    }

    /// Returns a sentence about the beginnings of files of all formats.
    pub(in crate::io) fn beginnings() -> String {
        let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
        for about in Self::READ.map(|format| format.reader().about()) {
            match groups.last_mut() {
                Some((titles, beginning)) if *beginning == about.beginning => titles.push(about.title),
                _ => groups.push((vec![about.title], about.beginning)),
            }
        }
        let mut verb = " files begin";
        let said = groups.into_iter().map(|(titles, beginning)| {
            format!("{}{} with {beginning}", sentence(&titles, "and"), std::mem::take(&mut verb))
        });
        said.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The name is not that of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format to write; these are {list}", list = sentence(&Format::ALL.map(Format::name), "and"))]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Self, UnknownFormatName> {
        Format::ALL
            .into_iter()
            .find(|format| format.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownFormatName(name.to_owned()))
    }
}

/// Returns the advice for a format that is only read.
pub(super) fn choose_another() -> &'static str {
    static REMEDY: LazyLock<String> = LazyLock::new(|| format!("choose {}", Format::names_written()));
    &REMEDY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{ByteOrder, Rows};
    use std::collections::BTreeSet;

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert_eq!(format.name().to_uppercase().parse(), Ok(format));
        }
        assert_eq!("hdf5".parse::<Format>(), Err(UnknownFormatName("hdf5".into())));
    }

    #[test]
    fn names_and_endings_are_of_one_format() {
        let names = BTreeSet::from(Format::READ.map(Format::name));
        assert_eq!(names.len(), Format::READ.len());
        for name in names {
            assert_eq!(name, name.to_lowercase());
        }
        for format in Format::READ {
            for ending in format.reader().about().endings {
                let found = Format::of_file_name(Path::new(&format!("conf.{ending}")));
                assert_eq!(found, Some(format).filter(|_| format.writer().is_some()), "{ending}");
            }
        }
    }

    #[test]
    fn every_format_that_is_written_can_be_chosen_and_takes_its_defaults() {
        for format in Format::READ {
            let is_written = Format::ALL.contains(&format);
            assert_eq!(format.writer().is_some(), is_written, "{format}");
            assert_eq!(WriteOptions::new(format).check().is_ok(), is_written, "{format}");
            let holds = [Precision::Single, Precision::Double].map(|precision| format.holds(precision));
            assert_eq!(holds.contains(&true), is_written, "{format}");
            assert!(!is_written || format.reader().about().endings.contains(&format.name()), "{format}");
        }
        assert!(Format::Ildg.holds(Precision::Double) && !Format::Milc.holds(Precision::Double));
        assert!(!Format::OpenQcd.holds(Precision::Single));
    }

    #[test]
    fn lists_are_sentences() {
        let written = Format::names_written();
        assert!(written.starts_with("ildg, scidac, nersc, "), "{written}");
        assert_eq!(written.replace(" or ", ", ").split(", ").count(), Format::ALL.len(), "{written}");
        let beginnings = Format::beginnings();
        assert!(beginnings.starts_with("ILDG and SciDAC files begin with the bytes 45"), "{beginnings}");
        for format in Format::READ {
            assert!(beginnings.contains(format.title()), "{beginnings}");
        }
    }

    /// Some format has each feature, and the message about the others names those that have it.
    #[test]
    fn what_a_format_lacks_is_said_with_the_formats_that_have_it() {
        use Format::{Ildg, Milc, Nersc, OpenQcd, SciDac};
        let precision = |precision| WriteOptions { precision: Some(precision), ..Default::default() };
        let order = |order| WriteOptions { byte_order: Some(order), ..Default::default() };
        let asking: [(WriteOptions, &[Format], &[Format]); 6] = [
            (precision(Precision::Single), &[Ildg, Milc], &[OpenQcd]),
            (precision(Precision::Double), &[Ildg, OpenQcd], &[Milc]),
            (order(ByteOrder::Big), &[Ildg, Milc, Nersc], &[OpenQcd]),
            (order(ByteOrder::Little), &[Nersc, Milc, OpenQcd], &[Ildg]),
            (WriteOptions { rows: Rows::Two, ..Default::default() }, &[Nersc], &[Ildg, Milc]),
            (WriteOptions { lfn: Some("lfn://a".into()), ..Default::default() }, &[Ildg], &[Nersc, SciDac]),
        ];
        for (options, having, lacking) in asking {
            let problem = |format| WriteOptions { format, ..options.clone() }.check().err();
            assert!(having.iter().all(|&format| problem(format).is_none()), "{having:?}");
            assert!(lacking.iter().all(|&format| problem(format).is_some()), "{lacking:?}");
            let names = Format::ALL.into_iter().filter(|&format| problem(format).is_none()).map(Format::name);
            let advice = format!(", or choose {}", sentence(&names.collect::<Vec<_>>(), "or"));
            for problem in Format::ALL.into_iter().filter_map(problem) {
                assert!(problem.to_string().ends_with(&advice), "{problem}");
            }
        }
    }

    /// The table of `docs/conventions.md` has a row for each format.
    ///
    /// The row must agree with the description of the format.
    #[test]
    fn the_table_in_the_documents_is_that_of_the_registry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/conventions.md");
        let text = std::fs::read_to_string(path).unwrap();
        let rows = Format::READ.map(|format| {
            let written = if format.writer().is_some() { "yes" } else { "–" };
            format!("| {} | {} | {written} |\n", format.title(), format.description())
        });
        let table = rows.concat();
        assert!(text.contains(&table), "docs/conventions.md should have these rows:\n{table}");
    }
}
