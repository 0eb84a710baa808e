//! The launcher that started this process as one of several.

use std::env;
use std::fmt;

/// The environment variable that names the MPI library to open.
///
/// It is a path, or a name that the system's loader knows.
pub const LIBRARY_VARIABLE: &str = "LATTICE_CL_MPI";

/// The environment variable with the patience of ranks, in seconds.
///
/// 0 stands for no end.
pub const PATIENCE_VARIABLE: &str = "LATTICE_CL_MPI_PATIENCE";

/// The family of a launcher, which tells the library that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and its descendants: Intel MPI, Cray MPICH and MVAPICH.
    Mpich,
    /// A resource manager, which starts processes of any library.
    Manager,
}

/// The launcher of this process, which is one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its family.
    pub family: Family,
    /// The number of processes; `None` if only the library knows.
    pub size: Option<usize>,
    /// The number of this one.
    pub rank: usize,
    /// The variable that told these numbers.
    variable: &'static str,
    /// The number of processes on this machine, if the launcher tells it.
    on_machine: Option<usize>,
}

/// The variables of each launcher: number of processes, and number of this one.
///
/// A launcher within a job of a resource manager comes before it.
const VARIABLES: [(Family, &str, &str); 5] = [
    (Family::OpenMpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    (Family::Mpich, "PMI_SIZE", "PMI_RANK"),
    (Family::Manager, "FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
    (Family::Manager, "PALS_SIZE", "PALS_RANKID"),
    // Not SLURM_NTASKS: a batch script has it too, and may start a single process.
    (Family::Manager, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// Variables with the number of processes on this machine.
const ON_MACHINE: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// The variable of a launcher that only has PMIx, such as `prterun`: the number of this process.
///
/// No variable has the number of processes.
const PMIX_RANK: &str = "PMIX_RANK";

impl Launcher {
    /// Returns the launcher of this process, or `None` if the process is alone.
    pub fn of_this_process() -> Option<Self> {
        Self::by(|name| env::var(name).ok())
    }

    /// Finds the launcher by the values of variables.
    fn by(value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| value(name)?.trim().parse::<usize>().ok();
        let found = VARIABLES
            .into_iter()
            .find_map(|(family, size, rank)| Some((family, size, number(size)?, number(rank)?)));
        let on_machine = ON_MACHINE.into_iter().find_map(number);
        if let Some((family, variable, size, rank)) = found {
            return (size > 1).then_some(Self { family, size: Some(size), rank, variable, on_machine });
        }
        let rank = value("PMIX_NAMESPACE").and_then(|_| number(PMIX_RANK))?;
        Some(Self { family: Family::OpenMpi, size: None, rank, variable: PMIX_RANK, on_machine: None })
    }

    /// Tells whether the launcher says that all processes are on this machine.
    pub fn is_on_one_machine(&self) -> bool {
        self.size.is_some() && self.on_machine == self.size
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.family {
            Family::OpenMpi if self.size.is_none() => "a launcher with PMIx",
            Family::OpenMpi => "the launcher of Open MPI",
            Family::Mpich => "a launcher of the MPICH family",
            Family::Manager => "a resource manager",
        };
        write!(f, "{name} ({}={})", self.variable, self.size.unwrap_or(self.rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(variables: &[(&str, &str)]) -> Option<Launcher> {
        let value =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string());
        Launcher::by(value)
    }

    #[test]
    fn a_process_alone_has_no_launcher() {
        assert_eq!(launcher(&[]), None);
        assert_eq!(launcher(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")]), None);
        // A script of a job of 8 tasks.
        assert_eq!(launcher(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(launcher(&[("PMI_SIZE", "many"), ("PMI_RANK", "0")]), None);
        assert_eq!(launcher(&[("PMI_SIZE", "2")]), None);
    }

    #[test]
    fn launchers_are_told_by_their_variables() {
        let found = launcher(&[("PMI_SIZE", "4"), ("PMI_RANK", "3")]).unwrap();
        assert_eq!((found.family, found.size, found.rank), (Family::Mpich, Some(4), 3));
        assert_eq!(found.to_string(), "a launcher of the MPICH family (PMI_SIZE=4)");
        // mpirun within a job of Slurm.
        let slurm = [("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "1")];
        assert_eq!(launcher(&slurm).map(|found| (found.family, found.rank)), Some((Family::Manager, 1)));
        let both = [("OMPI_COMM_WORLD_SIZE", "8"), ("OMPI_COMM_WORLD_RANK", "5"), slurm[0], slurm[1]];
        assert_eq!(launcher(&both).map(|found| (found.family, found.size)), Some((Family::OpenMpi, Some(8))));
    }

    #[test]
    fn a_launcher_with_pmix_alone_leaves_the_size_to_the_library() {
        let pmix = [("PMIX_RANK", "1"), ("PMIX_NAMESPACE", "prterun-1@1")];
        let found = launcher(&pmix).unwrap();
        assert_eq!((found.family, found.size, found.rank), (Family::OpenMpi, None, 1));
        assert_eq!(launcher(&pmix[..1]), None);
        // A launcher that tells more is believed.
        let alone = [pmix[0], pmix[1], ("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")];
        assert_eq!(launcher(&alone), None);
    }

    #[test]
    fn one_machine_is_known_by_its_number_of_processes() {
        let of = |local: &str| {
            let size = [("PMI_SIZE", "4"), ("PMI_RANK", "3"), ("MPI_LOCALNRANKS", local)];
            launcher(&size).map(|found| found.is_on_one_machine())
        };
        assert_eq!((of("4"), of("2"), of("")), (Some(true), Some(false), Some(false)));
    }
}
