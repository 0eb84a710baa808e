//! Tests of the program, a module for each group of commands.

mod common;
#[path = "../../../tests/common/launchers.rs"]
mod launchers;
#[path = "../../statistics/tests/synthetic.rs"]
mod synthetic;

mod cli_analyse;
mod cli_bench;
mod cli_bench_bandwidth;
mod cli_bench_report;
mod cli_dense;
mod cli_devices;
mod cli_files;
mod cli_gauge;
mod cli_hadrons;
mod cli_inputs;
mod cli_links;
mod cli_md;
mod cli_modes;
mod cli_outputs;
mod cli_plan;
mod cli_poisson;
mod cli_process;
mod cli_results;
mod cli_series;
mod cli_solve;
mod cli_sparse;
mod cli_spectral;
mod cli_tune;
mod cli_xc;
mod compile_workers;
mod examples_data;
mod ladder;
mod mpi;
