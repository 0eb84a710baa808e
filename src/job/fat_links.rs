//! Smeared links of the operator.

use crate::gauge::{Directions, SmearParams, smear_text};
use std::fmt;
use std::str::FromStr;

/// The smearing of the operator's links, for hops and clover term alike.
///
/// Text `ape:ALPHA,N`, `stout:RHO,N` or `hyp:A1,A2,A3,N`. Directions may follow: `stout:0.1,3,xyz`.
/// Without them all links are smeared, with staples in all planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatLinks(pub SmearParams);

impl FromStr for FatLinks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        smear_text::parse(text, Directions::ALL).map(Self)
    }
}

impl fmt::Display for FatLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        smear_text::write(f, &self.0, Directions::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_all_directions_are_smeared_unless_some_are_named() {
        for (text, directions) in [
            ("stout:0.1,3", Directions::ALL),
            ("hyp:0.75,0.6,0.3,1", Directions::ALL),
            ("ape:0.5,2,xyz", Directions::SPACE),
        ] {
            let FatLinks(params) = text.parse().unwrap();
            assert_eq!(params.directions, directions, "{text}");
            assert_eq!(FatLinks(params).to_string(), text);
        }
        assert!("stout:0.1".parse::<FatLinks>().unwrap_err().contains("stout:RHO,N"));
    }
}
