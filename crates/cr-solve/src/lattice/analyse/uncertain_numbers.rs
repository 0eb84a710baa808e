//! Numbers on all configurations, with the errors that a user asks for.

use super::error_estimation::ErrorEstimation;
use super::estimates::{Averages, Estimate};
use super::fitted_mass::{FitChoice, FittedMass, fitted_mass};
use super::mass_form::MassForm;
use lattice_cli::failure::Failure;
use lattice_statistics::{
    AnyQuantity, Series, StatisticsError, StatisticsResult, Uncertain, Weighting, t0, w0,
};

/// A list of quantities: a correlator with one for each distance, or a flow with one for each time.
#[derive(Debug)]
pub struct UncertainNumbers {
    quantities: Vec<AnyQuantity>,
    window_parameter: f64,
}

impl UncertainNumbers {
    /// Returns the quantities of samples, one sample of each configuration.
    ///
    /// All samples have the same length.
    ///
    /// # Errors
    /// A sample is not finite, or the bins are too long.
    pub fn new(samples: &[Vec<f64>], estimation: ErrorEstimation) -> StatisticsResult<Self> {
        let length = samples.first().map_or(0, Vec::len);
        let at = |place: usize| samples.iter().map(|sample| sample[place]).collect();
        let series: Vec<Series> =
            (0..length).map(|place| Series::from_values(at(place))).collect::<StatisticsResult<_>>()?;
        // One configuration has a value and no error.
        let resampling = estimation.resampling().filter(|_| samples.len() > 1);
        let quantities = AnyQuantity::of_series(&series, resampling)?;
        Ok(Self { quantities, window_parameter: estimation.window_parameter })
    }

    /// Returns the means.
    ///
    /// # Errors
    /// The Γ method fails.
    pub fn estimates(&self) -> StatisticsResult<Vec<Estimate>> {
        Estimate::of_all(&self.quantities, self.window_parameter)
    }

    /// Returns t_0 of mean energies at flow times, empty if the flow ends before.
    ///
    /// # Errors
    /// Flow times do not increase, or are too few.
    pub fn t0(&self, times: &[f64], reference: f64) -> StatisticsResult<Estimate> {
        crossed(t0(times, &self.quantities, reference), self.window_parameter)
    }

    /// Returns w_0 of mean energies at flow times, empty if the flow ends before.
    ///
    /// # Errors
    /// Flow times do not increase, or are too few.
    pub fn w0(&self, times: &[f64], reference: f64) -> StatisticsResult<Estimate> {
        crossed(w0(times, &self.quantities, reference), self.window_parameter)
    }

    /// Returns means and effective masses.
    ///
    /// # Errors
    /// The Γ method fails.
    pub fn averages(&self, form: MassForm) -> StatisticsResult<Averages> {
        Averages::new(&self.quantities, form, self.window_parameter)
    }

    /// Returns the mass of the lowest state.
    ///
    /// # Errors
    /// Those of [`fitted_mass`].
    pub fn mass(
        &self,
        name: &str,
        form: MassForm,
        choice: FitChoice,
        weighting: Weighting,
    ) -> Result<FittedMass, Failure> {
        fitted_mass(name, &self.quantities, form, choice, weighting, self.window_parameter)
    }
}

/// Returns a scale with its error, empty if the flow does not reach it.
fn crossed<Q: Uncertain>(scale: StatisticsResult<Q>, window_parameter: f64) -> StatisticsResult<Estimate> {
    match scale {
        Ok(scale) => Estimate::of(&scale, window_parameter),
        Err(StatisticsError::NotCrossed { .. }) => Ok(Estimate::default()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::error_estimation::ErrorMethod;
    use super::*;
    use lattice_solvers::range::times_power;

    fn averages(samples: &[Vec<f64>], form: MassForm) -> Averages {
        let estimation = ErrorEstimation { method: ErrorMethod::Jackknife, bin: 1, window_parameter: 2.0 };
        UncertainNumbers::new(samples, estimation).unwrap().averages(form).unwrap()
    }

    #[test]
    fn the_jackknife_of_a_mean_is_the_error_of_the_mean() {
        let samples = [1.0, 4.0, 2.0, 7.0].map(|value| vec![value]).to_vec();
        let averaged = averages(&samples, MassForm::Log);
        // Σ (x − 3.5)² = 21, over N(N − 1) = 12.
        let Estimate { value, error } = averaged.correlator[0];
        assert_eq!(value, Some(3.5));
        assert!((error.unwrap() - (21.0f64 / 12.0).sqrt()).abs() < 1e-14);
        assert_eq!(averages(&samples[..1], MassForm::Log).correlator[0].error, None);
    }

    #[test]
    fn every_method_has_an_error_and_constants_have_none() {
        let samples: Vec<Vec<f64>> =
            (0..40).map(|k| vec![1.0, 0.5 + 0.01 * f64::from(k * 7 % 40), 0.2]).collect();
        for method in ErrorMethod::ALL {
            let estimation = ErrorEstimation { method, bin: 2, window_parameter: 2.0 };
            let averages =
                UncertainNumbers::new(&samples, estimation).unwrap().averages(MassForm::Log).unwrap();
            let errors: Vec<_> = averages.correlator.iter().map(|estimate| estimate.error).collect();
            assert!(errors[0].is_none() && errors[1].unwrap() > 0.001 && errors[2].is_none(), "{errors:?}");
            assert!(averages.effective_mass[0].error.unwrap() > 0.001, "{method}");
        }
        let estimation = ErrorEstimation { method: ErrorMethod::Jackknife, bin: 21, window_parameter: 2.0 };
        let error = UncertainNumbers::new(&samples, estimation).unwrap_err();
        assert_eq!(error, StatisticsError::TooFewBins { bins: 1, length: 21 });
    }

    #[test]
    fn errors_and_masses_have_the_scale_of_their_correlators() {
        let samples = [[3.0, 2.0, 1.4, 1.2], [3.2, 2.1, 1.3, 1.1], [2.9, 2.2, 1.5, 1.3]];
        let scaled = |power| samples.map(|sample| sample.map(|x| times_power(x, power)).to_vec());
        for form in [MassForm::Cosh, MassForm::Log] {
            let expected = averages(&scaled(0), form);
            for power in [-1000, -660, -300, 300, 660, 1000, 1022] {
                let found = averages(&scaled(power), form);
                assert_eq!(found.effective_mass, expected.effective_mass, "{power}");
                for (found, expected) in found.correlator.iter().zip(&expected.correlator) {
                    let of_unit = |x: Option<f64>| x.map(|x| times_power(x, -power));
                    assert_eq!(of_unit(found.value), expected.value, "{power}");
                    assert_eq!(of_unit(found.error), expected.error, "{power}");
                }
            }
        }
    }

    #[test]
    fn masses_are_those_of_one_state() {
        let exponential: Vec<f64> = (0..8).map(|n| (-0.5 * f64::from(n)).exp()).collect();
        let cosh: Vec<f64> = (0..8).map(|n| (0.3 * f64::from(n - 4)).cosh()).collect();
        for (form, correlator, mass) in [(MassForm::Log, exponential, 0.5), (MassForm::Cosh, cosh, 0.3)] {
            let samples =
                [1.0, 1.5, 0.5].map(|factor| correlator.iter().map(|c| c * factor).collect()).to_vec();
            let found = averages(&samples, form).effective_mass[2];
            assert!((found.value.unwrap() - mass).abs() < 1e-12 && found.error.unwrap() < 1e-12);
        }
    }
}
