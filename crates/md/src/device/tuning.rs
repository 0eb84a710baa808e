//! What may be varied in pair forces on a device, and the search for the fastest variant.

use super::forces::OnDevice;
use super::places::PairPrecision;
use crate::error::{MdError, MdResult};
use crate::evaluation::SUMS;
use crate::host::Pairs;
use crate::options::{Fetch, List, Options, PairTuning, Precision};
use crate::potential::Potential;
use crate::table::{Interpolation, Spacing};
use lattice_compute::tuning::{self, Key, Step, Tunable, time_of_launch};
use lattice_compute::{Device, DeviceKind};
use std::marker::PhantomData;
use std::time::Duration;

/// Work-items of a group on GPUs, unless another number was found faster.
const GROUP: usize = 64;

/// Fewer atoms take no time that a search at first use could save.
const LEAST_ATOMS: usize = 256;

/// Forces that are timed for each making of lists.
const FORCES: usize = 10;

/// Pair forces as something to be tuned.
pub(crate) struct PairsToTune<'a, T> {
    device: &'a Device,
    pairs: &'a Pairs<'a>,
    options: Options,
    /// Whether a table may be read from images; `false` without a table.
    images: bool,
    number: PhantomData<T>,
}

impl<'a, T: PairPrecision> PairsToTune<'a, T> {
    /// Takes pairs and options as they come from a user.
    ///
    /// # Errors
    /// [`MdError::NoImages`] if images are asked for and the device has none for this table.
    pub fn new(device: &'a Device, pairs: &'a Pairs<'a>, options: &Options) -> MdResult<Self> {
        let images = match pairs.potential {
            Potential::Formula { .. } => false,
            Potential::Table { .. } if options.fetch == Fetch::Buffer => false,
            Potential::Table { table, .. } => {
                let (samples, rows) = (table.grid().samples, table.types() * table.types());
                let width = match table.interpolation() {
                    Interpolation::Linear => samples,
                    Interpolation::Cubic => 4 * (samples - 1),
                };
                let found = device.linear_images();
                let found = found.filter(|images| width <= images.max_width && rows <= images.max_height);
                match (options.fetch, found) {
                    (Fetch::Image, None) => return Err(MdError::NoImages(device.label().to_owned())),
                    (Fetch::Image, Some(_)) => true,
                    (_, None) | (Fetch::Buffer, _) => false,
                    // Samples of images are in single. Cubics read no filter.
                    (Fetch::Auto, Some(images)) => {
                        options.precision != Precision::Double
                            && (images.filter_error <= Fetch::LARGEST_ERROR
                                || table.interpolation() == Interpolation::Cubic)
                    }
                }
            }
        };
        Ok(Self { device, pairs, options: *options, images, number: PhantomData })
    }

    /// Prepares the variant of the options, or the one that is kept, shipped or found now.
    ///
    /// # Errors
    /// A failure of the device.
    pub fn prepared(&self) -> MdResult<OnDevice<T>> {
        let given = self.options.tuning.filter(|tuning| self.complaint(tuning).is_none());
        let tuning = given.unwrap_or_else(|| match self.pairs.types.len() {
            0..LEAST_ATOMS => {
                tuning::known(self.device, &self.key(), |variant| self.complaint(variant), || self.shipped())
            }
            _ => tuning::choose(self),
        });
        OnDevice::new(self.device, self.pairs, &self.options, tuning)
    }

    fn is_processor(&self) -> bool {
        self.device.info().kind == DeviceKind::Cpu
    }

    /// Returns the most work-items of a group: each has sums in local memory.
    fn largest_group(&self) -> usize {
        let info = self.device.info();
        let by_memory = info.local_memory_bytes as usize / (16 * SUMS);
        if self.is_processor() { 1 } else { info.max_work_group_size.min(by_memory).max(1) }
    }

    fn has_lists(&self) -> bool {
        self.options.skin().is_some()
    }
}

impl<T: PairPrecision> Tunable for PairsToTune<'_, T> {
    type Variant = PairTuning;
    type Data = Vec<[f64; 3]>;
    type Error = MdError;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        let pairs = match self.pairs.potential {
            Potential::Formula { formula, .. } => formula.kernel_text().0.to_owned(),
            Potential::Table { table, mode } => {
                let spacing = if table.grid().spacing == Spacing::R2 { "-r2" } else { "" };
                let cubic = if table.interpolation() == Interpolation::Cubic { "-cubic" } else { "" };
                format!("{mode}{spacing}{cubic}")
            }
        };
        let list = match self.options.list {
            List::AllPairs => "all-pairs",
            List::Cells { .. } => "cells",
            List::HalfCells { .. } => "half-cells",
            List::Matrix => "matrix",
        };
        let atoms = self.pairs.types.len().next_power_of_two().trailing_zeros();
        Key::new("md", format!("atoms<=2^{atoms}"))
            .option("pairs", pairs)
            .option("precision", self.options.precision)
            .option("list", list)
            .option("fetch", self.options.fetch)
    }

    fn shipped(&self) -> PairTuning {
        // Processors filter in software, which takes longer than two loads. Cubics gain nothing by images.
        let is_cubic = matches!(self.pairs.potential, Potential::Table { table, .. }
            if table.interpolation() == Interpolation::Cubic);
        let by_itself = !self.is_processor() && !is_cubic;
        let image = self.images && (self.options.fetch == Fetch::Image || by_itself);
        PairTuning { group: GROUP.min(self.largest_group()), reach: 2, image }
    }

    fn steps(&self) -> Vec<Step<'_, PairTuning>> {
        vec![
            Box::new(|best: &PairTuning| {
                let both = if self.images && self.options.fetch == Fetch::Auto { 2 } else { 0 };
                [false, true][..both].iter().map(|&image| PairTuning { image, ..*best }).collect()
            }),
            Box::new(|best: &PairTuning| {
                let groups = [32, 64, 128, 256].into_iter().filter(|&group| group <= self.largest_group());
                groups.map(|group| PairTuning { group, ..*best }).collect()
            }),
            Box::new(|best: &PairTuning| {
                let reaches = if self.has_lists() { &[1, 2, 3][..] } else { &[] };
                reaches.iter().map(|&reach| PairTuning { reach, ..*best }).collect()
            }),
        ]
    }

    fn complaint(&self, variant: &PairTuning) -> Option<String> {
        let PairTuning { group, reach, image } = *variant;
        if !(1..=self.largest_group()).contains(&group) {
            return Some(format!("groups of {group} items are not possible"));
        }
        if !(1..=8).contains(&reach) {
            return Some(format!("{reach} cells within the radius of lists are not possible"));
        }
        let forced = self.options.fetch == Fetch::Image && !image;
        (image && !self.images || forced).then(|| "the table is not read so".to_owned())
    }

    /// Returns places of as many atoms on a lattice that fills the box.
    fn data(&self) -> MdResult<Vec<[f64; 3]>> {
        let atoms = self.pairs.types.len();
        let along = (1..).find(|n: &usize| n.pow(3) >= atoms).unwrap_or(1);
        let place = |i: usize| [i % along, i / along % along, i / along / along];
        let edges = self.pairs.edges;
        let position =
            |i: usize| std::array::from_fn(|axis| edges[axis] * place(i)[axis] as f64 / along as f64);
        Ok((0..atoms).map(position).collect())
    }

    /// Times lists, and forces as often as they are used.
    fn time(&self, variant: &PairTuning, positions: &mut Vec<[f64; 3]>) -> MdResult<Duration> {
        let mut forces = OnDevice::<T>::new(self.device, self.pairs, &self.options, *variant)?;
        forces.take(positions)?;
        let launch = || {
            forces.rebuild()?;
            (0..FORCES).try_for_each(|_| forces.start())
        };
        time_of_launch(launch, || Ok(self.device.finish()?))
    }
}
