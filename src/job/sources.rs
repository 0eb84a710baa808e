//! `[sources]`, `[[source]]` and `[[smearing]]`: the sources.

use super::action::first_repeated;
use super::invalid::Invalid;
use super::momenta::check_momenta;
use super::one_or_more::OneOrMore;
use super::quarks::numbers_of;
use super::slices::{Slices, expanded};
use crate::hadron::{Column, LinkSmearing, Source, SpinorSmearing};
use crate::io::text;
use derive_setters::Setters;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `[sources]` of a job with one source, or an entry of `[[source]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(transform = allow_kind)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SourceEntry {
    /// The source: point:x,y,z,t, or one of the kinds below. The key kind is the same.
    ///
    /// The other kinds are wall:T, wall:T,NX,NY,NZ, volume, z4:SEED,HIT, exponential:x,y,z,t,A,P and file:PATH.
    /// In `[[source]]` sequential:HADRON,T goes on from a hadron's sink (spectrum only).
    #[schemars(with = "String")]
    #[serde(with = "text", alias = "kind")]
    pub source: Source,
    /// Name of the source in results. Default: kind and place, `point 0.0.0.0`.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The name of a `[[smearing]]`, instead of the three keys below.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smearing: Option<String>,
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
    /// Make a source of each of these time slices: FIRST-LAST or FIRST-LAST/STRIDE (noise and walls only).
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
    /// Make sources of the sites with x + y + z + t = 0, 1, … modulo this number; 2 for even and odd (noise only).
    #[schemars(with = "u32")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Label of the source that a sequential source goes on from. Default: the only one.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Labels of the quarks at a sequential source's sink: all, or one for all. Default: those that fit the quark.
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarks: Option<OneOrMore<String>>,
    /// Momenta q = 2πn/L of a sequential source's currents with n² up to this number. Default: 0.
    #[schemars(with = "u32")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_momenta: Option<u64>,
    /// Spin of the source, 0 to 3 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<u64>,
    /// Colour of the source, 0 to 2 (invert only).
    #[schemars(with = "u8")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u64>,
}

/// Adds the key `kind` to the schema, which serde reads as `source`.
fn allow_kind(schema: &mut Schema) {
    let Some(keys) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    if let Some(source) = keys.get("source").cloned() {
        keys.insert("kind".to_owned(), source);
    }
}

/// `[[smearing]]`: a smearing that several sources may have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SmearingEntry {
    /// The name that sources call it by.
    pub name: String,
    /// Smear sources in space: gaussian:W,N or wuppertal:ALPHA,N.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub source: Option<SpinorSmearing>,
    /// Smear solutions before contraction (spectrum only).
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub sink: Option<SpinorSmearing>,
    /// Smear the links of both: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N.
    ///
    /// Default: the links of the file.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSmearing>,
}

/// The smearing of a source and its solutions.
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

    /// Checks the parameters, which `keys` of source, sink and links have.
    ///
    /// Values that were read from text are in their ranges. Values from a program may be out of range.
    fn check(&self, keys: [String; 3]) -> Result<(), Invalid> {
        let [source, sink, links] = keys;
        for (key, smearing) in [(source, self.source), (sink, self.sink)] {
            if let Some(Err(problem)) = smearing.map(SpinorSmearing::check) {
                return Err(Invalid::SpinorSmearing { key, problem });
            }
        }
        match self.links.map(|LinkSmearing(params)| params.check()) {
            Some(Err(problem)) => Err(Invalid::LinkSmearing { key: links, problem: problem.to_string() }),
            Some(Ok(())) if !self.has_links() => Err(Invalid::NothingToSmear(links)),
            _ => Ok(()),
        }
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
    /// What a sequential source goes on from.
    pub(super) sequential: Option<SequentialKeys>,
}

/// What a sequential source goes on from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SequentialKeys {
    /// The table, such as `source[1]`.
    table: String,
    /// The number of the source of its hadron.
    pub from: usize,
    /// The labels of the hadron's quarks.
    pub quarks: Option<OneOrMore<String>>,
    /// n² of the momenta of the currents.
    pub momenta: Option<u64>,
}

impl SequentialKeys {
    /// Returns the key of this name.
    pub fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.table)
    }
}

/// Returns the sources of a job, with their labels and smearings.
///
/// A job has one source in `[sources]` or several in `[[source]]`. A job with neither has the point
/// source at the origin.
pub(super) fn labelled(
    one: Option<&SourceEntry>,
    several: &[SourceEntry],
    smearings: &[SmearingEntry],
) -> Result<Vec<LabelledSource>, Invalid> {
    if one.is_some() && !several.is_empty() {
        return Err(Invalid::BothSources);
    }
    let named = named_smearings(smearings)?;
    let default = SourceEntry::default();
    let entries: Vec<(String, &SourceEntry)> = match several {
        [] => vec![("sources".to_owned(), one.unwrap_or(&default))],
        _ => several.iter().enumerate().map(|(k, entry)| (format!("source[{k}]"), entry)).collect(),
    };
    let (mut labelled, mut tables) = (Vec::new(), Vec::new());
    for (table, entry) in &entries {
        let SourceEntry { source, label, slices, parts, .. } = *entry;
        for (source, label) in expanded(table, source, label.as_deref(), *slices, *parts)? {
            labelled.push(LabelledSource {
                source,
                smearing: smearing_of(table, entry, &named)?,
                label,
                column: column(table, entry.spin, entry.colour)?,
                sequential: None,
            });
            tables.push((table, *entry));
        }
    }
    go_on(&mut labelled, &tables)?;
    let names: Vec<_> = labelled.iter().map(|source| (&source.label, source.column)).collect();
    if let Some((label, _)) = first_repeated(&names) {
        return Err(Invalid::LabelTwice((*label).clone()));
    }
    Ok(labelled)
}

/// Looks up the sources that sequential sources go on from.
fn go_on(labelled: &mut [LabelledSource], tables: &[(&String, &SourceEntry)]) -> Result<(), Invalid> {
    let is_sequential = |one: &LabelledSource| matches!(one.source, Source::Sequential(_));
    let labels: Vec<String> = labelled.iter().map(|one| one.label.clone()).collect();
    let plain: Vec<usize> = (0..labelled.len()).filter(|&k| !is_sequential(&labelled[k])).collect();
    for (one, &(table, entry)) in labelled.iter_mut().zip(tables) {
        let SourceEntry { from, quarks, current_momenta: momenta, .. } = entry;
        let key = |name: &str| format!("{table}.{name}");
        let fault = |name: &str, problem: &str| {
            Err(Invalid::Sequential { key: key(name), problem: problem.to_owned() })
        };
        if !is_sequential(one) {
            let given = [
                ("from", from.is_some()),
                ("quarks", quarks.is_some()),
                ("current-momenta", momenta.is_some()),
            ];
            if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                let (source_text, of) = (one.source.to_string(), "sequential sources");
                return Err(Invalid::KeyOfOtherSource { key: key(name), source_text, of });
            }
            continue;
        }
        if one.smearing != SourceSmearing::default() {
            return fault(
                "source",
                "a sequential source is smeared like the sink of the source that it goes on from; give smear-sink there",
            );
        }
        if let Err(problem) = check_momenta(*momenta) {
            return fault("current-momenta", &problem.to_string());
        }
        let wanted = from.clone().map(OneOrMore::One);
        let from = match (wanted, &plain[..]) {
            (None, &[only]) => only,
            (None, _) => {
                return fault(
                    "source",
                    "a sequential source goes on from another source of the job; name that one as from, in [[source]]",
                );
            }
            (wanted, _) => numbers_of(wanted.as_ref(), &labels, &key("from"), "[[source]]")?[0],
        };
        if !plain.contains(&from) {
            return fault("from", "a sequential source goes on from a source that is not sequential");
        }
        let (quarks, momenta) = (quarks.clone(), *momenta);
        one.sequential = Some(SequentialKeys { table: table.clone(), from, quarks, momenta });
    }
    Ok(())
}

/// Returns the entries of `[[smearing]]` by name, checked.
fn named_smearings(entries: &[SmearingEntry]) -> Result<Vec<(&str, SourceSmearing)>, Invalid> {
    let mut named: Vec<(&str, SourceSmearing)> = Vec::new();
    for (k, SmearingEntry { name, source, sink, links }) in entries.iter().enumerate() {
        let key = |key| format!("smearing[{k}].{key}");
        if name.is_empty() || named.iter().any(|(other, _)| other == name) {
            return Err(Invalid::SmearingName { key: key("name"), name: name.clone() });
        }
        let smearing = SourceSmearing { source: *source, sink: *sink, links: *links };
        smearing.check(["source", "sink", "links"].map(key))?;
        named.push((name, smearing));
    }
    Ok(named)
}

/// Returns the smearing of a source: that of its keys, or the one that it names.
fn smearing_of(
    table: &str,
    entry: &SourceEntry,
    named: &[(&str, SourceSmearing)],
) -> Result<SourceSmearing, Invalid> {
    let SourceEntry { smearing: name, smear_source, smear_sink, smear_links, .. } = entry;
    let own = SourceSmearing { source: *smear_source, sink: *smear_sink, links: *smear_links };
    let key = || format!("{table}.smearing");
    let Some(name) = name else {
        own.check(["source", "sink", "links"].map(|part| format!("{table}.smear-{part}")))?;
        return Ok(own);
    };
    if own != SourceSmearing::default() {
        return Err(Invalid::BothSmearings(key()));
    }
    let found = named.iter().find(|(other, _)| other == name).map(|(_, smearing)| *smearing);
    found.ok_or_else(|| Invalid::NoSuch {
        key: key(),
        name: name.as_str().into(),
        what: "[[smearing]]",
        names: named.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ").into(),
    })
}

fn column(table: &str, spin: Option<u64>, colour: Option<u64>) -> Result<Column, Invalid> {
    let checked = |name, value: Option<u64>, last| match value.unwrap_or(0) {
        value if value <= last => Ok(value as usize),
        value => Err(Invalid::Column { table: table.to_owned(), name, value, last }),
    };
    Ok(Column { spin: checked("spin", spin, 3)?, colour: checked("colour", colour, 2)? })
}
