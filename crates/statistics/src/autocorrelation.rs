//! Autocorrelation functions.

use crate::error::{StatisticsError, StatisticsResult};
use crate::observable::{Fluctuations, Observable};
use crate::scaling::power_of_two;
use realfft::RealFftPlanner;

/// The most lags between two measurements, for the memory of transforms.
const LARGEST_GRID: u64 = 1 << 26;

/// The autocorrelation function of an observable, averaged over replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Autocorrelation {
    /// Γ(t) over the square of `scale`, for lags in units of `spacing`.
    pub(crate) scaled: Vec<f64>,
    /// A power of two near the largest deviation.
    pub(crate) scale: f64,
    /// Trajectories between measurements.
    spacing: u64,
}

impl Autocorrelation {
    /// Returns the autocorrelation function, `None` if no replica has two measurements.
    ///
    /// Γ(t) = Σ δ(s) δ(s + t) / number of pairs, for lags up to half of the longest replica
    /// (U. Wolff, hep-lat/0306017). Pairs are those of measured trajectories.
    ///
    /// # Errors
    /// Trajectories are not multiples of the smallest spacing apart, or too far apart for memory.
    pub fn of(observable: &Observable) -> StatisticsResult<Option<Self>> {
        let chains = observable.replica();
        let Some(spacing) = chains.iter().filter_map(|chain| chain.trajectories().spacing()).min() else {
            return Ok(None);
        };
        if let Some(chain) = chains.iter().find(|chain| !is_on_grid(chain, spacing)) {
            return Err(StatisticsError::Spacing { replica: chain.name().to_owned(), spacing });
        }
        if let Some(chain) = chains.iter().find(|chain| span(chain) / spacing > LARGEST_GRID) {
            return Err(StatisticsError::Span { replica: chain.name().to_owned(), span: span(chain) });
        }
        let lags = chains.iter().map(|chain| length(chain, spacing)).max().unwrap_or(0) / 2;
        let scale = power_of_two(chains.iter().flat_map(|chain| chain.deviations().iter().copied()));
        let mut scaled = vec![0.0; lags];
        let mut pairs = vec![0.0; lags];
        let mut transforms = RealFftPlanner::new();
        for chain in chains {
            let places = grid_places(chain, spacing);
            let grid = places.last().map_or(0, |last| last + 1);
            let mut deviations = vec![0.0; grid];
            for (&place, deviation) in places.iter().zip(chain.deviations()) {
                deviations[place] = deviation / scale;
            }
            add(&mut scaled, &self_correlation(&deviations, lags, &mut transforms));
            if grid == places.len() {
                pairs.iter_mut().enumerate().for_each(|(lag, sum)| *sum += grid.saturating_sub(lag) as f64);
            } else {
                let mut measured = vec![0.0; grid];
                places.iter().for_each(|&place| measured[place] = 1.0);
                let mut counts = self_correlation(&measured, lags, &mut transforms);
                counts.iter_mut().for_each(|count| *count = count.round());
                add(&mut pairs, &counts);
            }
        }
        scaled.iter_mut().zip(&pairs).for_each(|(sum, pairs)| *sum /= pairs.max(1.0));
        Ok(Some(Self { scaled, scale, spacing }))
    }

    /// Returns Γ(t)/Γ(0) for lags t = 0, 1, … in units of the spacing.
    ///
    /// It is zero for constants.
    pub fn normalised(&self) -> Vec<f64> {
        match self.scaled.first() {
            Some(&variance) if variance > 0.0 => self.scaled.iter().map(|gamma| gamma / variance).collect(),
            _ => vec![0.0; self.scaled.len()],
        }
    }

    /// Returns the number of trajectories from one measurement to the next.
    pub fn spacing(&self) -> u64 {
        self.spacing
    }
}

/// Returns the distance from the first to the last trajectory.
fn span(chain: &Fluctuations) -> u64 {
    let numbers = chain.trajectories().numbers();
    numbers[numbers.len() - 1] - numbers[0]
}

/// Tells whether all trajectories are multiples of the spacing after the first.
fn is_on_grid(chain: &Fluctuations, spacing: u64) -> bool {
    chain.trajectories().numbers().windows(2).all(|pair| (pair[1] - pair[0]) % spacing == 0)
}

/// Returns the place of each trajectory on the grid of the spacing.
fn grid_places(chain: &Fluctuations, spacing: u64) -> Vec<usize> {
    let numbers = chain.trajectories().numbers();
    numbers.iter().map(|number| ((number - numbers[0]) / spacing) as usize).collect()
}

/// Returns the length of a replica in units of the spacing, as pyerrors counts it.
fn length(chain: &Fluctuations, spacing: u64) -> usize {
    let trajectories = chain.trajectories();
    match trajectories.is_regular() {
        true => trajectories.len() * (trajectories.spacing().unwrap_or(spacing) / spacing) as usize,
        false => ((span(chain) + 1) / spacing) as usize,
    }
}

/// Returns Σ x(s) x(s + t) for the lags t = 0, 1, …, `lags` − 1.
fn self_correlation(values: &[f64], lags: usize, transforms: &mut RealFftPlanner<f64>) -> Vec<f64> {
    // Zeros keep the ends of the periodic transform apart for all lags.
    let extent = (values.len() + lags.min(values.len())).max(2).next_power_of_two();
    let forward = transforms.plan_fft_forward(extent);
    let inverse = transforms.plan_fft_inverse(extent);
    let mut padded = values.to_vec();
    padded.resize(extent, 0.0);
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut padded, &mut spectrum).expect("the buffers have the extent of the transform");
    spectrum.iter_mut().for_each(|mode| *mode = mode.norm_sqr().into());
    inverse.process(&mut spectrum, &mut padded).expect("the spectrum of a real function is real at the ends");
    let correlation = |lag: usize| if lag < values.len() { padded[lag] / extent as f64 } else { 0.0 };
    (0..lags).map(correlation).collect()
}

/// Adds the second list to the first.
fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
