//! `tune gemm`: products of matrices.

use super::search::{Budget, Search, size_of_text};
use lattice_cl::compute::Device;
use lattice_cl::linalg::gemm::{Arithmetic, TunedGemm, tune_gemm};
use lattice_cl::linalg::{BlasError, Op};
use lattice_cl::tuning::RenewError;
use lattice_cli::choices::is_wanted;
use lattice_cli::extents::Extents;
use lattice_cli::failure::Failure;
use lattice_cli::precisions;
use num_complex::Complex;
use std::time::Duration;

/// Options of products.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// m, n and k of the products, N for NxNxN
    ///
    /// One product stands for all sizes up to the next powers of two.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', default_value = "1024")]
    sizes: Vec<String>,
    /// Precisions: double, single (or d, s) or all
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Which factors are transposed, in column-major order: nn, nt, tn, tt
    #[arg(long, value_name = "FORM,…", value_delimiter = ',', default_value = "nn", value_parser = ["nn", "nt", "tn", "tt"])]
    forms: Vec<String>,
    /// Elements are real, complex or all
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "all", value_parser = ["all", "real", "complex"])]
    elements: Vec<String>,
    /// Single precision as three products of TF32 parts, too
    #[arg(long)]
    three_tf32: bool,
    #[command(flatten)]
    pub budget: Budget,
}

type TuneProduct =
    fn(&Device, Arithmetic, [Op; 2], [usize; 3], Duration) -> Result<TunedGemm, RenewError<BlasError>>;

/// Products of one class.
struct Product {
    elements: String,
    extents: Extents,
    ops: [Op; 2],
    arithmetic: Arithmetic,
    tune: TuneProduct,
}

impl Arguments {
    /// Tunes the products.
    ///
    /// # Errors
    /// When sizes are not those of products, or the device fails.
    pub fn tune(&self, search: &mut Search<'_>) -> Result<(), Failure> {
        let products = self.products()?;
        search.progress.plan(products.len());
        let mut announced = None;
        for Product { elements, extents, ops, arithmetic, tune } in &products {
            if announced.replace((elements, extents.0)) != Some((elements, extents.0)) {
                search.report.note(format_args!("{elements}, {extents}"));
            }
            let budget = self.budget.of_kernel();
            let TunedGemm { key, shipped, found } =
                tune(search.device, *arithmetic, *ops, extents.0, budget)?;
            search.add(&key, &shipped, &found);
        }
        Ok(())
    }

    /// Returns the requested products.
    ///
    /// There is one for each element type, arithmetic and pair of ops.
    ///
    /// # Errors
    /// If sizes are not those of products.
    fn products(&self) -> Result<Vec<Product>, Failure> {
        let elements: [(&str, &str, TuneProduct); 4] = [
            ("single", "real", tune_gemm::<f32>),
            ("double", "real", tune_gemm::<f64>),
            ("single", "complex", tune_gemm::<Complex<f32>>),
            ("double", "complex", tune_gemm::<Complex<f64>>),
        ];
        let sizes = self.sizes.iter().map(|text| size_of_text(text, Extents::parse));
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        let mut products = Vec::new();
        for (precision, kind, tune) in elements {
            if !is_wanted(&self.precision, precision) || !is_wanted(&self.elements, kind) {
                continue;
            }
            let mut arithmetics = vec![Arithmetic::Ieee];
            if self.three_tf32 && precision == "single" {
                arithmetics.push(Arithmetic::ThreeTf32);
            }
            for &extents in &sizes {
                for form in &self.forms {
                    let op = |place| if form.as_bytes()[place] == b't' { Op::T } else { Op::N };
                    let product = |&arithmetic: &Arithmetic| {
                        let (elements, ops) = (format!("{precision} {kind} elements"), [op(0), op(1)]);
                        Product { elements, extents, ops, arithmetic, tune }
                    };
                    products.extend(arithmetics.iter().map(product));
                }
            }
        }
        Ok(products)
    }
}
