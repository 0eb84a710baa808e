//! Smearing of links, as options.

use lattice_cl::gauge::{Directions, Projection, SmearParams, Smearing};
use lattice_cli::failure::Failure;
use lattice_cli::numbers::finite;
use lattice_cli::report::Report;

/// At most one kind of smearing.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Smearing")]
pub struct SmearingOptions {
    /// APE smearing: (1-ALPHA) U + ALPHA/(2(d-1)) times the staples, N times
    #[arg(long, value_name = "ALPHA,N", value_parser = of_numbers::<1>, conflicts_with_all = ["stout", "hyp"])]
    ape: Option<([f64; 1], usize)>,
    /// Stout smearing with the parameter RHO, N times: for example 0.1,3
    ///
    /// A step multiplies by exp of RHO times the traceless anti-Hermitian part of staples times U†.
    #[arg(long, value_name = "RHO,N", value_parser = of_numbers::<1>, conflicts_with = "hyp")]
    stout: Option<([f64; 1], usize)>,
    /// HYP smearing, N times: for example 0.75,0.6,0.3,1
    ///
    /// A1, A2 and A3 are the parameters of the outer, middle and inner level.
    #[arg(long, value_name = "A1,A2,A3,N", value_parser = of_numbers::<3>)]
    hyp: Option<([f64; 3], usize)>,
    /// Smear links in space with spatial staples; HYP has only the levels A2 and A3
    #[arg(long)]
    spatial: bool,
    /// Smear in these directions only, with staples in their planes: for example xy
    #[arg(long, value_name = "DIRECTIONS", conflicts_with = "spatial", hide_short_help = true)]
    directions: Option<Directions>,
    /// Projection of APE and HYP to SU(3): trace or polar
    ///
    /// trace takes the nearest element, polar the unitary factor without its phase.
    #[arg(long, value_name = "KIND", default_value_t)]
    projection: Projection,
}

/// Parses `COUNT` parameters and a number of steps.
fn of_numbers<const COUNT: usize>(text: &str) -> Result<([f64; COUNT], usize), String> {
    let example = if COUNT == 1 { "0.1,3" } else { "0.75,0.6,0.3,1" };
    let wanted = || format!("{} numbers are wanted, the last one of steps: for example {example}", COUNT + 1);
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let (steps, parameters) = words.split_last().ok_or_else(wanted)?;
    let parameters: Vec<f64> = parameters.iter().filter_map(|word| finite(word)).collect();
    let parameters = <[f64; COUNT]>::try_from(parameters).map_err(|_| wanted())?;
    match steps.parse() {
        Ok(steps) if words.len() == COUNT + 1 => Ok((parameters, steps)),
        _ => Err(wanted()),
    }
}

impl SmearingOptions {
    /// Returns the smearing that the options ask for, after checks.
    ///
    /// `None` if they ask for none.
    ///
    /// # Errors
    /// When a parameter is out of its range, and when options about smearing stand without a kind.
    pub fn params(&self, report: &Report) -> Result<Option<SmearParams>, Failure> {
        let ape = self.ape.map(|([alpha], steps)| (Smearing::Ape { alpha }, steps));
        let stout = self.stout.map(|([rho], steps)| (Smearing::Stout { rho }, steps));
        let hyp = self.hyp.map(|(alphas, steps)| (Smearing::Hyp { alphas }, steps));
        let directions = match (self.spatial, self.directions) {
            (true, _) => Directions::SPACE,
            (false, chosen) => chosen.unwrap_or(Directions::ALL),
        };
        let Some((smearing, steps)) = ape.or(stout).or(hyp) else {
            return match directions {
                Directions::ALL => Ok(None),
                _ => Err(Failure::usage("no smearing is chosen for these directions".to_owned())
                    .hint("give --ape ALPHA,N, --stout RHO,N or --hyp A1,A2,A3,N")),
            };
        };
        let params =
            SmearParams::new(smearing, steps).with_directions(directions).with_projection(self.projection);
        params.check()?;
        if !params.is_stable() {
            report.warning(format_args!(
                "{params}: modes of short waves grow above {:.4}",
                params.stable_limit()
            ));
        }
        Ok(Some(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_before_the_number_of_steps() {
        assert_eq!(of_numbers::<1>("0.1,3"), Ok(([0.1], 3)));
        assert_eq!(of_numbers::<3>("0.75, 0.6,0.3,1"), Ok(([0.75, 0.6, 0.3], 1)));
        for text in ["", "3", "0.1,", "0.1,3,4", "0.1,-3", "0.1,1.5", "a,1"] {
            assert!(of_numbers::<1>(text).unwrap_err().contains("0.1,3"), "{text}");
        }
        assert!(of_numbers::<3>("0.75,0.6,1").is_err());
    }
}
