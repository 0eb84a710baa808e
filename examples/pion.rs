//! Computes the correlator of a pion: twelve solves of the Dirac equation, and their contraction.
//!
//! `cargo run --release --example pion`

use lattice_cl::compute::{Selector, Team};
use lattice_cl::geometry::{Boundary, Dims, Lattice};
use lattice_cl::hadron::{Column, Contraction, Observable};
use lattice_cl::host::{GaugeConfiguration, random};
use lattice_cl::operator::{Dirac, Kappa};
use lattice_cl::solve::{CgParams, cg};

/// C(0) … C(4) of free quarks at κ = 0.11 on 4³×8 sites, by sums over momenta.
const FREE: [f64; 5] = [14.37534935766, 0.7760465713379, 0.1734159181112, 0.06910494161689, 0.04755592805025];

/// Prints the correlator of free quarks in a random gauge.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = Team::select(Selector::Auto)?; // the best OpenCL device, else the host
    let dims = Dims::new([4, 4, 4, 8])?;
    // A configuration of your own: `lattice_cl::io::read_gauge("conf.lime")?`.
    let gauge = random::gauge_transformation(dims, 1);
    let configuration = random::transform_links(&GaugeConfiguration::unit(dims), &gauge);

    let lattice = Lattice::new(&team, configuration.dims())?;
    let links = lattice.gauge::<f64>(&configuration, Boundary::antiperiodic_t())?;
    let dirac = Dirac::wilson(&links, Kappa(0.11))?;
    let mut pion = Contraction::new(Observable::Pion, dims, 3, 0); // along t, from t = 0
    for Column { spin, colour } in Column::all() {
        let source = lattice.point_source::<f64>([0, 0, 0, 0], spin, colour)?;
        let (solution, _) = cg(&dirac, &source, &CgParams::default().with_tol(1e-12))?;
        pion.add(&solution.to_host()?);
    }

    let correlator = pion.finish();
    println!("on {}", if team.is_host() { "the host".into() } else { team.labels().join(", ") });
    println!("t   C(t)             effective mass");
    for (t, (value, mass)) in correlator.values.iter().zip(correlator.effective_mass()).enumerate() {
        println!("{t}   {value:<14.10}   {}", mass.map_or("-".into(), |mass| format!("{mass:.6}")));
    }
    // Hadrons do not see the gauge.
    for (value, free) in correlator.values.iter().zip(FREE) {
        assert!((value - free).abs() <= 1e-9 * free, "{value} is not that of free quarks, {free}");
    }
    Ok(())
}
