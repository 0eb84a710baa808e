//! What may be varied in a transform of lines: the whole plan of a line in local memory.

use super::cut::Cut;
use super::factors::{RADICES, factorisations, factors, fast_length, primitive_root};
use super::lines::{Lines, Mode};
use lattice_compute::scalar::{Precision, Real};
use lattice_compute::tuning::{self, Key};
use lattice_compute::{Device, DeviceKind};
use lattice_files::text::tuple;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Elements that a group of a GPU has at least, unless another number was found faster.
const ELEMENTS: u32 = 2048;

/// Most work-items of a group.
const MOST_ITEMS: u32 = 256;

/// Most passes: an argument of the kernels has four bits for each.
const MOST_PASSES: usize = 16;

/// Most sequences of passes that are tried for one length.
const MOST_SEQUENCES: usize = 24;

/// Most lengths of a convolution that are tried.
const MOST_LENGTHS: usize = 6;

/// How the transform of a line becomes passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FftAlgorithm {
    /// The radices make the length.
    Direct = 0,
    /// A cyclic convolution of any sufficient length (Bluestein 1970).
    Bluestein = 1,
    /// A cyclic convolution of a prime less one (Rader 1968).
    Rader = 2,
}

/// The variant of a transform of lines that fit local memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FftTuning {
    /// What the passes compute.
    pub way: FftAlgorithm,
    /// The radices of the passes. Their product is the length of a line or of its convolution.
    pub radices: Vec<usize>,
    /// Elements that a group has at least, in programs of one length.
    pub elements: u32,
    /// Most work-items of a group, in programs of one length.
    pub items: u32,
}

impl FftTuning {
    fn new(way: FftAlgorithm, radices: Vec<usize>) -> Self {
        Self { way, radices, elements: ELEMENTS, items: MOST_ITEMS }
    }

    /// Returns the variant that is used untuned; `None` if lines of `n` elements do not fit.
    pub(super) fn shipped(n: usize, longest: usize) -> Option<Self> {
        let of = |way, m: usize| {
            let radices = factors(m).filter(|_| n.max(m) <= longest)?.radices;
            Some(Self::new(way, radices))
        };
        if factors(n).is_some() {
            return of(FftAlgorithm::Direct, n);
        }
        // Rader's convolution is half as long. It serves primes one above a smooth number.
        if primitive_root(n).is_some()
            && let Some(rader) = of(FftAlgorithm::Rader, n - 1)
        {
            return Some(rader);
        }
        of(FftAlgorithm::Bluestein, fast_length(2 * n - 1))
    }

    /// Returns the variant for these lines on a device, kept or shipped.
    ///
    /// Nothing is searched for on first use: each variant has programs to compile.
    pub(super) fn chosen<T: Real>(device: &Device, cut: Cut, lines: &Lines) -> Option<Self> {
        let (n, longest) = (lines.length, cut.longest(size_of::<T>()));
        let shipped = Self::shipped(n, longest)?;
        let complaint = |variant: &Self| variant.complaint(n, longest, cut);
        Some(tuning::known(device, &key::<T>(device, lines), complaint, || shipped))
    }

    /// Returns the length of the transforms that the passes make.
    pub(super) fn length(&self) -> usize {
        self.radices.iter().product()
    }

    /// Returns why a device cannot transform lines of `n` elements like this.
    pub(super) fn complaint(&self, n: usize, longest: usize, cut: Cut) -> Option<String> {
        let Self { way, radices, elements, items } = self;
        let known = |radix: &usize| RADICES.iter().any(|(known, _)| known == radix);
        if radices.len() > MOST_PASSES || !radices.iter().all(known) {
            return Some(format!("the radices {} have no kernels", tuple(radices)));
        }
        let m = self.length();
        let fits = match way {
            FftAlgorithm::Direct => m == n,
            FftAlgorithm::Rader => m + 1 == n && primitive_root(n).is_some(),
            FftAlgorithm::Bluestein => m + 1 >= 2 * n,
        };
        if !fits || n.max(m) > longest {
            return Some(format!("passes of length {m} do not serve lines of {n}, or not in local memory"));
        }
        if !(64..=1 << 16).contains(elements) || *items < 32 || *items > 1024 || !items.is_multiple_of(32) {
            return Some(format!("groups of {elements} elements and {items} items are not possible"));
        }
        (cut.lanes == 1 && *items as usize > cut.local.max(32)).then(|| format!("{items} items are too many"))
    }

    /// Returns this variant with other passes, and with other ways.
    pub(super) fn with_other_passes(&self, n: usize, longest: usize) -> Vec<Self> {
        let mut lengths = vec![(FftAlgorithm::Direct, n)];
        if factors(n).is_none() {
            lengths = vec![(FftAlgorithm::Rader, n - 1)];
            let least = 2 * n - 1;
            let mut convolutions: Vec<(f64, usize)> = (least..=least.next_power_of_two())
                .filter_map(|m| factors(m).map(|found| (m as f64 * (found.cost + 1.0), m)))
                .collect();
            convolutions.sort_by(|a, b| a.0.total_cmp(&b.0));
            lengths.extend(
                convolutions.into_iter().take(MOST_LENGTHS).map(|(_, m)| (FftAlgorithm::Bluestein, m)),
            );
        }
        let is_possible = |(way, m): &(FftAlgorithm, usize)| {
            n.max(*m) <= longest && (*way != FftAlgorithm::Rader || primitive_root(n).is_some())
        };
        let several = lengths.len() > 1;
        let with = |(way, m): (FftAlgorithm, usize)| {
            let most = if several { MOST_SEQUENCES / 4 } else { MOST_SEQUENCES };
            let sequences = factorisations(m).into_iter().take(most);
            sequences.map(move |radices| Self { way, radices, ..self.clone() })
        };
        lengths.into_iter().filter(is_possible).flat_map(with).collect()
    }

    /// Returns this variant with other groups.
    pub(super) fn with_other_groups(&self, cut: Cut) -> Vec<Self> {
        if cut.lanes > 1 {
            return Vec::new();
        }
        let items = [64, 128, 256, 512].into_iter().filter(|&items| items as usize <= cut.local);
        let all = items.flat_map(|items| [512, 1024, 2048, 4096, 8192].map(|elements| (items, elements)));
        all.map(|(items, elements)| Self { items, elements, ..self.clone() }).collect()
    }
}

impl fmt::Display for FftTuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, radices, elements, items } = self;
        let radices = radices.iter().map(usize::to_string).collect::<Vec<_>>().join("·");
        let way = match way {
            FftAlgorithm::Direct => "",
            FftAlgorithm::Bluestein => "bluestein ",
            FftAlgorithm::Rader => "rader ",
        };
        write!(f, "{way}{radices}, groups of {elements} elements, {items} items")
    }
}

/// Returns what the fastest variant of a transform of lines depends on.
pub(super) fn key<T: Real>(device: &Device, lines: &Lines) -> Key {
    let element = match T::PRECISION {
        Precision::Single => "c",
        Precision::Double => "z",
    };
    let kind = match (lines.from.mode, lines.to.mode) {
        (Mode::Complex, Mode::Complex) => "c2c",
        (Mode::Real, _) => "r2c",
        _ => "c2r",
    };
    // Processors take lines side by side as vectors, wherever they lie.
    let is_row = lines.from.stride == 1 || device.info().kind == DeviceKind::Cpu;
    Key::new("fft", format!("n={}", lines.length))
        .option("element", element)
        .option("kind", kind)
        .option("lines", if is_row { "rows" } else { "columns" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Cut = Cut { lanes: 1, local: 256, local_bytes: 49152 };

    #[test]
    fn every_variant_that_is_tried_can_run() {
        for n in [1, 2, 60, 128, 251, 263, 1009, 1021] {
            let longest = CUT.longest(4);
            let shipped = FftTuning::shipped(n, longest).unwrap();
            assert_eq!(shipped.complaint(n, longest, CUT), None);
            let passes = shipped.with_other_passes(n, longest);
            assert!(n == 1 || passes.contains(&shipped), "{n}: {passes:?}");
            for variant in passes.iter().chain(&shipped.with_other_groups(CUT)) {
                assert_eq!(variant.complaint(n, longest, CUT), None, "{n}");
            }
        }
        assert_eq!(FftTuning::shipped(251, 1000).unwrap().way, FftAlgorithm::Rader);
        assert_eq!(FftTuning::shipped(263, 1000).unwrap().way, FftAlgorithm::Bluestein);
        assert_eq!(FftTuning::shipped(1 << 12, 1000), None);
        let text = FftTuning::shipped(251, 1000).unwrap().to_string();
        assert!(text.starts_with("rader ") && text.ends_with("groups of 2048 elements, 256 items"), "{text}");
    }

    #[test]
    fn edited_variants_are_refused() {
        let shipped = FftTuning::shipped(60, 1000).unwrap();
        let refused = |variant: FftTuning| assert!(variant.complaint(60, 1000, CUT).is_some(), "{variant}");
        refused(FftTuning { radices: vec![4, 14], ..shipped.clone() });
        refused(FftTuning { radices: vec![4, 16], ..shipped.clone() });
        refused(FftTuning { radices: vec![2; 17], ..shipped.clone() });
        refused(FftTuning { way: FftAlgorithm::Rader, ..shipped.clone() });
        refused(FftTuning { items: 48, ..shipped.clone() });
        refused(FftTuning { items: 512, ..shipped.clone() });
        refused(FftTuning { elements: 0, ..shipped });
    }
}
