//! `[sources]` and `[[source]]`: the sources.

use super::action::first_repeated;
use super::invalid::Invalid;
use super::text;
use crate::hadron::{Column, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[sources]`: a job with one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OneSource {
    /// The source: point:x,y,z,t.
    #[schemars(with = "String")]
    #[serde(with = "text")]
    pub source: Source,
    /// Of invert: spin of the source, 0 to 3.
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<u64>,
    /// Of invert: colour of the source, 0 to 2.
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u64>,
}

/// `[[source]]`: one of several sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceEntry {
    /// The source: point:x,y,z,t.
    #[schemars(with = "String")]
    #[serde(with = "text")]
    pub source: Source,
    /// By which results and messages call it. Default: such as `point 0.0.0.0`.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Of invert: spin of the source, 0 to 3.
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<u64>,
    /// Of invert: colour of the source, 0 to 2.
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u64>,
}

/// A source with its label, checked.
///
/// Spin and colour are for `invert`.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledSource {
    /// The place of the source.
    pub source: Source,
    /// The label of the source.
    pub label: String,
    /// The column of `invert`.
    pub column: Column,
}

/// Returns the sources of a job, with their labels.
///
/// A job has one source in `[sources]` or several in `[[source]]`. A job with neither has the point
/// source at the origin.
pub(super) fn labelled(
    one: Option<&OneSource>,
    several: &[SourceEntry],
) -> Result<Vec<LabelledSource>, Invalid> {
    if several.is_empty() {
        let OneSource { source, spin, colour } = one.cloned().unwrap_or_default();
        let column = column("sources", spin, colour)?;
        return Ok(vec![LabelledSource { source, label: source.label(), column }]);
    }
    if one.is_some() {
        return Err(Invalid::BothSources);
    }
    let labelled = several.iter().enumerate().map(|(k, entry)| {
        let SourceEntry { source, label, spin, colour } = entry.clone();
        let column = column(&format!("source[{k}]"), spin, colour)?;
        Ok::<_, Invalid>(LabelledSource { source, label: label.unwrap_or_else(|| source.label()), column })
    });
    let labelled = labelled.collect::<Result<Vec<_>, Invalid>>()?;
    let named: Vec<_> = labelled.iter().map(|source| (&source.label, source.column)).collect();
    if let Some((label, _)) = first_repeated(&named) {
        return Err(Invalid::LabelTwice((*label).clone()));
    }
    Ok(labelled)
}

fn column(table: &str, spin: Option<u64>, colour: Option<u64>) -> Result<Column, Invalid> {
    let checked = |name, value: Option<u64>, last| match value.unwrap_or(0) {
        value if value <= last => Ok(value as usize),
        value => Err(Invalid::Column { table: table.to_owned(), name, value, last }),
    };
    Ok(Column { spin: checked("spin", spin, 3)?, colour: checked("colour", colour, 2)? })
}
