//! The parts of an evaluation, and their times.

use super::error::XcResult;
use lattice_compute::Device;
use std::time::Instant;

/// A part of an evaluation, in the order of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Functions and their derivatives at points.
    Functions,
    /// X = χD of each group, with gathering its part of D.
    DensityProducts,
    /// Sums over functions: ρ and ∇ρ.
    Density,
    /// The functional at points, and sums over points.
    Functional,
    /// B, functions times the factors of the functional.
    Factors,
    /// χᵀB of each group.
    MatrixProducts,
    /// Sums over groups.
    Matrix,
}

lattice_files::words! {
    Stage, "stage":
    Functions = "functions";
    DensityProducts = "density: products";
    Density = "density: sums";
    Functional = "functional";
    Factors = "matrix: factors";
    MatrixProducts = "matrix: products";
    Matrix = "matrix: sums"
}

/// What a stage did on a device, over all its groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Its time.
    pub seconds: f64,
    /// Operations of its products; 0 for other stages.
    pub flops: u64,
    /// Bytes that it must read and write at least.
    pub bytes: u64,
}

/// Adds up the times of stages, or does nothing.
pub(crate) struct Watch<'a> {
    device: &'a Device,
    last: Option<Instant>,
    seconds: [f64; Stage::ALL.len()],
}

impl<'a> Watch<'a> {
    /// Returns a watch that does nothing.
    pub fn off(device: &'a Device) -> Self {
        Self { device, last: None, seconds: [0.0; Stage::ALL.len()] }
    }

    /// Returns a watch that waits for the device after each stage.
    pub fn on(device: &'a Device) -> XcResult<Self> {
        device.finish()?;
        Ok(Self { last: Some(Instant::now()), ..Self::off(device) })
    }

    /// Returns `true` unless the watch does nothing.
    pub fn is_on(&self) -> bool {
        self.last.is_some()
    }

    /// Ends a stage that began where the last one ended.
    pub fn mark(&mut self, stage: Stage) -> XcResult<()> {
        if let Some(last) = self.last {
            self.device.finish()?;
            let now = Instant::now();
            self.seconds[stage as usize] += (now - last).as_secs_f64();
            self.last = Some(now);
        }
        Ok(())
    }

    /// Returns the time of a stage.
    pub fn seconds(&self, stage: Stage) -> f64 {
        self.seconds[stage as usize]
    }
}
