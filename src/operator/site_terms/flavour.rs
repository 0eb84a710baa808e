//! The flavours of twisted-mass quarks.

use crate::io::text::{self, words_of};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The flavour of quarks with a twisted mass, τ₃ = ±1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// τ₃ = +1: the operator has +μ.
    #[default]
    Up,
    /// τ₃ = −1: the operator has −μ.
    Down,
    /// First up, then down: two operators of one job.
    Both,
}

lattice_files::words! { Flavour, "flavour": Up = "up"; Down = "down"; Both = "both" }

impl Flavour {
    /// Returns the single flavours that this choice stands for, in order.
    pub fn each(self) -> &'static [Self] {
        match self {
            Self::Up => &[Self::Up],
            Self::Down => &[Self::Down],
            Self::Both => &[Self::Up, Self::Down],
        }
    }
}

impl Serialize for Flavour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Flavour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer)
    }
}

impl JsonSchema for Flavour {
    fn schema_name() -> Cow<'static, str> {
        "Flavour".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        words_of::<Self>(generator)
    }
}
