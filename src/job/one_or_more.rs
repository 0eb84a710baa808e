//! One value, or a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMore<T> {
    /// One value.
    One(T),
    /// Several values, in order.
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    /// Returns all values.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::More(values) => values,
        }
    }
}
