//! `tune fft`: Fourier transforms, by their axes.

use super::search::{Budget, Search, size_of_text};
use lattice_bench::fft;
use lattice_cl::compute::Device;
use lattice_cl::linalg::fft::{FftError, FftKind, Shape, TunedFft, tune_fft};
use lattice_cl::tuning::RenewError;
use lattice_cli::choices::{is_wanted, word};
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use std::time::Duration;

/// Options of transforms.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// One to four extents each [default: those of bench fft]
    ///
    /// One axis stands for all of its length.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',')]
    sizes: Vec<String>,
    /// Precisions: double, single (or d, s) or all
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Complex to complex, real to complex, complex to real
    #[arg(long, value_parser = word::<FftKind>(), value_name = "KIND,…", value_delimiter = ',', default_value = "c2c,r2c,c2r")]
    kind: Vec<FftKind>,
    #[command(flatten)]
    pub budget: Budget,
}

type TuneFft = fn(&Device, &Shape, FftKind, Duration) -> Result<Vec<TunedFft>, RenewError<FftError>>;

impl Arguments {
    /// Tunes the axes of transforms, each length and kind of lines once.
    ///
    /// # Errors
    /// When sizes are not those of transforms, there is no room for an array, or the device fails.
    pub fn tune(&self, search: &mut Search<'_>) -> Result<(), Failure> {
        let sizes = if self.sizes.is_empty() {
            fft::default_sizes(search.device.info().kind)
        } else {
            let sizes = self.sizes.iter().map(|text| size_of_text(text, str::parse::<fft::Extents>));
            sizes.collect::<Result<Vec<_>, _>>()?
        };
        let precisions: [(&str, TuneFft); 2] = [("single", tune_fft::<f32>), ("double", tune_fft::<f64>)];
        let precisions = precisions.into_iter().filter(|(name, _)| is_wanted(&self.precision, name));
        let precisions: Vec<_> = precisions.collect();
        // Rows and columns of each kind: at most as many as there are axes, and most axes are alike.
        search.progress.plan(2 * sizes.len() * precisions.len() * self.kind.len());
        for fft::Extents(extents) in &sizes {
            for (precision, tune) in &precisions {
                for &kind in &self.kind {
                    let points = extents.iter().fold(1_u128, |points, &n| points.saturating_mul(n as u128));
                    let need = Need { on_host: 0, on_device: points.saturating_mul(64) };
                    need.expect_room(format_args!("arrays of {points} points"), Some(search.device))?;
                    let text = extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                    search.report.note(format_args!("{precision}, {kind}, {text}"));
                    for TunedFft { key, shipped, found } in
                        tune(search.device, &Shape::new(extents), kind, self.budget.of_kernel())?
                    {
                        search.add(&key, &shipped, &found);
                    }
                }
            }
        }
        Ok(())
    }
}
