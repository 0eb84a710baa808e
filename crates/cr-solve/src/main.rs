//! The program `cr-solve`: lattice QCD on any OpenCL device and on none.

use std::process::ExitCode;

fn main() -> ExitCode {
    cr_solve::main()
}
