//! The programs of `examples/`.
//!
//! Each program compares its numbers with values from elsewhere. Modules need no linking of their
//! own.

#[path = "../examples/batch.rs"]
mod batch;
#[path = "../examples/gemm.rs"]
mod gemm;
#[path = "../examples/operator.rs"]
mod operator;
#[path = "../examples/pion.rs"]
mod pion;
#[path = "../examples/poisson.rs"]
mod poisson;
#[path = "../examples/sparse.rs"]
mod sparse;

use std::collections::BTreeSet;
use std::path::Path;

macro_rules! programs {
    ($($name:ident),*) => {
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() -> Result<(), Box<dyn std::error::Error>> {
                $name::main()
            }
        )*
    };
}

programs!(batch, gemm, operator, pion, poisson, sparse);

#[test]
fn every_program_is_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let names = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let names: BTreeSet<_> =
        names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, PROGRAMS.iter().map(|&name| name.to_owned()).collect());
}
