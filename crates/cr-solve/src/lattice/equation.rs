//! The equation of a job, as options.

use super::links_output::help_on_configuration;
use lattice_cl::hadron::{LinkSmearing, Source, SpinorSmearing};
use lattice_cl::host::Reconstruction;
use lattice_cl::job::{Action, Configuration, Devices, Job, Method, SourceEntry, Task};
use lattice_cli::lattice::input::Input;
use std::path::PathBuf;

/// The linear system: an operator and a source.
#[derive(Debug, clap::Args)]
pub struct Equation {
    #[command(flatten)]
    operator: OperatorOptions,
    /// The source: point:x,y,z,t or another
    ///
    /// wall:T is 1 on a time slice, volume on all sites.
    /// wall:T,NX,NY,NZ has a momentum. Noise is z2, z4, u1 or z2xz2:SEED,HIT, then ,t=T for one time slice and
    /// ,part=K/N for the sites with x+y+z+t = K modulo N. exponential:x,y,z,t,A,P is e^(-A r^P) on a time slice,
    /// file:PATH has the columns of a file of propagators. Job files have sequential sources too.
    #[arg(long, default_value = "point:0,0,0,0")]
    source: Source,
    /// Smear the source in x, y, z: gaussian:W,N (width, steps) or wuppertal:ALPHA,N
    #[arg(long, value_name = "KIND:...", hide_short_help = true)]
    smear_source: Option<SpinorSmearing>,
    /// Smear the links of both smearings: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N
    ///
    /// Links in x, y, z with staples in space, unless directions follow, as in stout:0.1,3,xyzt.
    #[arg(long, value_name = "KIND:...", hide_short_help = true)]
    smear_links: Option<LinkSmearing>,
}

/// The operator: a gauge field, a quark mass, a boundary condition.
#[derive(Debug, clap::Args)]
pub struct OperatorOptions {
    #[arg(help = help_on_configuration())]
    pub file: PathBuf,
    #[command(flatten)]
    pub action: Action,
    /// Reals stored for each link: 18, or 12 or 8 if all links are in SU(3)
    ///
    /// Fewer reals are less to read for every hop.
    #[arg(long, value_name = "REALS", default_value = "18", hide_short_help = true)]
    pub links: Reconstruction,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    pub input: Input,
}

impl Equation {
    /// Returns a job on this equation, for a source of all spins and colours.
    pub fn job(&self, command: Task, method: &Method) -> Job {
        self.operator.job(command).with_sources(Some(self.source())).with_solver(method.clone())
    }

    /// Returns the source of a job, of all spins and colours.
    pub fn source(&self) -> SourceEntry {
        let Self { source, smear_source, smear_links, .. } = self;
        SourceEntry::default()
            .with_source(source.clone())
            .with_smear_source(*smear_source)
            .with_smear_links(*smear_links)
    }
}

impl OperatorOptions {
    /// Returns a job with this operator, for the default source and method.
    pub fn job(&self, command: Task) -> Job {
        Job::default()
            .with_command(command)
            .with_configuration(self.configuration())
            .with_action(self.action.clone())
            .with_devices(self.devices.clone())
    }

    /// Returns the gauge configuration of a job.
    fn configuration(&self) -> Configuration {
        let Input { input_format, dims, ignore_checksum, ignore_unitarity, signs_in_links } = self.input;
        Configuration::default()
            .with_file(Some(self.file.clone()))
            .with_input_format(input_format)
            .with_dims(dims)
            .with_ignore_checksum(ignore_checksum)
            .with_ignore_unitarity(ignore_unitarity)
            .with_signs_in_links(signs_in_links)
            .with_links(self.links)
    }
}
