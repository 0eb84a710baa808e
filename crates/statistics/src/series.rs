//! Measurements of one number on the trajectories of an ensemble.

use crate::error::{StatisticsError, StatisticsResult};
use crate::scaling;
use crate::trajectories::Trajectories;
use std::sync::Arc;

/// The meaning of distances between trajectory numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// A gap is an error.
    #[default]
    Refuse,
    /// Lags are distances of trajectory numbers.
    ///
    /// Pairs with a missing member are left out. An autocorrelation is divided by the number of
    /// pairs that are there. This is unbiased, also where many trajectories are missing.
    Account,
    /// Measurements are taken as neighbours, whatever their trajectories are.
    Ignore,
}

/// Measurements on one Markov chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica {
    name: Arc<str>,
    trajectories: Trajectories,
    values: Vec<f64>,
}

impl Replica {
    /// Returns measurements on the trajectories 1, 2, ….
    ///
    /// # Errors
    /// There are no measurements, or one is not finite.
    pub fn new(name: &str, values: Vec<f64>) -> StatisticsResult<Self> {
        let trajectories = Trajectories::consecutive(values.len());
        Self::on(name, trajectories, values, Gaps::Refuse)
    }

    /// Returns measurements on given trajectories.
    ///
    /// # Errors
    /// The lengths differ, there are no measurements, one is not finite, or gaps are refused and
    /// there is one.
    pub fn on(
        name: &str,
        trajectories: Trajectories,
        values: Vec<f64>,
        gaps: Gaps,
    ) -> StatisticsResult<Self> {
        if values.is_empty() {
            return Err(StatisticsError::NoMeasurements { what: format!("replica {name}") });
        }
        if trajectories.len() != values.len() {
            return Err(StatisticsError::Length {
                what: "trajectory numbers",
                expected: values.len(),
                found: trajectories.len(),
            });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let value = values[index];
            return Err(StatisticsError::NotFinite { replica: name.to_owned(), index, value });
        }
        let trajectories = match (gaps, trajectories.gaps().first(), trajectories.spacing()) {
            (Gaps::Refuse, Some(&(before, after)), Some(spacing)) => {
                return Err(StatisticsError::Gap { replica: name.to_owned(), before, after, spacing });
            }
            (Gaps::Ignore, ..) => Trajectories::consecutive(values.len()),
            _ => trajectories,
        };
        Ok(Self { name: name.into(), trajectories, values })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name, to be shared.
    pub(crate) fn shared_name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// Returns the trajectories.
    pub fn trajectories(&self) -> &Trajectories {
        &self.trajectories
    }

    /// Returns the measurements in the order of their trajectories.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        scaling::mean(&self.values)
    }
}

/// Measurements of a primary observable on one or several replica of an ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    replica: Vec<Replica>,
}

impl Series {
    /// Returns measurements on these replica.
    ///
    /// # Errors
    /// There are no replica, or two have one name.
    pub fn new(replica: Vec<Replica>) -> StatisticsResult<Self> {
        if replica.is_empty() {
            return Err(StatisticsError::NoMeasurements { what: "the series".to_owned() });
        }
        for (index, chain) in replica.iter().enumerate() {
            if replica[..index].iter().any(|other| other.name == chain.name) {
                return Err(StatisticsError::RepeatedReplica { name: chain.name().to_owned() });
            }
        }
        Ok(Self { replica })
    }

    /// Returns measurements on the trajectories 1, 2, … of one replica.
    ///
    /// # Errors
    /// There are no measurements, or one is not finite.
    pub fn from_values(values: Vec<f64>) -> StatisticsResult<Self> {
        Self::new(vec![Replica::new("1", values)?])
    }

    /// Returns the replica.
    pub fn replica(&self) -> &[Replica] {
        &self.replica
    }

    /// Returns the number of measurements on all replica.
    pub fn measurements(&self) -> usize {
        self.replica.iter().map(|chain| chain.values.len()).sum()
    }

    /// Returns the mean of all measurements.
    pub fn mean(&self) -> f64 {
        let all = self.measurements() as f64;
        let means: Vec<_> = self.replica.iter().map(Replica::mean).collect();
        // Differences from the first mean keep equal means exact.
        let difference = |chain: &Replica, mean: &f64| (mean - means[0]) * (chain.values.len() as f64 / all);
        means[0] + self.replica.iter().zip(&means).map(|(chain, mean)| difference(chain, mean)).sum::<f64>()
    }
}
