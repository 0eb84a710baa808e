//! The words of options of `cr-solve md`.

use lattice_cli::numbers::finite;
use std::str::FromStr;

/// How pairs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    Cells,
    AllPairs,
}

lattice_files::words! {
    ListKind, "way to find pairs":
    Cells = "cells", "Lists of neighbours, made by cells"; AllPairs = "all-pairs"
}

/// `NAME=EPSILON,SIGMA`.
#[derive(Clone, Debug, PartialEq)]
pub struct LennardJones {
    pub name: String,
    pub parameters: [f64; 2],
}

/// `A-B=SECTION`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub names: [String; 2],
    pub section: String,
}

/// `NAME=MASS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    pub name: String,
    pub mass: f64,
}

/// `RMIN,RMAX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub [f64; 2]);

fn pair_of_numbers(text: &str) -> Option<[f64; 2]> {
    let (a, b) = text.split_once(',')?;
    Some([finite(a)?, finite(b)?])
}

impl FromStr for LennardJones {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.split_once('=').and_then(|(name, numbers)| Some((name, pair_of_numbers(numbers)?)));
        match found {
            Some((name, parameters)) if !name.is_empty() => Ok(Self { name: name.to_owned(), parameters }),
            _ => Err("write NAME=EPSILON,SIGMA, for example Ar=0.238,3.405".to_owned()),
        }
    }
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text
            .split_once('=')
            .and_then(|(names, section)| Some((names.split_once('-')?, section)))
            .filter(|((a, b), section)| ![a, b, section].iter().any(|word| word.is_empty()));
        match found {
            Some(((a, b), section)) => {
                Ok(Self { names: [a.to_owned(), b.to_owned()], section: section.to_owned() })
            }
            None => Err("write A-B=SECTION, for example Na-Cl=PAIR_12".to_owned()),
        }
    }
}

impl FromStr for Mass {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.split_once('=').and_then(|(name, mass)| Some((name, finite(mass)?)));
        match found {
            Some((name, mass)) if !name.is_empty() && mass > 0.0 => Ok(Self { name: name.to_owned(), mass }),
            _ => Err("write NAME=MASS with a positive mass, for example Ar=39.948".to_owned()),
        }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        pair_of_numbers(text).map(Self).ok_or_else(|| "write RMIN,RMAX, for example 2.5,9".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_others_refused() {
        let argon = LennardJones { name: "Ar".to_owned(), parameters: [0.238, 3.405] };
        assert_eq!("Ar=0.238,3.405".parse(), Ok(argon));
        let pair = Pair { names: ["Na".to_owned(), "Cl".to_owned()], section: "PAIR_12".to_owned() };
        assert_eq!("Na-Cl=PAIR_12".parse(), Ok(pair));
        for text in ["2.5,9", "0.25D+01,9d0", "2.5,.9+001", " 2.5 , 9 "] {
            assert_eq!(text.parse(), Ok(Range([2.5, 9.0])), "{text}");
        }
        assert_eq!("X=4".parse(), Ok(Mass { name: "X".to_owned(), mass: 4.0 }));
        for text in ["", "Ar", "Ar=1", "=1,2", "Ar=1;2"] {
            assert!(text.parse::<LennardJones>().is_err(), "{text}");
        }
        for text in ["NaCl=A", "Na-=A", "Na-Cl="] {
            assert!(text.parse::<Pair>().is_err(), "{text}");
        }
        assert!("X=-4".parse::<Mass>().is_err() && "2.5".parse::<Range>().is_err());
    }
}
