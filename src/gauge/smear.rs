//! Smearing of links: which, how strongly, how often.

use super::ape::ape_step;
use super::directions::Directions;
use super::hyp::{self, hyp_step, hyp_step_in_space};
use super::link_table::LinkTable;
use super::on_device::{DeviceLinks, LinkUpdate};
use super::projection::Projection;
use super::stout::stout_step;
use crate::compute::{Device, DeviceError, Team};
use crate::host::{GaugeConfiguration, NoRoom, ProjectionError, change_time_signs, signed_slices};
use derive_setters::Setters;
use lattice_files::number::shown;
use std::fmt;

/// A kind of smearing and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smearing {
    /// (1−α) U + α/(2(d−1)) Σ C, brought back to SU(3); d is the number of directions.
    Ape {
        /// α, from 0 to 1.
        alpha: f64,
    },
    /// exp(TA(ρ C U†)) U.
    Stout {
        /// ρ, from 0 to 0.25.
        rho: f64,
    },
    /// Hypercubic smearing in three levels. In space there are two, of α2 and α3.
    Hyp {
        /// α1, α2, α3 of the outer, middle and inner level, each from 0 to 1.
        alphas: [f64; 3],
    },
}

/// Parameters of smearing links.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SmearParams {
    /// The kind, with its parameters.
    pub smearing: Smearing,
    /// Steps. Each takes all of its links from the step before.
    pub steps: usize,
    /// The directions that are smeared. The staples lie in their planes. Default: all.
    ///
    /// HYP takes all directions, or the directions of space.
    pub directions: Directions,
    /// The projection of sums of links to SU(3). Default [`Projection::Trace`].
    ///
    /// Stout smearing needs none.
    pub projection: Projection,
}

/// The reason why links are not smeared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SmearError {
    /// A parameter is out of its range.
    #[error(
        "{name} = {value} is out of range: {name} lies between 0 and {most}, and smearing is stable up to {stable:.4}",
        value = shown(.value), most = shown(.most)
    )]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The largest value that is taken.
        most: f64,
        /// The largest value that damps all modes of a weak field.
        stable: f64,
    },
    /// HYP smearing of other directions.
    #[error("HYP smearing takes all directions or those of space, not {0}")]
    HypDirections(Directions),
    /// A smeared link has no nearest element of SU(3).
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A kind that devices have no kernels for.
    #[error("{0} smearing runs on the host only")]
    HostOnly(&'static str),
    /// There is not enough memory.
    #[error(transparent)]
    OutOfMemory(#[from] NoRoom),
    /// A device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Smearing {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Smearing::Ape { .. } => "APE",
            Smearing::Stout { .. } => "stout",
            Smearing::Hyp { .. } => "HYP",
        }
    }

    /// Returns `true` if devices have kernels for this kind: stout smearing.
    ///
    /// The other kinds run on the host.
    pub fn has_kernels(&self) -> bool {
        matches!(self, Smearing::Stout { .. })
    }
}

impl SmearParams {
    /// Returns the defaults of a kind of smearing in this many steps.
    pub fn new(smearing: Smearing, steps: usize) -> Self {
        Self { smearing, steps, directions: Directions::ALL, projection: Projection::default() }
    }

    /// Returns names, values and largest accepted values of the parameters.
    fn parameters(&self) -> Vec<(&'static str, f64, f64)> {
        match self.smearing {
            Smearing::Ape { alpha } => vec![("alpha", alpha, 1.0)],
            Smearing::Stout { rho } => vec![("rho", rho, 0.25)],
            Smearing::Hyp { alphas: [outer, middle, inner] } => {
                let within = [("alpha2", middle, 1.0), ("alpha3", inner, 1.0)];
                match self.directions {
                    Directions::SPACE => within.to_vec(),
                    _ => [&[("alpha1", outer, 1.0)][..], &within].concat(),
                }
            }
        }
    }

    /// Returns the largest parameter that damps all modes of a weak field.
    ///
    /// A step multiplies a transverse mode by 1 − ρk̂² (stout) or 1 − αk̂²/(2(d−1)) (APE), and k̂²
    /// ≤ 4d. HYP smearing has no such limit below 1.
    pub fn stable_limit(&self) -> f64 {
        let d = self.directions.count() as f64;
        match self.smearing {
            Smearing::Ape { .. } => (d - 1.0) / d,
            Smearing::Stout { .. } => 1.0 / (2.0 * d),
            Smearing::Hyp { .. } => 1.0,
        }
    }

    /// Tells whether all modes of a weak field are damped.
    pub fn is_stable(&self) -> bool {
        self.parameters().iter().all(|&(_, value, _)| value <= self.stable_limit())
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// When one is out of its range, or when HYP smearing does not have such directions.
    pub fn check(&self) -> Result<(), SmearError> {
        let stable = self.stable_limit();
        for (name, value, most) in self.parameters() {
            // Written so that NaN is refused.
            if !(0.0..=most).contains(&value) {
                return Err(SmearError::Parameter { name, value, most, stable });
            }
        }
        match self.smearing {
            Smearing::Hyp { .. } if ![Directions::ALL, Directions::SPACE].contains(&self.directions) => {
                Err(SmearError::HypDirections(self.directions))
            }
            _ => Ok(()),
        }
    }

    fn step(&self, links: &LinkTable) -> Result<LinkTable, ProjectionError> {
        let Self { directions, projection, .. } = *self;
        match self.smearing {
            Smearing::Ape { alpha } => ape_step(links, alpha, directions, projection),
            Smearing::Stout { rho } => Ok(stout_step(links, rho, directions)),
            Smearing::Hyp { alphas } if directions == Directions::ALL => hyp_step(links, alphas, projection),
            Smearing::Hyp { alphas: [_, outer, inner] } => {
                hyp_step_in_space(links, [outer, inner], projection)
            }
        }
    }

    /// Fields of links in memory at once.
    fn fields(&self) -> usize {
        match self.smearing {
            Smearing::Hyp { .. } => hyp::FIELDS[usize::from(self.directions == Directions::SPACE)],
            Smearing::Ape { .. } | Smearing::Stout { .. } => 2,
        }
    }
}

impl fmt::Display for SmearParams {
    /// Writes for example `APE alpha 0.6, 3 steps in xyz, projection trace`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.smearing.name())?;
        for (name, value, _) in self.parameters() {
            write!(f, " {name} {value}")?;
        }
        let plural = if self.steps == 1 { "" } else { "s" };
        write!(f, ", {} step{plural} in {}", self.steps, self.directions)?;
        match self.smearing {
            Smearing::Stout { .. } => Ok(()),
            Smearing::Ape { .. } | Smearing::Hyp { .. } => write!(f, ", projection {}", self.projection),
        }
    }
}

/// Smears the links of a configuration on the host; see [`smear_on`].
///
/// # Errors
/// The errors of [`smear_on`].
pub fn smear(
    configuration: &GaugeConfiguration,
    params: &SmearParams,
) -> Result<GaugeConfiguration, SmearError> {
    smear_on(&Team::host(), configuration, params)
}

/// Smears the links of a configuration, in double precision.
///
/// The work is done on the first device of a team, or on the host. The result does not depend on
/// the number of threads.
///
/// Links of a file in single precision are taken as they are. Stout smearing keeps their distance
/// from SU(3). The other kinds project. Signs of whole time slices, which files may have, stay where they are.
///
/// # Errors
/// * A parameter is out of its range.
/// * A sum of links has no nearest element of SU(3).
/// * A device has no kernels for this kind, or fails.
/// * Memory is too small.
pub fn smear_on(
    team: &Team,
    configuration: &GaugeConfiguration,
    params: &SmearParams,
) -> Result<GaugeConfiguration, SmearError> {
    params.check()?;
    if let Some(device) = team.devices().first() {
        return smear_on_device(device, configuration, params);
    }
    let signed = signed_slices(configuration);
    if !signed.is_empty() {
        // Sums of links in SU(3) are projected, and the others are these times −1.
        let mut plain = configuration.clone();
        change_time_signs(&mut plain, &signed);
        let mut smeared = smear_on(team, &plain, params)?;
        change_time_signs(&mut smeared, &signed);
        return Ok(smeared);
    }
    let mut links = LinkTable::new(configuration, params.fields())?;
    for _ in 0..params.steps {
        links = params.step(&links)?;
    }
    Ok(links.into_configuration())
}

fn smear_on_device(
    device: &Device,
    configuration: &GaugeConfiguration,
    params: &SmearParams,
) -> Result<GaugeConfiguration, SmearError> {
    let Smearing::Stout { rho } = params.smearing else {
        return Err(SmearError::HostOnly(params.smearing.name()));
    };
    let mut links = DeviceLinks::new(device, configuration, false)?;
    let update = LinkUpdate::stout(rho, params.directions);
    for _ in 0..params.steps {
        links.update(&update)?;
    }
    Ok(links.to_configuration()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::plaquette;
    use crate::geometry::{Dims, NDIM};
    use crate::host::random::{gauge_transformation, hot, transform_links, weak};
    use crate::host::{Unitarity, unitarity};

    /// Antiperiodic fermions may have their sign in the links.
    #[test]
    fn signs_of_time_slices_stay_where_they_are() {
        let plain = weak(Dims::new([2, 4, 2, 4]).unwrap(), 0.4, 7);
        let mut signed = plain.clone();
        change_time_signs(&mut signed, &[1, 3]);
        for params in all_kinds() {
            let mut expected = smear(&plain, &params).unwrap();
            change_time_signs(&mut expected, &[1, 3]);
            let found = smear(&signed, &params).unwrap();
            let apart =
                |k: usize| found.link(k / NDIM, k % NDIM).max_difference(&expected.link(k / NDIM, k % NDIM));
            let largest = (0..NDIM * plain.dims().volume()).map(apart).fold(0.0, f64::max);
            assert!(largest < 1e-12, "{params}: {largest}");
        }
    }

    fn all_kinds() -> Vec<SmearParams> {
        let kinds = [
            Smearing::Ape { alpha: 0.5 },
            Smearing::Stout { rho: 0.1 },
            Smearing::Hyp { alphas: [0.75, 0.6, 0.3] },
        ];
        let mut params = Vec::new();
        for smearing in kinds {
            for directions in [Directions::ALL, Directions::SPACE] {
                for projection in Projection::ALL {
                    params.push(SmearParams { smearing, steps: 2, directions, projection });
                }
            }
        }
        params
    }

    fn dims() -> Dims {
        Dims::new([4, 2, 2, 6]).unwrap()
    }

    fn largest_difference(a: &GaugeConfiguration, b: &GaugeConfiguration) -> f64 {
        let links = (0..NDIM * a.dims().volume()).map(|k| (k / NDIM, k % NDIM));
        links.map(|(x, mu)| a.link(x, mu).max_difference(&b.link(x, mu))).fold(0.0, f64::max)
    }

    #[test]
    fn smearing_commutes_with_gauge_transformations_and_stays_in_su3() {
        let configuration = weak(dims(), 0.3, 7);
        let g = gauge_transformation(dims(), 8);
        for params in all_kinds() {
            let smeared = smear(&configuration, &params).unwrap();
            let Unitarity { unitarity_deviation, determinant_deviation } = unitarity(&smeared);
            assert!(unitarity_deviation < 1e-14 && determinant_deviation < 1e-14, "{params}");
            assert!(plaquette(&smeared).spatial > plaquette(&configuration).spatial, "{params}");
            let other = smear(&transform_links(&configuration, &g), &params).unwrap();
            let distance = largest_difference(&other, &transform_links(&smeared, &g));
            assert!(distance < 1e-13, "{params}: {distance:e}");
            if params.directions == Directions::SPACE {
                let links =
                    (0..dims().volume()).map(|site| (smeared.link(site, 3), configuration.link(site, 3)));
                assert!(links.into_iter().all(|(a, b)| a == b), "{params}");
            }
        }
    }

    #[test]
    fn parameters_of_zero_change_nothing() {
        let configuration = hot(dims(), 3);
        for smearing in
            [Smearing::Ape { alpha: 0.0 }, Smearing::Stout { rho: 0.0 }, Smearing::Hyp { alphas: [0.0; 3] }]
        {
            for projection in Projection::ALL {
                let params = SmearParams { smearing, steps: 1, directions: Directions::ALL, projection };
                let smeared = smear(&configuration, &params).unwrap();
                assert!(largest_difference(&smeared, &configuration) < 1e-14, "{params}");
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        let configuration = GaugeConfiguration::unit(dims());
        let error = |smearing, directions| {
            let params = SmearParams { smearing, steps: 1, directions, projection: Projection::Trace };
            smear(&configuration, &params).unwrap_err()
        };
        for (smearing, words) in [
            (Smearing::Ape { alpha: 1.5 }, "alpha = 1.5 is out of range: alpha lies between 0 and 1"),
            (Smearing::Ape { alpha: -0.1 }, "stable up to 0.7500"),
            (Smearing::Stout { rho: 0.3 }, "between 0 and 0.25, and smearing is stable up to 0.1250"),
            (Smearing::Stout { rho: f64::NAN }, "rho = NaN"),
            (Smearing::Hyp { alphas: [0.75, 0.6, 1.1] }, "alpha3 = 1.1"),
        ] {
            let error = error(smearing, Directions::ALL).to_string();
            assert!(error.contains(words), "{error}");
        }
        let plane = "xy".parse().unwrap();
        assert_eq!(error(Smearing::Hyp { alphas: [0.5; 3] }, plane), SmearError::HypDirections(plane));
    }

    #[test]
    fn the_stable_range_is_that_of_a_weak_field() {
        let of = |smearing, directions| SmearParams {
            smearing,
            steps: 1,
            directions,
            projection: Projection::Trace,
        };
        let stout = |rho| of(Smearing::Stout { rho }, Directions::SPACE);
        assert!(stout(0.16).is_stable() && !stout(0.17).is_stable());
        let ape = |alpha| of(Smearing::Ape { alpha }, Directions::ALL);
        assert!(ape(0.75).is_stable() && !ape(0.76).is_stable());
    }
}
