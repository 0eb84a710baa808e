//! `[configuration]`: the links.

use crate::geometry::Dims;
use crate::host::Reconstruction;
use crate::io::text::{self, words_of};
use crate::io::{Format, ReadOptions, SignsInLinks};
use derive_setters::Setters;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;

/// The gauge configuration: its file, the checks, and the storage of links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Configuration {
    /// The file. The content of the file tells its format.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The format of the file, for one that does not tell it.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub input_format: Option<Format>,
    /// Extents in x, y, z, t, for a file that does not tell them: 8x8x8x16.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub dims: Option<Dims>,
    /// Take a file whose checksum, plaquette or link trace is not that of its links.
    pub ignore_checksum: bool,
    /// Take links that are far from SU(3).
    pub ignore_unitarity: bool,
    /// Treatment of a boundary sign in a file's links: refuse, remove or keep.
    #[schemars(schema_with = "words_of::<SignsInLinks>")]
    #[serde(with = "text")]
    pub signs_in_links: SignsInLinks,
    /// Reals stored for each link: 18, or 12 or 8 if all links are in SU(3).
    #[schemars(schema_with = "reals")]
    #[serde(serialize_with = "write_reals", deserialize_with = "read_reals")]
    pub links: Reconstruction,
}

impl Configuration {
    /// Returns the configuration of a file, with all checks.
    pub fn file(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(file.into()), ..Self::default() }
    }

    /// Returns the options of reading the file.
    pub fn read_options(&self) -> ReadOptions<'static> {
        ReadOptions {
            format: self.input_format,
            dims: self.dims,
            ignore_checksum: self.ignore_checksum,
            ignore_unitarity: self.ignore_unitarity,
            signs_in_links: self.signs_in_links,
            ..ReadOptions::default()
        }
    }
}

fn reals(_: &mut SchemaGenerator) -> Schema {
    let all = Reconstruction::ALL.map(Reconstruction::reals);
    json_schema!({ "type": "integer", "enum": all })
}

fn write_reals<S: Serializer>(links: &Reconstruction, serializer: S) -> Result<S::Ok, S::Error> {
    links.reals().serialize(serializer)
}

fn read_reals<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reconstruction, D::Error> {
    let reals = u64::deserialize(deserializer)?;
    text::parse(&reals.to_string())
}
