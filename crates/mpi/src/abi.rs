//! The constants in which MPI libraries differ.
//!
//! Handles are 32-bit integers in MPICH and pointers elsewhere. Both are passed in one register, so
//! a word stands for either.

use std::ffi::c_int;

/// A communicator, a type or a request of any library.
pub type Handle = usize;

/// The names that a library gives its predefined objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// The ABI of chapter 20 of MPI 5.0.
    Standard,
    /// MPICH's, which its descendants have kept since 2013.
    Mpich,
    /// Open MPI's: the addresses of its variables.
    OpenMpi,
}

/// The values of constants in one ABI.
#[derive(Clone, Copy, Debug)]
pub struct Constants {
    /// MPI_COMM_WORLD
    pub world: Handle,
    /// MPI_BYTE
    pub byte: Handle,
    /// MPI_INFO_NULL
    pub no_info: Handle,
    /// MPI_COMM_TYPE_SHARED
    pub shared_memory: c_int,
    /// MPI_THREAD_SERIALIZED
    pub serialized: c_int,
    /// MPI_STATUS_IGNORE
    pub no_status: usize,
}

impl Abi {
    /// Tells the ABI by the symbols that a library has.
    ///
    /// `symbol` gives the address of one, 0 if it is not there.
    pub fn of(symbol: impl Fn(&str) -> usize) -> Self {
        if symbol("ompi_mpi_comm_world") != 0 {
            Abi::OpenMpi
        } else if symbol("MPI_Abi_get_version") != 0 && symbol("MPIR_Dup_fn") == 0 {
            // MPICH's own library has the functions of the standard ABI too, with its own handles.
            Abi::Standard
        } else {
            Abi::Mpich
        }
    }

    /// Its constants; some of Open MPI's are addresses of symbols.
    pub fn constants(self, symbol: impl Fn(&str) -> usize) -> Constants {
        match self {
            Abi::Standard => Constants {
                world: 0x101,
                byte: 0x247,
                no_info: 0x130,
                shared_memory: 221,
                serialized: 2048,
                no_status: 0,
            },
            Abi::Mpich => Constants {
                world: 0x4400_0000,
                byte: 0x4c00_010d,
                no_info: 0x1c00_0000,
                shared_memory: 1,
                serialized: 2,
                no_status: 1,
            },
            Abi::OpenMpi => Constants {
                world: symbol("ompi_mpi_comm_world"),
                byte: symbol("ompi_mpi_byte"),
                no_info: symbol("ompi_mpi_info_null"),
                shared_memory: 0,
                serialized: 2,
                no_status: 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_by_their_symbols() {
        let of = |names: &[&str]| Abi::of(|name| usize::from(names.contains(&name)));
        assert_eq!(of(&["ompi_mpi_comm_world", "ompi_mpi_byte"]), Abi::OpenMpi);
        assert_eq!(of(&["MPI_Abi_get_version"]), Abi::Standard);
        assert_eq!(of(&["MPI_Abi_get_version", "MPIR_Dup_fn"]), Abi::Mpich);
        assert_eq!(of(&[]), Abi::Mpich);
    }
}
