//! Errors of statistics.

/// Result of a statistical analysis.
pub type StatisticsResult<T> = Result<T, StatisticsError>;

/// An analysis that failed, and why.
///
/// Measurements and quantities are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// There is nothing to analyse.
    #[error("{what} has no measurements; give at least one")]
    NoMeasurements {
        /// Name of the empty list.
        what: String,
    },

    /// A measurement is infinite or not a number.
    #[error("measurement {index} of replica {replica} is {value}; all measurements must be finite")]
    NotFinite {
        /// Name of the replica.
        replica: String,
        /// Number of the measurement.
        index: usize,
        /// The measurement.
        value: f64,
    },

    /// Trajectory numbers do not increase.
    #[error(
        "trajectory {next} follows trajectory {previous} at measurement {index}; \
         sort the measurements by trajectory and give each once"
    )]
    TrajectoryOrder {
        /// Number of the later measurement.
        index: usize,
        /// Trajectory of the measurement before.
        previous: u64,
        /// Trajectory of this measurement.
        next: u64,
    },

    /// Trajectories are missing, and gaps are refused.
    #[error(
        "replica {replica} has a gap between trajectories {before} and {after}, where the spacing is {spacing}; \
         say what gaps mean: `account` or `ignore`"
    )]
    Gap {
        /// Name of the replica.
        replica: String,
        /// Trajectory before the gap.
        before: u64,
        /// Trajectory after the gap.
        after: u64,
        /// Smallest spacing of the replica.
        spacing: u64,
    },

    /// Trajectories are on no common grid.
    #[error(
        "trajectories of replica {replica} are not whole multiples of the spacing {spacing} apart; \
         leave out those between, or ignore gaps"
    )]
    Spacing {
        /// Name of the replica.
        replica: String,
        /// Smallest spacing of all replica.
        spacing: u64,
    },

    /// Trajectory numbers are too far apart.
    #[error("the trajectories of replica {replica} span {span} numbers; correct the numbers, or ignore gaps")]
    Span {
        /// Name of the replica.
        replica: String,
        /// Distance of the last from the first.
        span: u64,
    },

    /// Two replica have one name.
    #[error("two replica are named {name}; give each its own name")]
    RepeatedReplica {
        /// The name.
        name: String,
    },

    /// Quantities are measured on different replica or trajectories.
    #[error(
        "quantity {index} is measured on other {what} than quantity 0; combine measurements of one ensemble"
    )]
    DifferentEnsembles {
        /// Number of the quantity.
        index: usize,
        /// The difference.
        what: &'static str,
    },

    /// Quantities have errors by different methods.
    #[error(
        "quantity {index} has an error by another method than quantity 0; \
         take the Γ method or one resampling for all"
    )]
    DifferentMethods {
        /// Number of the quantity.
        index: usize,
    },

    /// Lists that belong together have different lengths.
    #[error("{found} {what} are given for {expected}; give one for each")]
    Length {
        /// Name of the entries.
        what: &'static str,
        /// The length that is needed.
        expected: usize,
        /// The length of the list.
        found: usize,
    },

    /// An option is outside its range.
    #[error("{option} is {value}; it must be {range}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// The values that are allowed.
        range: &'static str,
    },

    /// There are too few bins for an error.
    #[error(
        "{bins} bins of at least {length} measurements give no error; take shorter bins or more measurements"
    )]
    TooFewBins {
        /// Number of bins.
        bins: usize,
        /// Measurements in a bin.
        length: usize,
    },

    /// A function of the measured quantities has no finite value or derivative.
    #[error("the derived quantity is undefined at the measured values; check its domain")]
    Undefined,

    /// A quantity has no error, so it has no weight.
    #[error("quantity {index} has the error {error}; leave it out, or add measurements that fluctuate")]
    NoError {
        /// Number of the quantity.
        index: usize,
        /// Its error.
        error: f64,
    },

    /// The correlation matrix has no inverse, because measurements are few.
    #[error(
        "{points} points cannot be fitted with the correlations of {measurements} independent measurements; \
         use fewer points, shrink the correlations, or cut their singular values"
    )]
    TooFewMeasurements {
        /// Number of fitted points.
        points: usize,
        /// Number of measurements or bins.
        measurements: usize,
    },

    /// The correlation matrix has no inverse, because points depend on each other.
    #[error(
        "the correlation matrix is singular within rounding; \
         leave out points, shrink the correlations, or cut their singular values"
    )]
    SingularCorrelation,

    /// A fit has more parameters than points.
    #[error(
        "{points} points cannot determine {parameters} parameters; fit a longer range or fewer parameters"
    )]
    TooFewPoints {
        /// Number of points.
        points: usize,
        /// Number of parameters.
        parameters: usize,
    },

    /// An average over ranges has none.
    #[error(
        "there is no range to be fitted, because points are lost in noise or too few; \
         give ranges, or measure on more configurations"
    )]
    NoRanges,

    /// A fit has no place to start.
    #[error(
        "the model has no finite value near these points from any starting parameters; give initial parameters"
    )]
    NoStart,

    /// Parameters are not determined by the data.
    #[error("the data do not determine parameter {parameter}; use a model with fewer parameters")]
    Undetermined {
        /// Number of the parameter.
        parameter: usize,
    },

    /// A fit did not converge.
    #[error(
        "the fit did not converge in {iterations} iterations; give initial parameters, or allow more iterations"
    )]
    NotConverged {
        /// Number of iterations.
        iterations: usize,
    },

    /// There are no candidates for an average, or one is not finite.
    #[error("model {index} has no finite value, error and chi-squared; leave it out")]
    Candidate {
        /// Number of the model.
        index: usize,
    },

    /// A correlator matrix cannot normalise vectors.
    #[error(
        "the correlator matrix at the reference time {time} is not positive definite; \
         take an earlier time or fewer operators"
    )]
    NotPositive {
        /// The reference time.
        time: usize,
    },

    /// Times are outside the data or of the wrong order.
    #[error("{what} {time} is outside the data, which has {count} of them; take a smaller one")]
    Time {
        /// Name of the time.
        what: &'static str,
        /// The time.
        time: usize,
        /// Number of times.
        count: usize,
    },

    /// A flow does not reach the reference value.
    #[error(
        "the flow does not cross {target} between t = {first} and {last}; flow longer or with smaller steps"
    )]
    NotCrossed {
        /// The value to be crossed.
        target: f64,
        /// First flow time.
        first: f64,
        /// Last flow time.
        last: f64,
    },

    /// Flow times or separations do not increase.
    #[error("{what} {index} is {value}; all must be finite and increase")]
    Abscissa {
        /// Name of the numbers.
        what: &'static str,
        /// Number of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
}
