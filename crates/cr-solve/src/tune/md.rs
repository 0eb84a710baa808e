//! `tune md`: pair forces of argon, by the formula and a table of the derivative.

use super::search::{Budget, Search};
use lattice_bench::md;
use lattice_cli::choices::is_wanted;
use lattice_cli::failure::Failure;
use lattice_cli::precisions;
use lattice_md::{Precision, tune_pairs};

/// Options of pair forces.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Numbers of atoms
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', default_value = "500,4000,32000")]
    sizes: Vec<usize>,
    /// Precisions: double, single (or d, s) or all; single is mixed
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_reals())]
    precision: Vec<String>,
    #[command(flatten)]
    pub budget: Budget,
}

impl Arguments {
    /// Tunes the kernels of pairs.
    ///
    /// # Errors
    /// When the device fails.
    pub fn tune(&self, search: &mut Search<'_>) -> Result<(), Failure> {
        let precisions = [("double", Precision::Double), ("single", Precision::Mixed)].into_iter();
        let precisions: Vec<_> = precisions.filter(|(name, _)| is_wanted(&self.precision, name)).collect();
        let [formula, table] = md::potentials()?;
        search.progress.plan(2 * self.sizes.len() * precisions.len());
        for &atoms in &self.sizes {
            let system = md::crystal(md::cells(atoms))?;
            for &(_, precision) in &precisions {
                for potential in [&formula, &table] {
                    let options = md::options(precision);
                    let (key, shipped, found) =
                        tune_pairs(search.device, &system, potential, options, self.budget.of_kernel())?;
                    search.report.note(&key);
                    search.add(&key, &shipped, &found);
                }
            }
        }
        Ok(())
    }
}
