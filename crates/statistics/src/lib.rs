//! Statistical errors of Monte Carlo data.
//!
//! A [`Series`] holds measurements of one number. Its [`Observable`] has an error by the Γ method
//! ([`gamma_method`]). Jackknife and bootstrap make [`Resampled`] quantities ([`resample`]). Both
//! are a [`Quantity`]. Functions of them ([`Quantity::derived`]), fits and effective masses carry
//! the error on.
//!
//! ```
//! use lattice_statistics::{Observable, Quantity, Series, WINDOW_PARAMETER, gamma_method};
//!
//! let measured = |values: &[f64]| {
//!     Series::from_values(values.to_vec()).map(|series| Observable::from_series(&series))
//! };
//! let first = measured(&[1.0, 1.1, 0.9, 1.2, 0.8, 1.0, 1.1])?;
//! let second = measured(&[2.1, 2.0, 1.9, 2.2, 1.9, 2.0, 2.0])?;
//! let ratio = Observable::derived(&[&first, &second], |x| x[0] / x[1])?;
//! let estimate = gamma_method(&ratio, WINDOW_PARAMETER)?.expect("there are several measurements");
//! assert!(estimate.error > 0.0 && estimate.error < 0.1 * ratio.value());
//! # Ok::<(), lattice_statistics::StatisticsError>(())
//! ```
//!
//! The crate knows no lattice and opens no file. All results scale with their input: measurements
//! times a power of two give values and errors times that power.

mod any_quantity;
mod autocorrelation;
mod checks;
mod correlator_model;
mod covariance;
mod distribution;
mod effective_mass;
mod eigen;
mod error;
mod fit;
mod gamma_method;
mod gevp;
mod histogram;
mod hyper_dual;
mod minimise;
mod model;
mod model_average;
mod observable;
mod quantity;
mod random;
mod range_average;
mod ranges;
mod resample;
mod scale;
mod scaling;
mod series;
pub mod three_point;
mod trajectories;
mod uncertain;
mod weighting;

pub use any_quantity::AnyQuantity;
pub use autocorrelation::Autocorrelation;
pub use checks::{Warning, check};
pub use correlator_model::CorrelatorModel;
pub use covariance::Covariance;
pub use distribution::{chi_squared_p_value, hotelling_p_value};
pub use effective_mass::{EffectiveMass, effective_masses, folded};
pub use error::{StatisticsError, StatisticsResult};
pub use fit::{Fit, FitOptions, fit};
pub use gamma_method::{GammaError, WINDOW_PARAMETER, gamma_method};
pub use gevp::{CorrelatorMatrix, StateOrder};
pub use histogram::{Histogram, pulls};
pub use hyper_dual::HyperDual;
pub use model::{Function, Model, Polynomial};
pub use model_average::{Candidate, ModelAverage};
pub use observable::{Fluctuations, Observable};
pub use quantity::{DifferentiableMap, Quantity};
pub use range_average::RangeAverage;
pub use ranges::{RangeFit, fit_ranges, ranges_above_noise, ranges_within};
pub use resample::{Resampled, Resampling, resample};
pub use scale::{FLOW_TARGET, t0, w0};
pub use series::{Gaps, Replica, Series};
pub use trajectories::Trajectories;
pub use uncertain::Uncertain;
pub use weighting::Weighting;
