//! `cr-solve measure`: observables of a gauge configuration.

use super::fingerprint::Configuration;
use super::links_output::help_on_configuration;
use super::smearing::SmearingOptions;
use lattice_cl::compute::Team;
use lattice_cl::gauge::{
    Energy, Plaquette, TopologicalCharge, WilsonLoops, energy_and_charge, link_trace, plaquette,
    polyakov_loop, smear,
};
use lattice_cl::io::Format;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, align_right, plain_table, scientific};
use serde::Serialize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Instant, SystemTime};

/// The command line of `measure`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "FILE", help = help_on_configuration())]
    file: PathBuf,
    /// The topological charge, from clovers and improved by rectangles
    #[arg(long)]
    charge: bool,
    /// The action density: from clovers, from plaquettes, and improved by rectangles
    #[arg(long)]
    energy: bool,
    /// Wilson loops up to RxT, such as 4x8, and the static potential
    ///
    /// R counts links in space, T links in time. --ape, --stout and --hyp smear the loops' links in
    /// space only.
    #[arg(long, value_name = "RxT")]
    wilson_loops: Option<Sides>,
    /// With --wilson-loops: loops with both sides in space too, of up to R by R links
    #[arg(long, requires = "wilson_loops")]
    in_space: bool,
    /// With --wilson-loops: loops along the diagonals (1,1,0) and (1,1,1) of space too, of up to R steps
    #[arg(long, requires = "wilson_loops", hide_short_help = true)]
    off_axis: bool,
    /// Smear the links in time of --wilson-loops too
    #[arg(long, requires = "wilson_loops", hide_short_help = true)]
    smeared_time: bool,
    #[command(flatten)]
    smearing: SmearingOptions,
    /// The format that the file must have; without this option its content tells
    #[arg(long, value_name = "FORMAT", conflicts_with = "input_format")]
    format: Option<Format>,
    #[command(flatten)]
    input: Input,
}

/// The sides of the largest Wilson loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sides([usize; 2]);

impl FromStr for Sides {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides: Option<Vec<usize>> = text.split('x').map(|side| side.parse().ok()).collect();
        match sides.as_deref() {
            Some(&[r, t]) if r > 0 && t > 0 => Ok(Self([r, t])),
            _ => Err("two numbers of links are wanted, at least 1: for example 4x8".to_owned()),
        }
    }
}

#[derive(Serialize)]
struct MeasureResult {
    schema_version: u32,
    configuration: Configuration,
    provenance: Provenance,
    dims: [usize; 4],
    format: Format,
    /// The average of ⅓ Re tr P over all planes.
    plaquette: f64,
    plaquette_spatial: f64,
    plaquette_temporal: f64,
    link_trace: f64,
    polyakov: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    energy: Option<Energy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charge: Option<TopologicalCharge>,
    /// Smearing of the loops' links in space, and with `smeared_time` in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    smearing: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    smeared_time: bool,
    /// `[r − 1][t − 1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wilson_loops: Option<WilsonLoops>,
    /// Wilson loops with both sides in space, indexed like `wilson_loops`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wilson_loops_in_space: Option<WilsonLoops>,
    /// ln[W(r,t)/W(r,t+1)], `null` if a loop is not positive.
    #[serde(skip_serializing_if = "Option::is_none")]
    potential: Option<Vec<Vec<Option<f64>>>>,
    /// Loops along diagonals of space.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wilson_loops_off_axis: Vec<OffAxis>,
    seconds: f64,
}

/// Wilson loops whose bases have steps along diagonals.
#[derive(Serialize)]
struct OffAxis {
    /// One of the diagonals that are averaged.
    step: [usize; 3],
    /// `[n − 1][t − 1]`, n the number of steps.
    loops: WilsonLoops,
    /// Indexed like `loops`.
    potential: Vec<Vec<Option<f64>>>,
}

/// Reads a configuration and measures it.
///
/// # Errors
/// When the file cannot be read, is not valid or has another format. When loops are larger than the
/// lattice.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let (began, started) = (Instant::now(), SystemTime::now());
    let input = Input { input_format: arguments.format.or(arguments.input.input_format), ..arguments.input };
    let file = input.read(&arguments.file, report)?;
    let links = file.configuration;
    let smearing = arguments.smearing.params(report)?;
    if smearing.is_some() && arguments.wilson_loops.is_none() {
        let message = "smeared links are for Wilson loops alone, and none are asked for".to_owned();
        return Err(
            Failure::usage(message).hint("add --wilson-loops RxT, or measure what `cr-solve smear` writes")
        );
    }
    let spinner = report.spinner("measuring");
    let smeared = match &smearing {
        Some(params) => Some(smear(&links, params)?),
        None => None,
    };
    let space = smeared.as_ref().unwrap_or(&links);
    let time = if arguments.smeared_time { space } else { &links };
    let loops = match arguments.wilson_loops {
        Some(Sides(sides)) => Some(WilsonLoops::in_time(space, time, sides)?),
        None => None,
    };
    let in_space = match arguments.wilson_loops {
        Some(Sides([r, _])) if arguments.in_space => Some(WilsonLoops::in_space(space, [r, r])?),
        _ => None,
    };
    let off_axis = match arguments.wilson_loops {
        Some(Sides(sides)) if arguments.off_axis => {
            let of_step = |step: [usize; 3]| {
                let loops = WilsonLoops::off_axis(space, time, step.iter().sum(), sides)?;
                Ok::<_, Failure>(OffAxis { step, potential: loops.potential(), loops })
            };
            vec![of_step([1, 1, 0])?, of_step([1, 1, 1])?]
        }
        _ => Vec::new(),
    };
    let wanted = arguments.energy || arguments.charge;
    let (energy, charge) = wanted.then(|| energy_and_charge(&links)).unzip();
    let Plaquette { average, spatial, temporal } = plaquette(&links);
    let polyakov = polyakov_loop(&links);
    let outcome = MeasureResult {
        schema_version: 1,
        configuration: Configuration::new(&arguments.file, &links),
        provenance: Provenance::new(&Team::host(), started),
        dims: links.dims().extents(),
        format: file.format,
        plaquette: average,
        plaquette_spatial: spatial,
        plaquette_temporal: temporal,
        link_trace: link_trace(&links),
        polyakov: [polyakov.re, polyakov.im],
        energy: energy.filter(|_| arguments.energy),
        charge: charge.filter(|_| arguments.charge),
        potential: loops.as_ref().map(WilsonLoops::potential),
        smearing: smearing.map(|params| params.to_string()),
        smeared_time: arguments.smeared_time,
        wilson_loops: loops,
        wilson_loops_in_space: in_space,
        wilson_loops_off_axis: off_axis,
        seconds: began.elapsed().as_secs_f64(),
    };
    spinner.finish_and_clear();
    report.result(text(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn text(outcome: &MeasureResult) -> String {
    let digits = |value: f64| format!("{value:.12}");
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("configuration", outcome.configuration.fingerprint());
    table.line(
        "plaquette",
        format_args!(
            "{} (spatial {}, temporal {})",
            digits(outcome.plaquette),
            digits(outcome.plaquette_spatial),
            digits(outcome.plaquette_temporal)
        ),
    );
    table.line("link trace", digits(outcome.link_trace));
    let [re, im] = outcome.polyakov;
    let sign = if im.is_sign_negative() { "" } else { "+" };
    table.line("Polyakov loop", format_args!("{} {sign}{} i", digits(re), digits(im)));
    if let Some(Energy { clover, plaquette, improved }) = outcome.energy {
        let [clover, plaquette, improved] = [clover, plaquette, improved].map(digits);
        table.line("energy", format_args!("clover {clover}, plaquette {plaquette}, improved {improved}"));
    }
    if let Some(TopologicalCharge { clover, improved }) = outcome.charge {
        table.line("charge", format_args!("clover {}, improved {}", digits(clover), digits(improved)));
    }
    if let Some(smearing) = &outcome.smearing {
        table.line("loops", format_args!("of links smeared by {smearing}"));
    }
    let mut parts = vec![table.to_string()];
    if let (Some(loops), Some(potential)) = (&outcome.wilson_loops, &outcome.potential) {
        parts.push(table_of_loops("t", loops, Some(potential)));
    }
    if let Some(loops) = &outcome.wilson_loops_in_space {
        parts.push(table_of_loops("s", loops, None));
    }
    for OffAxis { step: [x, y, z], loops, potential } in &outcome.wilson_loops_off_axis {
        let table = table_of_loops("t", loops, Some(potential));
        parts.push(format!("r counts steps of ({x},{y},{z})\n{table}"));
    }
    parts.join("\n\n")
}

/// Returns a table with a line for each loop.
///
/// The second side is called t in time and s in space.
fn table_of_loops(
    second: &'static str,
    loops: &WilsonLoops,
    potential: Option<&Vec<Vec<Option<f64>>>>,
) -> String {
    let mut header = vec!["r".to_owned(), second.to_owned(), format!("W(r,{second})")];
    header.extend(potential.map(|_| "V(r,t)".to_owned()));
    let columns: Vec<usize> = (0..header.len()).collect();
    let mut table = plain_table(header);
    for (r, row) in loops.loops.iter().enumerate() {
        for (t, value) in row.iter().enumerate() {
            let mut cells = vec![(r + 1).to_string(), (t + 1).to_string(), scientific(*value, 10)];
            if let Some(potential) = potential {
                let value = potential[r].get(t).copied().flatten();
                cells.push(value.map_or("–".to_owned(), |value| format!("{value:.8}")));
            }
            table.add_row(cells);
        }
    }
    align_right(&mut table, &columns);
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_two_numbers() {
        assert_eq!("4x8".parse(), Ok(Sides([4, 8])));
        for text in ["4", "4x0", "4x8x2", "x", "-1x2", "4x8 "] {
            assert!(text.parse::<Sides>().is_err(), "{text}");
        }
    }
}
