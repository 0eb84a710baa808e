//! `[sources]` and `[[source]]`: the sources.

use super::action::first_repeated;
use super::invalid::Invalid;
use super::text;
use crate::hadron::{Column, LinkSmearing, Source, SpinorSmearing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[sources]`: a job with one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OneSource {
    /// The source: point:x,y,z,t, or one of the kinds below.
    ///
    /// The other kinds are wall:T, wall:T,NX,NY,NZ, volume, z4:SEED,HIT, exponential:x,y,z,t,A,P and file:PATH.
    #[schemars(with = "String")]
    #[serde(with = "text")]
    pub source: Source,
    /// Smear the source in space: gaussian:W,N or wuppertal:ALPHA,N.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_source: Option<SpinorSmearing>,
    /// Smear solutions before contraction, like smear-source (spectrum only).
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_sink: Option<SpinorSmearing>,
    /// Smear the links of both smearings: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N.
    ///
    /// Default: the links of the file.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_links: Option<LinkSmearing>,
    /// Spin of the source, 0 to 3 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<u64>,
    /// Colour of the source, 0 to 2 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u64>,
}

/// `[[source]]`: one of several sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceEntry {
    /// The source: point:x,y,z,t, or one of the kinds below.
    ///
    /// The other kinds are wall:T, wall:T,NX,NY,NZ, volume, z4:SEED,HIT, exponential:x,y,z,t,A,P and file:PATH.
    #[schemars(with = "String")]
    #[serde(with = "text")]
    pub source: Source,
    /// Name of the source in results. Default: kind and place, `point 0.0.0.0`.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Smear the source in space: gaussian:W,N or wuppertal:ALPHA,N.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_source: Option<SpinorSmearing>,
    /// Smear solutions before contraction, like smear-source (spectrum only).
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_sink: Option<SpinorSmearing>,
    /// Smear the links of both smearings: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N.
    ///
    /// Default: the links of the file.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_links: Option<LinkSmearing>,
    /// Spin of the source, 0 to 3 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<u64>,
    /// Colour of the source, 0 to 2 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u64>,
}

/// How a source and the solutions for it are smeared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceSmearing {
    /// The smearing of the source.
    pub source: Option<SpinorSmearing>,
    /// The smearing of solutions before they are contracted.
    pub sink: Option<SpinorSmearing>,
    /// The smearing of the links; `None` for the links of the configuration.
    pub links: Option<LinkSmearing>,
}

impl SourceSmearing {
    /// Returns `true` if the source or the sink is smeared and needs links.
    pub fn has_links(&self) -> bool {
        self.source.is_some() || self.sink.is_some()
    }
}

/// A source with its label, checked.
///
/// Spin and colour are for `invert`.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledSource {
    /// The place of the source.
    pub source: Source,
    /// The smearing of the source, the sink and their links.
    pub smearing: SourceSmearing,
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
        let OneSource { source, smear_source, smear_sink, smear_links, spin, colour } =
            one.cloned().unwrap_or_default();
        let smearing = smearing("sources", [smear_source, smear_sink], smear_links)?;
        let column = column("sources", spin, colour)?;
        return Ok(vec![LabelledSource { label: source.label(), source, smearing, column }]);
    }
    if one.is_some() {
        return Err(Invalid::BothSources);
    }
    let labelled = several.iter().enumerate().map(|(k, entry)| {
        let SourceEntry { source, label, smear_source, smear_sink, smear_links, spin, colour } =
            entry.clone();
        let table = format!("source[{k}]");
        let smearing = smearing(&table, [smear_source, smear_sink], smear_links)?;
        let column = column(&table, spin, colour)?;
        let label = label.unwrap_or_else(|| source.label());
        Ok::<_, Invalid>(LabelledSource { source, smearing, label, column })
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

/// Checks the smearing of a table.
///
/// Values that were read from text are in their ranges. Values from a program may be out of range.
fn smearing(
    table: &str,
    [source, sink]: [Option<SpinorSmearing>; 2],
    links: Option<LinkSmearing>,
) -> Result<SourceSmearing, Invalid> {
    for (key, smearing) in [("smear-source", source), ("smear-sink", sink)] {
        if let Some(Err(problem)) = smearing.map(SpinorSmearing::check) {
            return Err(Invalid::SpinorSmearing { key: format!("{table}.{key}"), problem });
        }
    }
    let smearing = SourceSmearing { source, sink, links };
    let key = || format!("{table}.smear-links");
    match links.map(|LinkSmearing(params)| params.check()) {
        Some(Err(problem)) => Err(Invalid::LinkSmearing { key: key(), problem: problem.to_string() }),
        Some(Ok(())) if !smearing.has_links() => Err(Invalid::NothingToSmear(key())),
        _ => Ok(smearing),
    }
}
