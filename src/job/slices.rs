//! Dilution of a job's sources in time and in interlaced sites.

use super::invalid::Invalid;
use crate::hadron::{NoiseSource, Source};
use std::fmt;
use std::str::FromStr;

/// Time slices at equal distances. Text `FIRST-LAST` or `FIRST-LAST/STRIDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    first: usize,
    last: usize,
    stride: usize,
}

/// Most slices, and most parts of sites, that one entry makes.
const MOST: usize = 1024;

impl Slices {
    /// Returns the slices.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (self.first..=self.last).step_by(self.stride)
    }
}

impl FromStr for Slices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (range, stride) = text.split_once('/').unwrap_or((text, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<usize>().ok();
        match (number(first), number(last), number(stride)) {
            (Some(first), Some(last), Some(stride)) if first <= last && last < MOST && stride > 0 => {
                Ok(Self { first, last, stride })
            }
            _ => Err(format!(
                "`{text}` are no time slices; write FIRST-LAST or FIRST-LAST/STRIDE with slices below {MOST}, for example 0-15/4"
            )),
        }
    }
}

impl fmt::Display for Slices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)?;
        if self.stride == 1 { Ok(()) } else { write!(f, "/{}", self.stride) }
    }
}

/// Returns the sources of an entry with their labels: one, or one for each slice and part.
///
/// # Errors
/// If the kind of source has no such parts, or names one itself.
pub(super) fn expanded(
    table: &str,
    source: &Source,
    label: Option<&str>,
    slices: Option<Slices>,
    parts: Option<u64>,
) -> Result<Vec<(Source, String)>, Invalid> {
    let labelled = |source: Source, part: &str| {
        let label = label.map_or_else(|| source.label(), |label| format!("{label}{part}"));
        (source, label)
    };
    let fault = |name: &str, of| {
        let (key, source_text) = (format!("{table}.{name}"), source.to_string());
        Err(Invalid::KeyOfOtherSource { key, source_text, of })
    };
    let parts = match parts {
        Some(parts) if !(1..=MOST as u64).contains(&parts) => {
            return fault("parts", "noise, and 1 to 1024 parts,");
        }
        parts => parts.map(|parts| parts as usize),
    };
    let all_slices: Vec<Option<usize>> =
        slices.map_or_else(|| vec![None], |slices| slices.iter().map(Some).collect());
    match source {
        Source::Noise(noise) => {
            if noise.slice.is_some() && slices.is_some() {
                return fault("slices", "noise without t and walls");
            }
            if noise.part != (0, 1) && parts.is_some() {
                return fault("parts", "noise without part");
            }
            let of = |slice: Option<usize>, part: (usize, usize)| {
                let source = NoiseSource { slice: slice.or(noise.slice), part, ..*noise };
                let of_slice = slice.map_or_else(String::new, |slice| format!(" t={slice}"));
                let of_part = parts.map_or_else(String::new, |_| format!(" part={}/{}", part.0, part.1));
                labelled(Source::Noise(source), &(of_slice + &of_part))
            };
            let all_parts: Vec<(usize, usize)> = parts
                .map_or_else(|| vec![noise.part], |parts| (0..parts).map(|part| (part, parts)).collect());
            Ok(all_slices
                .iter()
                .flat_map(|&slice| all_parts.iter().map(move |&part| (slice, part)))
                .map(|(slice, part)| of(slice, part))
                .collect())
        }
        _ if parts.is_some() => fault("parts", "noise sources"),
        Source::Wall { slice, momentum } => {
            let (slice, momentum) = (*slice, *momentum);
            let wall = |other: Option<usize>| {
                let of_slice = other.map_or_else(String::new, |slice| format!(" t={slice}"));
                labelled(Source::Wall { slice: other.unwrap_or(slice), momentum }, &of_slice)
            };
            Ok(all_slices.into_iter().map(wall).collect())
        }
        _ if slices.is_some() => fault("slices", "noise and walls"),
        _ => Ok(vec![labelled(source.clone(), "")]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        source: &str,
        label: Option<&str>,
        slices: &str,
        parts: Option<u64>,
    ) -> Result<Vec<String>, String> {
        let slices = (!slices.is_empty()).then(|| slices.parse()).transpose()?;
        let all = expanded("source[1]", &source.parse()?, label, slices, parts);
        let all = all.map_err(|fault| format!("{:?}: {fault}", fault.key()))?;
        Ok(all.into_iter().map(|(source, label)| format!("{source} {label}")).collect())
    }

    #[test]
    fn an_entry_is_diluted_in_time_and_parity() {
        let expected = [
            "z4:1,0,t=0,part=0/2 noise t=0 part=0/2",
            "z4:1,0,t=0,part=1/2 noise t=0 part=1/2",
            "z4:1,0,t=3,part=0/2 noise t=3 part=0/2",
            "z4:1,0,t=3,part=1/2 noise t=3 part=1/2",
        ];
        assert_eq!(of("z4:1,0", Some("noise"), "0-5/3", Some(2)).unwrap(), expected);
        let walls = ["wall:1,1,0,0 wall 1.1.0.0", "wall:2,1,0,0 wall 2.1.0.0"];
        assert_eq!(of("wall:0,1,0,0", None, "1-2", None).unwrap(), walls);
        assert_eq!(of("point:0,0,0,0", Some("here"), "", None).unwrap(), ["point:0,0,0,0 here"]);
        for (source, slices, parts, wanted) in [
            ("point:0,0,0,0", "0-1", None, "noise and walls"),
            ("wall:0", "", Some(2), "noise sources"),
            ("z4:1,0", "", Some(0), "1 to 1024 parts"),
            ("z2:1,1,t=1", "0-1", None, "without t"),
            ("z2:1,1,part=0/2", "", Some(2), "without part"),
        ] {
            let error = of(source, None, slices, parts).unwrap_err();
            assert!(error.contains("source[1].") && error.contains(wanted), "{error}");
        }
        for bad in ["", "3-1", "0-4/0", "a-b", "0-1024"] {
            assert!(bad.parse::<Slices>().unwrap_err().contains("FIRST-LAST"), "{bad}");
        }
    }
}
