//! Transforms of lines as something to be tuned.

use super::axis::{Axis, Direction};
use super::cut::Cut;
use super::error::{FftError, FftResult};
use super::kernels::Kernels;
use super::lines::{Lines, Mode, Side, lines};
use super::operand::Operand;
use super::real::half_extents;
use super::shape::{Layout, Shape};
use super::variant::{FftTuning, key};
use lattice_compute::scalar::Real;
use lattice_compute::tuning::{self, Key, RenewError, Step, Tunable, TuningResult, time_of_launch};
use lattice_compute::{Buffer, Device};
use num_complex::Complex;
use std::marker::PhantomData;
use std::time::Duration;

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FftKind {
    /// Complex arrays.
    ComplexToComplex,
    /// Real arrays into half a spectrum.
    RealToComplex,
    /// Half a spectrum into real arrays.
    ComplexToReal,
}

lattice_files::words! {
    FftKind, "kind of transforms": ComplexToComplex = "c2c"; RealToComplex = "r2c"; ComplexToReal = "c2r"
}

/// The result of a search for the lines of one axis.
#[derive(Clone, Debug)]
pub struct TunedFft {
    /// Element type, kind, length, and whether lines are contiguous.
    pub key: Key,
    /// The variant that is used untuned.
    pub shipped: FftTuning,
    /// The result of the search.
    pub found: TuningResult<FftTuning>,
}

/// Searches now for the fastest variants of a transform's axes.
///
/// There is a result for each length and kind of lines, and none for lines that do not fit local
/// memory. Variants serve all transforms with such lines. Earlier results are replaced.
///
/// # Errors
/// A shape that has no plan; too little memory; a failure of the device; a result that cannot be
/// kept. `budget` is for each search.
pub fn tune_fft<T: Real>(
    device: &Device,
    shape: &Shape,
    kind: FftKind,
    budget: Duration,
) -> Result<Vec<TunedFft>, RenewError<FftError>> {
    let mut tuned: Vec<TunedFft> = Vec::new();
    let cut = Cut::of(device);
    // Compiled before the searches, whose budgets are for variants.
    Kernels::<T>::of(device).map_err(|error| RenewError::Kernel(error.into()))?;
    for lines in lines_of(shape, kind).map_err(RenewError::Kernel)? {
        let longest = cut.longest(size_of::<T>());
        let Some(shipped) = FftTuning::shipped(lines.length, longest) else { continue };
        let key = key::<T>(device, &lines);
        if lines.length > 1 && tuned.iter().all(|other| other.key != key) {
            let lines = LinesToTune::<T> { device, cut, lines, shipped, number: PhantomData };
            let found = tuning::renew(&lines, budget)?;
            tuned.push(TunedFft { key, shipped: lines.shipped, found });
        }
    }
    Ok(tuned)
}

/// Returns the lines of all axes, the last axis first.
fn lines_of(shape: &Shape, kind: FftKind) -> FftResult<Vec<Lines>> {
    shape.check()?;
    let (extents, batch, last) = (&shape.extents, shape.batch, shape.extents.len() - 1);
    let half = half_extents(extents);
    let [real, complex] = [Layout::dense(extents), Layout::dense(&half)];
    let (rows, rest) = match kind {
        FftKind::ComplexToComplex => {
            let side = (&real, Mode::Complex);
            (lines(extents, batch, last, side, side), (extents, &real))
        }
        FftKind::RealToComplex => {
            (lines(extents, batch, last, (&real, Mode::Real), (&complex, Mode::Half)), (&half, &complex))
        }
        FftKind::ComplexToReal => {
            (lines(extents, batch, last, (&complex, Mode::Half), (&real, Mode::Real)), (&half, &complex))
        }
    };
    let (extents, layout) = rest;
    let side = (layout, Mode::Complex);
    let others = (0..last).rev().map(|axis| lines(extents, batch, axis, side, side));
    Ok(std::iter::once(rows).chain(others).map(Lines::sorted).collect())
}

/// The lines of one axis.
struct LinesToTune<'a, T> {
    device: &'a Device,
    cut: Cut,
    lines: Lines,
    shipped: FftTuning,
    number: PhantomData<T>,
}

/// An array of one side.
enum Numbers<T> {
    Real(Buffer<T>),
    Complex(Buffer<Complex<T>>),
}

impl<T: Real> Numbers<T> {
    fn new(device: &Device, lines: &Lines, side: &Side) -> FftResult<Self> {
        let of_line = if side.mode == Mode::Half { lines.length / 2 } else { lines.length - 1 };
        let others = lines.extents.iter().zip(&side.distances);
        let end = others.fold(of_line * side.stride, |end, (extent, distance)| end + (extent - 1) * distance);
        Ok(match side.mode {
            Mode::Real => Self::Real(Buffer::zeroed(device, end + 1)?),
            _ => Self::Complex(Buffer::zeroed(device, end + 1)?),
        })
    }

    fn operand(&mut self) -> Operand<'_> {
        match self {
            Self::Real(buffer) => Operand::new(buffer, false),
            Self::Complex(buffer) => Operand::new(buffer, true),
        }
    }
}

impl<T: Real> Tunable for LinesToTune<'_, T> {
    type Variant = FftTuning;
    type Data = [Numbers<T>; 2];
    type Error = FftError;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        key::<T>(self.device, &self.lines)
    }

    fn shipped(&self) -> FftTuning {
        self.shipped.clone()
    }

    fn steps(&self) -> Vec<Step<'_, FftTuning>> {
        let (n, longest) = (self.lines.length, self.cut.longest(size_of::<T>()));
        vec![
            Box::new(move |best: &FftTuning| best.with_other_passes(n, longest)),
            Box::new(|best: &FftTuning| best.with_other_groups(self.cut)),
        ]
    }

    fn complaint(&self, variant: &FftTuning) -> Option<String> {
        variant.complaint(self.lines.length, self.cut.longest(size_of::<T>()), self.cut)
    }

    fn data(&self) -> FftResult<[Numbers<T>; 2]> {
        let side = |side| Numbers::new(self.device, &self.lines, side);
        Ok([side(&self.lines.from)?, side(&self.lines.to)?])
    }

    fn time(&self, variant: &FftTuning, [from, to]: &mut [Numbers<T>; 2]) -> FftResult<Duration> {
        let kernels = Kernels::<T>::of(self.device)?;
        let axis = Axis::<T>::in_one(self.device, self.cut, self.lines.clone(), variant)?;
        let (device, direction) = (self.device, Direction::Forward);
        let launch =
            || axis.run(device, &kernels, direction, Some(from.operand()), to.operand(), 1.0).map(drop);
        time_of_launch(launch, || Ok(self.device.finish()?))
    }
}
