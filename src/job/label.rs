//! The labels of solves.

use super::sources::LabelledSource;
use crate::hadron::Column;
use std::fmt;

/// The label of a solve in progress, results, messages and checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    text: String,
    file_name: String,
    propagator: usize,
    columns: Columns,
    /// Number of columns.
    count: usize,
}

/// The columns of a propagator that a solve is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A single column.
    One(Column),
    /// All at once, or as many as there is memory for.
    All,
}

impl Label {
    /// Makes the label of this column of the propagator of this number.
    ///
    /// `quark` tells its operator from others of the job.
    pub(super) fn new(quark: &str, source: &LabelledSource, column: Column, propagator: usize) -> Self {
        let number = if propagator == 0 { String::new() } else { format!("{propagator}.") };
        let text = format!("{quark}{}, {column}", source.label);
        let file_name = format!("{number}{}-{}", column.spin, column.colour);
        Self { text, file_name, propagator, columns: Columns::One(column), count: 1 }
    }

    /// Returns the label of `count` columns that are solved at once.
    ///
    /// The columns belong to one propagator, from this one on.
    pub(super) fn of_columns(&self, count: usize) -> Self {
        let end = self.column().to_string();
        let text = self.text.strip_suffix(&end).unwrap_or(&self.text).to_owned() + "all sources";
        Self { text, columns: Columns::All, count, ..self.clone() }
    }

    /// Returns the text: `point 0.0.0.0, spin 1, colour 2`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a part of the name of a file that belongs to the solve.
    ///
    /// The part is `1-2`, or `1.1-2` for the second propagator of a job.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the number of the propagator, from 0.
    ///
    /// There is a propagator of each mass and flavour, for each source.
    pub fn propagator(&self) -> usize {
        self.propagator
    }

    /// Returns the columns that the solve is for.
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// Returns the number of columns that the solve is for.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the solve's column; the first of all twelve.
    pub fn column(&self) -> Column {
        match self.columns {
            Columns::One(column) => column,
            Columns::All => Column { spin: 0, colour: 0 },
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
