//! The mass of a hadron from fits of its correlator.

use super::mass_form::MassForm;
use lattice_cl::compute::parallel::*;
use lattice_cli::failure::Failure;
use lattice_cli::report::{rounded, with_error};
use lattice_statistics::{
    CorrelatorModel, FitOptions, RangeAverage, RangeFit, StatisticsError, StatisticsResult, Uncertain,
    Weighting, fit_ranges, folded, ranges_above_noise,
};
use serde::Serialize;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The distances that are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitChoice {
    /// From the first to the last.
    Range(usize, usize),
    /// The average over ranges.
    Average,
}

impl FromStr for FitChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "average" {
            return Ok(Self::Average);
        }
        let ends = text.split_once(',').map(|(first, last)| (first.trim().parse(), last.trim().parse()));
        match ends {
            Some((Ok(first), Ok(last))) if first < last => Ok(Self::Range(first, last)),
            _ => Err(format!("`{text}` is no fit range; write FIRST,LAST such as 4,12, or average")),
        }
    }
}

impl fmt::Display for FitChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(first, last) => write!(f, "{first},{last}"),
            Self::Average => f.write_str("average"),
        }
    }
}

/// The mass of a correlator's lowest state, in units of the inverse lattice spacing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedMass {
    pub mass: f64,
    /// Statistical and systematic error, added in quadrature.
    pub error: f64,
    pub statistical: f64,
    /// The error from the choice of the range; null if one range is fitted.
    pub systematic: Option<f64>,
    /// The first distance of the range; of an average, the range of the largest weight.
    pub first: usize,
    /// The last distance of the range.
    pub last: usize,
    /// Number of ranges that are averaged.
    pub ranges: usize,
    /// Whether χ² takes correlations between distances into account.
    pub correlated: bool,
    pub chi_squared: f64,
    pub degrees_of_freedom: usize,
    pub chi_squared_per_degree: Option<f64>,
    /// The probability that χ² is larger.
    pub p_value: Option<f64>,
}

impl fmt::Display for FittedMass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, ranges, .. } = self;
        write!(f, "{}, fit from {first} to {last}", with_error(self.mass, self.error))?;
        if self.systematic.is_some() {
            write!(f, " and {} other ranges", ranges - 1)?;
        }
        let number = |number: Option<f64>| number.map_or("-".to_owned(), |number| rounded(number, 3));
        write!(f, ", chi²/dof {}, p {}", number(self.chi_squared_per_degree), number(self.p_value))
    }
}

/// The fewest points of a range of an average: one more than parameters.
const LEAST_POINTS: usize = 3;

/// The number of the mass among the parameters.
const MASS: usize = 1;

/// Fits one state to a correlator: a cosh, or an exponential for [`MassForm::Log`].
///
/// A periodic correlator is folded: C(n) and C(T − n) are averaged, for distances up to T/2.
///
/// # Errors
/// The range is no range of the distances, the correlator has no error, or the fit fails.
pub fn fitted_mass<Q: Uncertain + Send + Sync>(
    name: &str,
    correlator: &[Q],
    form: MassForm,
    choice: FitChoice,
    weighting: Weighting,
    window_parameter: f64,
) -> Result<FittedMass, Failure> {
    let extent = correlator.len();
    let (points, model) = match form {
        MassForm::Cosh => (folded(correlator)?, CorrelatorModel::cosh(extent as f64, 1)),
        MassForm::Log => (correlator.to_vec(), CorrelatorModel::exponentials(1)),
    };
    let explained = |error: StatisticsError| explained(name, error);
    let covariance = Q::covariance(&points, window_parameter).map_err(explained)?;
    let ranges = match choice {
        FitChoice::Range(first, last) if last < points.len() => std::iter::once(first..last + 1).collect(),
        FitChoice::Range(first, last) => {
            let end = points.len() - 1;
            let message = format!("--fit {first},{last}: the distances of {name} end at {end}");
            return Err(Failure::usage(message).hint(match form {
                MassForm::Cosh => "a periodic correlator is folded: distances go to half of its extent",
                MassForm::Log => "name distances of the correlator",
            }));
        }
        // Contact terms and images of the source are at distance 0.
        FitChoice::Average => ranges_above_noise(&points, covariance.errors(), 1, LEAST_POINTS),
    };
    let x: Vec<f64> = (0..points.len()).map(|distance| distance as f64).collect();
    let options = FitOptions::default().with_weighting(weighting);
    let fit_one = |range: &Range<usize>| {
        fit_ranges(&model, &x, &points, &covariance, std::slice::from_ref(range), &options)
    };
    let fits: Vec<StatisticsResult<Vec<RangeFit<Q>>>> = ranges.par_iter().map(fit_one).collect();
    let fits = fits.into_iter().collect::<StatisticsResult<Vec<_>>>().map_err(explained)?;
    let fits = fits.into_iter().flatten().collect();
    let RangeAverage { average, fits, heaviest, .. } =
        RangeAverage::of(fits, MASS, window_parameter).map_err(explained)?;
    let (range, fit) = &fits[heaviest];
    Ok(FittedMass {
        mass: average.value,
        error: average.error(),
        statistical: average.statistical,
        systematic: (choice == FitChoice::Average).then_some(average.systematic),
        first: range.start,
        last: range.end - 1,
        ranges: fits.len(),
        correlated: weighting != Weighting::Uncorrelated,
        chi_squared: fit.chi_squared,
        degrees_of_freedom: fit.degrees_of_freedom,
        chi_squared_per_degree: fit.chi_squared_per_degree(),
        p_value: fit.p_value,
    })
}

/// Returns the failure of a fit, with what helps.
fn explained(name: &str, error: StatisticsError) -> Failure {
    let hint = match error {
        StatisticsError::TooFewBins { .. } => "a fit needs errors: name results of several configurations",
        StatisticsError::TooFewMeasurements { .. } | StatisticsError::SingularCorrelation => {
            "--uncorrelated fits without correlations between distances"
        }
        _ => "--fit FIRST,LAST chooses the distances",
    };
    let Failure { status, error, .. } = Failure::from(error);
    Failure::new(status, error.context(format!("the mass of {name} cannot be fitted"))).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_statistics::{Resampling, Series, resample};

    /// A correlator with fluctuations that are independent at each distance.
    fn correlator(extent: usize, mean: impl Fn(f64) -> f64) -> Vec<lattice_statistics::Resampled> {
        let mut state = 7_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut at = |n: usize| (0..60).map(|_| mean(n as f64) * (1.0 + 0.02 * noise())).collect();
        let series: Vec<Series> = (0..extent).map(|n| Series::from_values(at(n)).unwrap()).collect();
        resample(&series, Resampling::Jackknife { bin: 1 }).unwrap()
    }

    #[test]
    fn fits_find_the_mass_within_errors() {
        let cosh = correlator(16, |n| (0.3 * (n - 8.0)).cosh());
        let falling = correlator(12, |n| (-0.5 * n).exp());
        for (points, form, mass, last) in
            [(&cosh, MassForm::Cosh, 0.3, 8), (&falling, MassForm::Log, 0.5, 11)]
        {
            for choice in [FitChoice::Range(2, last), FitChoice::Average] {
                let found = fitted_mass("pion", points, form, choice, Weighting::Correlated, 2.0).unwrap();
                assert!((found.mass - mass).abs() < 4.0 * found.error, "{found:?}");
                assert!(found.error > 1e-5 && found.error < 0.01 && found.last == last, "{found:?}");
                assert_eq!(found.degrees_of_freedom, found.last - found.first - 1);
                assert_eq!(found.systematic.is_some(), choice == FitChoice::Average);
            }
        }
    }

    #[test]
    fn what_cannot_be_fitted_is_told() {
        let points = correlator(8, |n| (0.3 * (n - 4.0)).cosh());
        let fit = |choice, points: &[_]| {
            fitted_mass("pion", points, MassForm::Cosh, choice, Weighting::Correlated, 2.0).unwrap_err()
        };
        let failure = fit(FitChoice::Range(1, 5), &points);
        assert!(failure.to_string().contains("--fit 1,5: the distances of pion end at 4"), "{failure}");
        let failure = fit(FitChoice::Average, &points[..2]);
        assert!(format!("{:#}", failure.error).contains("no range to be fitted"), "{:#}", failure.error);
        for text in ["", "3", "5,3", "a,b", "3,3"] {
            assert!(text.parse::<FitChoice>().is_err(), "{text}");
        }
        assert_eq!("4, 12".parse(), Ok(FitChoice::Range(4, 12)));
    }
}
