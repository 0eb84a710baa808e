//! The MPI launchers that are here: those of `scripts/setup-mpi.sh`, else those of the system.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A launcher with its library.
#[derive(Clone, Debug)]
pub struct Mpi {
    pub name: String,
    mpirun: PathBuf,
    /// The library that is opened; by default the one that is found for the launcher.
    library: Option<PathBuf>,
    is_open_mpi: bool,
}

/// How long a job of a test may take: much more than any needs, and less than a hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// MPICH and Open MPI, as far as they are here; says loudly what is not.
pub fn launchers() -> Vec<Mpi> {
    let kinds = [("mpich", "mpirun.mpich", false), ("openmpi", "mpirun.openmpi", true)];
    let found = kinds.into_iter().filter_map(|(name, command, is_open_mpi)| {
        let own = folder().join(name).join("bin/mpirun");
        let mpirun = own.exists().then_some(own).or_else(|| in_path(command));
        if mpirun.is_none() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: there is no {name}; run scripts/setup-mpi.sh");
        }
        Some(Mpi { name: name.to_owned(), mpirun: mpirun?, library: None, is_open_mpi })
    });
    found.collect()
}

/// Launchers, and MPICH's with its library of the standard ABI if that is here.
pub fn launchers_and_abis() -> Vec<Mpi> {
    let mut found = launchers();
    let library = folder().join("mpich/lib/libmpi_abi.so.1");
    let mpich = found.iter().find(|mpi| !mpi.is_open_mpi && library.exists()).cloned();
    found.extend(mpich.map(|mpich| Mpi { name: "standard ABI".to_owned(), ..mpich.with_library(&library) }));
    found
}

/// Where the script puts them: in the checkout, wherever cargo builds.
pub fn folder() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checkout = package.ancestors().find(|folder| folder.join("scripts/setup-mpi.sh").exists());
    checkout.unwrap_or(package).join("target/mpi")
}

fn in_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.exists())
}

impl Mpi {
    /// With this library.
    pub fn with_library(self, library: &Path) -> Self {
        Self { library: Some(library.to_owned()), ..self }
    }

    /// Starts so many ranks of a program, which is still to be added.
    pub fn command(&self, ranks: usize) -> Command {
        let mut command = Command::new(&self.mpirun);
        if self.is_open_mpi {
            // More ranks than cores, each with several threads; in containers, as root.
            command.args(["--oversubscribe", "--bind-to", "none"]);
            command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        }
        // Tests run beside each other, and compilers beside them.
        command.env("LATTICE_CL_MPI_PATIENCE", "100");
        command.args(["-n", &ranks.to_string()]);
        if let Some(library) = &self.library {
            command.env("LATTICE_CL_MPI", library);
        }
        command
    }
}

/// What a command prints and how it ends. One that hangs is a failure.
pub fn output_of(mut command: Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes).unwrap_or_default()
    };
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || reader(&mut pipes.0));
        let stderr = scope.spawn(move || reader(&mut pipes.1));
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begin.elapsed() > PATIENCE => {
                    child.kill().unwrap();
                    panic!("{command:?} hangs");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    })
}
