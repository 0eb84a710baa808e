//! Observables: a value and its fluctuations in Markov time.

use crate::error::{StatisticsError, StatisticsResult};
use crate::quantity::{DifferentiableMap, Quantity};
use crate::series::Series;
use crate::trajectories::Trajectories;
use std::sync::Arc;

/// Fluctuations on one replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluctuations {
    name: Arc<str>,
    trajectories: Trajectories,
    deviations: Vec<f64>,
}

impl Fluctuations {
    /// Returns the name of the replica.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the trajectories.
    pub fn trajectories(&self) -> &Trajectories {
        &self.trajectories
    }

    /// Returns the deviations from the mean of the replica, one for each trajectory.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }
}

/// A primary or derived observable for the Γ method.
///
/// Fluctuations of derived observables are projected on the derivatives at the mean values
/// (U. Wolff, hep-lat/0306017), so derived observables can be derived from again.
/// Deviations are from the mean of each replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Observable {
    value: f64,
    replica: Vec<Fluctuations>,
}

impl Observable {
    /// Returns the mean of a series, with its fluctuations.
    pub fn from_series(series: &Series) -> Self {
        let replica = series.replica().iter().map(|chain| {
            let mean = chain.mean();
            Fluctuations {
                name: chain.shared_name(),
                trajectories: chain.trajectories().clone(),
                deviations: chain.values().iter().map(|value| value - mean).collect(),
            }
        });
        Self { value: series.mean(), replica: replica.collect() }
    }

    /// Returns the fluctuations on each replica.
    pub fn replica(&self) -> &[Fluctuations] {
        &self.replica
    }

    /// Returns the number of measurements on all replica.
    pub fn measurements(&self) -> usize {
        self.replica.iter().map(|chain| chain.deviations.len()).sum()
    }

    /// Tells whether nothing fluctuates.
    pub fn is_constant(&self) -> bool {
        self.replica.iter().all(|chain| chain.deviations.iter().all(|deviation| *deviation == 0.0))
    }
}

impl Quantity for Observable {
    fn value(&self) -> f64 {
        self.value
    }

    /// Inputs may miss some trajectories of the others.
    ///
    /// Fluctuations that are there are then scaled up by the fraction of missing ones.
    fn mapped(inputs: &[&Self], map: &dyn DifferentiableMap) -> StatisticsResult<Vec<Self>> {
        let Some(first) = inputs.first() else {
            return Err(StatisticsError::NoMeasurements { what: "a derived observable".to_owned() });
        };
        let names =
            |observable: &Self| observable.replica.iter().map(|chain| chain.name.clone()).collect::<Vec<_>>();
        if let Some(index) = inputs.iter().position(|input| names(input) != names(first)) {
            return Err(StatisticsError::DifferentEnsembles { index, what: "replica" });
        }
        let centre: Vec<_> = inputs.iter().map(|input| input.value).collect();
        let values = map.values(&centre)?;
        let jacobian = map.jacobian(&centre)?;
        let mut observables: Vec<_> = values
            .into_iter()
            .map(|value| Self { value, replica: Vec::with_capacity(first.replica.len()) })
            .collect();
        for replica in 0..first.replica.len() {
            let chains: Vec<_> = inputs.iter().map(|input| &input.replica[replica]).collect();
            let all = chains
                .iter()
                .fold(chains[0].trajectories.clone(), |all, chain| all.union(&chain.trajectories));
            let spread: Vec<_> = chains.iter().map(|chain| spread(chain, &all)).collect();
            for (observable, slopes) in observables.iter_mut().zip(&jacobian) {
                let mut deviations = vec![0.0; all.len()];
                for (slope, chain) in slopes.iter().zip(&spread).filter(|(slope, _)| **slope != 0.0) {
                    deviations
                        .iter_mut()
                        .zip(chain.iter())
                        .for_each(|(sum, deviation)| *sum += slope * deviation);
                }
                let (name, trajectories) = (chains[0].name.clone(), all.clone());
                observable.replica.push(Fluctuations { name, trajectories, deviations });
            }
        }
        Ok(observables)
    }
}

/// Returns fluctuations on all of these trajectories, 0 on missing ones.
fn spread<'a>(chain: &'a Fluctuations, all: &Trajectories) -> std::borrow::Cow<'a, [f64]> {
    if chain.trajectories == *all {
        return (&chain.deviations).into();
    }
    let scale = all.len() as f64 / chain.deviations.len() as f64;
    let mut deviations = vec![0.0; all.len()];
    for (place, deviation) in chain.trajectories.places_in(all).into_iter().zip(&chain.deviations) {
        deviations[place] = deviation * scale;
    }
    deviations.into()
}
