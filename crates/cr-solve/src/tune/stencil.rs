//! `tune stencil`: the Wilson operator and its hop from parity to parity.

use super::search::{Budget, Search};
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{GaugeConfiguration, Reconstruction, random};
use lattice_cl::operator::{SiteTerm, Tuned, kernels_to_tune, tune_stencil};
use lattice_cl::scalar::{Half, Storage, StoragePrecision};
use lattice_cli::choices::word;
use lattice_cli::failure::Failure;
use lattice_cli::lattice::stencil_storages::StencilStorages;
use lattice_cli::memory::Need;
use std::sync::Arc;
use std::time::Duration;

/// Options of the stencil.
#[derive(Debug, clap::Args)]
// Arguments of tune alone have these, too.
#[group(skip)]
pub struct Arguments {
    #[command(flatten)]
    storages: StencilStorages,
    /// The operators
    ///
    /// Operators with a twisted mass use the variants of operators without one.
    #[arg(long, value_parser = word::<Operator>(), value_name = "OPERATOR,…")]
    #[arg(value_delimiter = ',', default_value = "wilson")]
    operator: Vec<Operator>,
    #[command(flatten)]
    pub budget: Budget,
}

/// Operators whose kernels have variants of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Wilson,
    Clover,
}

lattice_files::words! { Operator, "operator": Wilson = "wilson"; Clover = "clover" }

impl Operator {
    /// Returns the site term that kernels are tuned with.
    ///
    /// Blocks of random links stay positive with so small a coefficient.
    fn site_term(self) -> SiteTerm {
        match self {
            Self::Wilson => SiteTerm::Scalar,
            Self::Clover => SiteTerm::Clover { csw: 0.5, mu: 0.0 },
        }
    }
}

impl Arguments {
    /// Tunes the kernels in every storage asked for, on random links.
    ///
    /// # Errors
    /// When there is no room for links and spinors, or a device fails.
    pub fn tune(&self, search: &mut Search<'_>) -> Result<(), Failure> {
        let storages = &self.storages;
        let of_links: usize = storages.columns().map(kernels_to_tune).sum();
        let fields = storages.dims.len() * storages.precisions().count() * storages.reconstructions().count();
        search.progress.plan(self.operator.len() * fields * of_links);
        for &dims in &storages.dims {
            let need = Need::of_stencil(dims, storages.most_columns());
            let what = format_args!("random links and spinors of a lattice of {dims}");
            need.expect_room(what, Some(search.device))?;
            search.report.note(format_args!("{dims}: random links and spinors"));
            let configuration = Arc::new(random::hot(dims, 1));
            let lattice = Lattice::new(search.team, dims)?;
            for precision in storages.precisions() {
                let tune = match precision {
                    StoragePrecision::Double => tune_links::<f64>,
                    StoragePrecision::Single => tune_links::<f32>,
                    StoragePrecision::Half => tune_links::<Half>,
                };
                for links in storages.reconstructions() {
                    for &operator in &self.operator {
                        for sources in storages.columns() {
                            let kernels = (links, operator, sources);
                            for tuned in tune(&lattice, &configuration, kernels, self.budget.of_kernel())? {
                                search.add(&tuned.key, &tuned.shipped, &tuned.found);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn tune_links<T: Storage>(
    lattice: &Lattice,
    configuration: &Arc<GaugeConfiguration>,
    (reconstruction, operator, sources): (Reconstruction, Operator, usize),
    budget: Duration,
) -> Result<Vec<Tuned>, Failure> {
    let links = lattice.gauge_in::<T>(configuration, Boundary::antiperiodic_t(), reconstruction)?;
    let links = links.with_clover(Arc::clone(configuration))?;
    Ok(tune_stencil(&links, operator.site_term(), sources, budget)?)
}
