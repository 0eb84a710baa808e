//! The equation of a job, as options.

use super::arguments::{Input, help_on_configuration, reconstruction};
use super::method::MethodOptions;
use lattice_cl::geometry::{Boundary, Grid, Theta};
use lattice_cl::hadron::{LinkSmearing, Source, SpinorSmearing};
use lattice_cl::host::Reconstruction;
use lattice_cl::job::{Action, Configuration, Devices, FatLinks, Flavour, Job, OneOrMore, SourceEntry, Task};
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
    mass: QuarkMass,
    /// Boundary condition: antiperiodic (in t), periodic, or four signs for x,y,z,t
    #[arg(long, default_value = "antiperiodic", hide_short_help = true)]
    pub boundary: Boundary,
    /// Angles of a twisted boundary condition for x,y,z,t, in units of π: 0.2,0.4,0,0
    ///
    /// The phase e^{iπθ} multiplies the sign of --boundary, on the links that leave the last slice.
    #[arg(long, value_name = "X,Y,Z,T", hide_short_help = true)]
    pub theta: Option<Theta>,
    /// Reals stored for each link: 18, or 12 or 8 if all links are in SU(3)
    ///
    /// Fewer reals are less to read for every hop.
    #[arg(long, value_name = "REALS", default_value = "18", value_parser = reconstruction, hide_short_help = true)]
    pub links: Reconstruction,
    /// Twisted mass of the quark: M + 2iκμγ5
    ///
    /// With --mass M + iμγ5. This is the flavour up, with τ₃ = +1; --flavour down has the opposite sign.
    #[arg(long, value_name = "MU")]
    mu: Option<f64>,
    /// Flavour of --mu: up has +μ, down −μ; both solves for one after the other
    #[arg(long, alias = "flavor", value_name = "up|down|both", requires = "mu", hide_short_help = true)]
    flavour: Option<Flavour>,
    /// Coefficient of the clover term: M + κ c_sw T
    ///
    /// With --mass M + ½ c_sw T. T is made of the operator's links: those of --fat-links, if it is given.
    #[arg(long, value_name = "CSW")]
    csw: Option<f64>,
    /// Clover coefficient of spatial planes, before division by ξ0; replaces --csw
    #[arg(long, value_name = "C_R", requires = "clover_t", conflicts_with = "csw", hide_short_help = true)]
    clover_r: Option<f64>,
    /// Clover coefficient of planes with time; replaces --csw
    #[arg(long, value_name = "C_T", requires = "clover_r", conflicts_with = "csw", hide_short_help = true)]
    clover_t: Option<f64>,
    /// Bare anisotropy: hops in space have the weight ν/ξ0
    ///
    /// M has 1 + 3ν/ξ0 + m for 4 + m, m = 1/(2κ) − 4. The clover term of planes in space is divided by ξ0.
    #[arg(long, value_name = "XI0", hide_short_help = true)]
    anisotropy: Option<f64>,
    /// Bare velocity ν for --anisotropy [default: 1]
    #[arg(long, value_name = "NU", hide_short_help = true)]
    nu: Option<f64>,
    /// Smear the links of the operator: ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N
    ///
    /// All links, unless directions follow, as in stout:0.1,3,xyz. Sources are smeared with the links of the file.
    #[arg(long, value_name = "KIND:...", hide_short_help = true)]
    fat_links: Option<FatLinks>,
    /// Grid of devices in x, y, z, t: 1x1x2x2 [default: the least surface]
    #[arg(long, hide_short_help = true)]
    grid: Option<Grid>,
    /// Grid of MPI ranks in x, y, z, t: 1x1x1x2 [default: the least surface]
    #[arg(long, value_name = "GRID", hide_short_help = true)]
    ranks_grid: Option<Grid>,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct QuarkMass {
    /// The hopping parameter: M = 1 − κ H
    #[arg(long, value_name = "K")]
    kappa: Option<f64>,
    /// The bare mass instead of κ: M = (4 + m) − H/2
    ///
    /// Solutions are 2κ times the solutions of --kappa κ = 1/(8 + 2m).
    #[arg(long, value_name = "M")]
    mass: Option<f64>,
}

impl Equation {
    /// Returns a job on this equation, for a source of all spins and colours.
    pub fn job(&self, command: Task, method: &MethodOptions) -> Job {
        Job { sources: Some(self.source()), solver: method.method(), ..self.operator.job(command) }
    }

    /// Returns the source of a job, of all spins and colours.
    pub fn source(&self) -> SourceEntry {
        let Self { source, smear_source, smear_links, .. } = self;
        SourceEntry {
            source: source.clone(),
            smear_source: *smear_source,
            smear_links: *smear_links,
            ..SourceEntry::default()
        }
    }
}

impl OperatorOptions {
    /// Returns a job with this operator, for the default source and method.
    pub fn job(&self, command: Task) -> Job {
        Job {
            command,
            configuration: self.configuration(),
            action: self.action(),
            // The devices of the job are not among these options.
            devices: Devices { grid: self.grid, ranks_grid: self.ranks_grid, ..Devices::default() },
            ..Job::default()
        }
    }

    /// Returns the gauge configuration of a job.
    fn configuration(&self) -> Configuration {
        let Input { input_format, dims, ignore_checksum, ignore_unitarity, signs_in_links } = self.input;
        Configuration {
            file: Some(self.file.clone()),
            input_format,
            dims,
            ignore_checksum,
            ignore_unitarity,
            signs_in_links,
            links: self.links,
        }
    }

    /// Returns the operator of a job.
    fn action(&self) -> Action {
        let QuarkMass { kappa, mass } = self.mass;
        let (kappa, mass) = (kappa.map(OneOrMore::One), mass.map(OneOrMore::One));
        Action {
            kappa,
            mass,
            mu: self.mu,
            flavour: self.flavour,
            csw: self.csw,
            clover_r: self.clover_r,
            clover_t: self.clover_t,
            anisotropy: self.anisotropy,
            nu: self.nu,
            fat_links: self.fat_links,
            boundary: self.boundary,
            theta: self.theta,
        }
    }
}
