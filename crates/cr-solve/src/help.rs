//! The parts of help beside the options: examples, conventions, the environment.

use clap::{ColorChoice, Command};
use lattice_cl::compute::mpi::PATIENCE_VARIABLE;
use lattice_cl::compute::{NO_CACHE_VARIABLE, PEER_VARIABLE, TUNING_FILE_VARIABLE, discover};
use lattice_cl::operator::SiteTerm;
use lattice_cli::provenance::COMMIT;
use lattice_cli::report::{colour_is_unwanted, is_dumb};
use std::ffi::OsString;

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Command lines to copy, for every command. A test parses all of them.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "cr-solve",
        &[
            "cr-solve generate --dims 8x8x8x16 --beta 6 --sweeps 60 -o conf.ildg",
            "cr-solve spectrum conf.ildg --kappa 0.15 --plot pion.svg",
            "cr-solve devices",
        ],
    ),
    ("cr-solve devices", &["cr-solve devices", "cr-solve devices --json", "cr-solve devices --rates"]),
    (
        "cr-solve generate",
        &[
            "cr-solve generate --dims 8x8x8x16 --beta 6 --sweeps 60 -o conf.ildg",
            "cr-solve generate --start conf.ildg --beta 6 --sweeps 1000 --every 100 --seed 2 -o run.ildg",
        ],
    ),
    (
        "cr-solve info",
        &["cr-solve info conf.ildg", "cr-solve info conf.dat --dims 8x8x8x16 --json", "cr-solve info A.mtx"],
    ),
    (
        "cr-solve convert",
        &[
            "cr-solve convert conf.ildg conf.nersc",
            "cr-solve convert conf.lime small.ildg --precision single",
        ],
    ),
    (
        "cr-solve measure",
        &[
            "cr-solve measure conf.ildg --energy --charge",
            "cr-solve measure conf.ildg --wilson-loops 4x6 --ape 0.5,20 --spatial --json",
        ],
    ),
    (
        "cr-solve smear",
        &[
            "cr-solve smear conf.ildg smeared.ildg --stout 0.1,3",
            "cr-solve smear conf.ildg smeared.ildg --ape 0.6,10 --spatial",
            "cr-solve smear conf.ildg smeared.ildg --hyp 0.75,0.6,0.3,1",
        ],
    ),
    (
        "cr-solve flow",
        &[
            "cr-solve flow conf.ildg --action wilson --time 4 --step 0.02",
            "cr-solve flow conf.ildg flowed.ildg --action symanzik --time 1 --every 0.1 --json",
        ],
    ),
    (
        "cr-solve fix",
        &[
            "cr-solve fix conf.ildg landau.ildg --gauge landau",
            "cr-solve fix conf.ildg coulomb.ildg --gauge coulomb --starts 4 --fourier",
        ],
    ),
    (
        "cr-solve invert",
        &[
            "cr-solve invert conf.ildg --kappa 0.15",
            "cr-solve invert conf.ildg --mass -0.6 --source point:4,4,4,0 --spin 1 --colour 2 -o solution.lime",
            "cr-solve invert conf.ildg --kappa 0.15 --solver cr --plot residual.svg --device host",
            "cr-solve invert conf.ildg --kappa 0.157 --solver cg --deflate low.modes",
        ],
    ),
    (
        "cr-solve spectrum",
        &[
            "cr-solve spectrum conf.ildg --kappa 0.15 --plot pion.svg",
            "cr-solve spectrum conf.ildg --kappa 0.15 --json > pion.json",
            "cr-solve spectrum conf.ildg --kappa 0.15 --results result.h5",
            "cr-solve spectrum conf.ildg --kappa 0.15 --hadrons mesons,octet --momenta 2 --json > hadrons.json",
            "cr-solve spectrum conf.ildg --kappa 0.155 -o propagator.lime --checkpoint job --resume-if-present",
        ],
    ),
    (
        "cr-solve modes",
        &[
            "cr-solve modes conf.ildg --kappa 0.157 --count 64 --output low.modes",
            "cr-solve modes conf.ildg --kappa 0.157 --count 64 --output low.modes --checkpoint search --resume-if-present",
        ],
    ),
    (
        "cr-solve solve",
        &[
            "cr-solve solve poisson3d:32",
            "cr-solve solve A.mtx --rhs b.mtx -o x.mtx --plot residual.svg",
            "cr-solve solve A.mtx.gz --method cg --preconditioner amg --tol 1e-8 --json",
            "cr-solve solve dense.npy --rhs B.npy --method lu --factor-precision single -o X.npy",
            "cr-solve solve dense.npy --method lu -o X.npy --checkpoint lu.state --resume-if-present",
        ],
    ),
    ("cr-solve least-squares", &["cr-solve least-squares A.npy --rhs b.npy -o x.npy"]),
    (
        "cr-solve eigen",
        &[
            "cr-solve eigen A.npy --vectors V.npy",
            "cr-solve eigen A.npy --range 0:10 --precision single --json",
        ],
    ),
    (
        "cr-solve svd",
        &["cr-solve svd A.npy --u U.npy --vt Vt.npy", "cr-solve svd A.mtx --method jacobi --json"],
    ),
    (
        "cr-solve run",
        &[
            "cr-solve run --example > job.toml",
            "cr-solve run job.toml --json",
            "cr-solve run job.toml --set action.kappa=0.145 --set solver.tol=1e-8",
            "cr-solve run --schema > job.schema.json",
        ],
    ),
    (
        "cr-solve plan",
        &[
            "cr-solve plan job.toml",
            "cr-solve plan job.toml --dims 32x32x32x64 --device 0.0 --like result.h5",
        ],
    ),
    (
        "cr-solve reproduce",
        &[
            "cr-solve reproduce result.h5",
            "cr-solve reproduce result.h5 --device host --configuration conf.ildg",
        ],
    ),
    (
        "cr-solve analyse",
        &[
            "cr-solve analyse result-1.h5 result-2.h5 --plot mass.svg",
            "cr-solve analyse result-1.h5 result-2.h5 --list",
            "cr-solve analyse result-1.h5 result-2.h5 --only nucleon --plot nucleon.svg",
            "cr-solve analyse result-1.h5 result-2.h5 result-3.h5 --table masses.tex",
            "cr-solve analyse flow-1.json flow-2.json --errors gamma",
            "cr-solve analyse --series plaquette.txt --plot tau.svg",
            "cr-solve analyse --series run-1.csv run-2.csv --column plaquette --numbers trajectory --json",
        ],
    ),
    (
        "cr-solve poisson",
        &[
            "cr-solve poisson density.cube --output potential.cube --plot potential.svg",
            "cr-solve poisson rho.npy --cell cell.txt --output v.npy --precision single --json",
            "cr-solve poisson density.cube --boundary isolated",
            "cr-solve poisson rho.npz --verify potential",
        ],
    ),
    (
        "cr-solve xc",
        &[
            "cr-solve xc water.molden --functional pbe --grid 75x302",
            "cr-solve xc basis.npz --density dm.npy --points grid.npz --matrix vxc.npy --json",
            "cr-solve xc water.npz --verify",
        ],
    ),
    (
        "cr-solve md",
        &[
            "cr-solve md forces argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5",
            "cr-solve md run argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --shift force --step 2 --steps 10000",
        ],
    ),
    (
        "cr-solve md forces",
        &[
            "cr-solve md forces argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --forces f.npy --json",
            "cr-solve md forces argon.prmtop argon.inpcrd --cutoff 8.5 --mode derivative --table 4096",
            "cr-solve md forces nacl.xyz --potential morse.table --pair Na-Na=PAIR_11 --pair Na-Cl=PAIR_12 --pair Cl-Cl=PAIR_22 --cutoff 8",
        ],
    ),
    (
        "cr-solve md run",
        &[
            "cr-solve md run argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --shift force --step 2 --steps 10000 --trajectory out.xyz",
            "cr-solve md run argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --step 2 --steps 100000 --checkpoint state --plot energy.svg",
        ],
    ),
    (
        "cr-solve md table",
        &[
            "cr-solve md table morse.table --section PAIR_12 --samples 512,4096,32768 --device all --plot errors.svg",
            "cr-solve md table morse.table --section PAIR_12 --spacing r,r2 --interpolation linear,cubic",
        ],
    ),
    (
        "cr-solve tune",
        &[
            "cr-solve tune --device 0.0",
            "cr-solve tune sparse poisson3d:64 --rhs 1,8",
            "cr-solve tune --list",
        ],
    ),
    ("cr-solve tune stencil", &["cr-solve tune stencil --dims 32x32x32x64 --rhs 1,8"]),
    ("cr-solve tune gemm", &["cr-solve tune gemm --sizes 1024,8192x32x8192"]),
    ("cr-solve tune fft", &["cr-solve tune fft --sizes 128x128x128,251"]),
    ("cr-solve tune md", &["cr-solve tune md --sizes 4000,256000"]),
    ("cr-solve tune sparse", &["cr-solve tune sparse poisson3d:64 A.mtx"]),
    ("cr-solve bench", &["cr-solve bench all --quick", "cr-solve bench all --json > result.json"]),
    ("cr-solve bench all", &["cr-solve bench all --quick", "cr-solve bench all --report page.html"]),
    ("cr-solve bench bandwidth", &["cr-solve bench bandwidth --device 0.0"]),
    ("cr-solve bench blas", &["cr-solve bench blas --device 0.0"]),
    ("cr-solve bench gemm", &["cr-solve bench gemm --sizes 1024,2048"]),
    (
        "cr-solve bench factor",
        &["cr-solve bench factor --routines potrf,getrf --sizes 1024,2048 --precision d"],
    ),
    (
        "cr-solve bench md",
        &["cr-solve bench md --atoms 4000,32000 --mode direct,derivative --list cells,all-pairs"],
    ),
    ("cr-solve bench poisson", &["cr-solve bench poisson --sizes 128,251x251x251 --precision s,d"]),
    ("cr-solve bench sums", &["cr-solve bench sums --count 1,3,7"]),
    ("cr-solve bench fft", &["cr-solve bench fft --sizes 128,60x60x60,251 --kind c2c,r2c --precision s,d"]),
    (
        "cr-solve bench xc",
        &["cr-solve bench xc water.molden --grid 75x302 --cube 3,5,8 --precision double,mixed"],
    ),
    ("cr-solve bench sparse", &["cr-solve bench sparse A.mtx --rhs 1,8 --solve"]),
    ("cr-solve bench stencil", &["cr-solve bench stencil --dims 16x16x16x32"]),
    ("cr-solve bench solver", &["cr-solve bench solver --json"]),
    ("cr-solve bench measure", &["cr-solve bench measure --dims 32x32x32x64"]),
    ("cr-solve bench ladder", &["cr-solve bench ladder"]),
    ("cr-solve bench compare", &["cr-solve bench compare before.json after.json"]),
    ("cr-solve bench show", &["cr-solve bench show result.json --csv"]),
    (
        "cr-solve completions",
        &["cr-solve completions --install", "cr-solve completions bash > cr-solve.bash"],
    ),
    ("cr-solve man", &["cr-solve man target/man"]),
];

/// Returns the conventions of `invert` and `spectrum` for solutions and correlators.
fn conventions() -> String {
    let of_terms = SiteTerm::formulas().map(|(key, formula)| {
        let option = format!("--{key}");
        format!("  {option:<9} {}\n", formula.replace('\n', "\n            "))
    });
    format!(
        "\
Conventions:
  spinors   gamma matrices of DeGrand and Rossi
  --kappa   M = 1 - kappa H
  --mass    M = (4 + m) - H/2; solutions are those of kappa = 1/(8 + 2m) times 2 kappa
{}  --anisotropy, --nu   hops in space have the weight w = nu/xi0, and M has 1 + 3w + m for 4 + m
  --theta   psi(x + L) = s exp(i pi theta) psi(x) in each direction, s the sign of --boundary
  C(n)      the pion correlator: |M^-1 b|^2 summed over 12 sources and the slice at distance n",
        of_terms.collect::<String>()
    )
}

/// Returns the help on environment variables.
fn environment() -> String {
    format!(
        "Environment:
  {NO_CACHE_VARIABLE}    not empty: as --no-cache
  {TUNING_FILE_VARIABLE}  the file of tuned kernel variants
  {PEER_VARIABLE}         how devices reach each other's memory: off, or a list of cuda,
                          cuda-host, amd, host, host-flags (default: the first but
                          cuda-host that works)
  {PATIENCE_VARIABLE}
                          seconds that ranks of MPI wait for one without a sign of life
  XDG_CACHE_HOME          where compiled kernels are kept, in lattice-cl/ there (default ~/.cache)
  RAYON_NUM_THREADS       threads of the host (default: as many as processors)
  NO_COLOR, TERM=dumb     no colour, and with TERM=dumb no moving bars"
    )
}

const EXIT_STATUS: &str = "Exit status:
  0    fine
  1    it ran but failed: no convergence, a mismatch of checksum or plaquette
  2    wrong usage
  3    unreadable or invalid input, or unwritable output
  4    no device, or a device failed
  130  ended by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP";

/// Returns the command line with its complete help.
///
/// `arguments` decide on colours. Only `--version` looks up the details of the version.
pub fn complete(command: Command, arguments: &[OsString]) -> Command {
    let version = arguments.iter().any(|word| word == "--version");
    let command = if version { command.long_version(version_text()) } else { command };
    extended(command.color(colour(arguments)), "")
}

/// Adds the text after the options, for a command and its subcommands.
fn extended(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name()).trim().to_owned();
    let examples = EXAMPLES.iter().find(|(name, _)| *name == path).map_or(&[][..], |(_, lines)| lines);
    let mut text = String::new();
    if !examples.is_empty() {
        text = format!("Examples:\n  {}", examples.join("\n  "));
    }
    let more = if above.is_empty() {
        format!(
            "{}\n\n{EXIT_STATUS}\n\nDocumentation: {REPOSITORY}\nFaults and questions: {REPOSITORY}/issues",
            environment()
        )
    } else {
        let conventions = match command.get_name() {
            "invert" | "spectrum" => conventions() + "\n\n",
            "run" => format!("A job file:\n\n{}\n", indented(super::job_file::EXAMPLE)),
            _ => String::new(),
        };
        format!(
            "{conventions}Environment and exit status: cr-solve --help\nFaults and questions: {REPOSITORY}/issues"
        )
    };
    let long = format!("{text}\n\n{more}").trim().to_owned();
    let short = format!("{text}\n\nAll options: --help").trim().to_owned();
    command.after_help(short).after_long_help(long).mut_subcommands(|command| extended(command, &path))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns the choice of colours for errors of usage.
///
/// Such errors occur before the options are parsed.
fn colour(arguments: &[OsString]) -> ColorChoice {
    let words: Vec<_> =
        arguments.iter().map_while(|word| word.to_str().filter(|word| *word != "--")).collect();
    let given = words.iter().enumerate().rev().find_map(|(place, word)| {
        let next = words.get(place + 1).unwrap_or(&"");
        match (*word, word.strip_prefix("--color=").unwrap_or(next)) {
            ("--no-color", _) | (_, "never") if is_about_colour(word) => Some(ColorChoice::Never),
            (_, "always") if is_about_colour(word) => Some(ColorChoice::Always),
            _ => None,
        }
    });
    let unwanted = is_dumb() || colour_is_unwanted();
    given.unwrap_or(if unwanted { ColorChoice::Never } else { ColorChoice::Auto })
}

fn is_about_colour(word: &str) -> bool {
    matches!(word, "--color" | "--no-color") || word.starts_with("--color=")
}

/// Returns version, commit, features and OpenCL platforms.
fn version_text() -> String {
    let commit = COMMIT.unwrap_or("unknown");
    let features = if cfg!(feature = "faer") { "faer" } else { "none" };
    let found = discover();
    let opencl = match &found.absence {
        Some(absence) => absence.to_string(),
        None => {
            let mut platforms: Vec<_> =
                found.devices.iter().map(|device| device.info.platform.clone()).collect();
            platforms.dedup();
            {
                let count = found.devices.len();
                let noun = if count == 1 { "device" } else { "devices" };
                format!("{} ({count} {noun})", platforms.join(", "))
            }
        }
    };
    format!("{}\ncommit: {commit}\nfeatures: {features}\nOpenCL: {opencl}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, parse, prepared};
    use clap::CommandFactory;

    fn all(command: &Command, above: &str, found: &mut Vec<String>) {
        let path = format!("{above} {}", command.get_name()).trim().to_owned();
        command.get_subcommands().for_each(|command| all(command, &path, found));
        found.push(path);
    }

    #[test]
    fn every_command_has_examples_and_these_are_valid() {
        let mut commands = Vec::new();
        all(&Program::command(), "", &mut commands);
        for command in &commands {
            let examples = EXAMPLES.iter().find(|(name, _)| name == command);
            let (_, lines) = examples.unwrap_or_else(|| panic!("{command} has no example"));
            for line in *lines {
                assert!(line.starts_with(command.as_str()), "{line}");
                let words = line.split_whitespace().take_while(|word| *word != ">");
                if let Err(error) = parse(&prepared(words.map(OsString::from))) {
                    panic!("{line}: {error}");
                }
            }
        }
        assert_eq!(commands.len(), EXAMPLES.len(), "examples of commands that are gone");
    }

    #[test]
    fn colours_are_decided_before_parsing() {
        let choice = |line: &str| colour(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in
            ["p --nonsense --color never", "p --color=never x", "p --no-color", "p --color always --no-color"]
        {
            assert_eq!(choice(line), ColorChoice::Never, "{line}");
        }
        for line in ["p --color always", "p --no-color --color=always"] {
            assert_eq!(choice(line), ColorChoice::Always, "{line}");
        }
        assert_ne!(choice("p -- --color always"), ColorChoice::Always);
        assert_ne!(choice("p --source always"), ColorChoice::Always);
    }

    #[test]
    fn short_help_is_short() {
        let mut command = complete(Program::command(), &[]);
        command.build();
        for name in ["invert", "spectrum", "generate"] {
            let text = command.find_subcommand_mut(name).unwrap().render_help().to_string();
            assert!(text.lines().count() <= 45, "{} lines: {text}", text.lines().count());
        }
        let text = command.find_subcommand_mut("invert").unwrap().render_help().to_string();
        let place = |option: &str| text.find(option).unwrap_or_else(|| panic!("{option} is not in {text}"));
        assert!(place("--kappa") < place("--solver") && place("--solver") < place("--output"), "{text}");
    }
}
