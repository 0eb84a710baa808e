//! Random vectors to start from.

use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, DeviceError, KernelFamily, KernelKey, Range};
use crate::host::multigrid as twins;
use crate::scalar::Real;
use num_complex::Complex;

const RANDOM: KernelFamily =
    KernelFamily::new("multigrid_random", &[include_str!("../../cl/multigrid/random.cl")]);

/// The key of the random numbers of a set-up.
const SEED: u64 = 0x6d75_6c74_6967_7269;

/// Reals that one work-item makes.
const REALS_OF_BLOCK: usize = 4;

/// Random numbers on sites, in streams for each right-hand side.
///
/// They belong to the global numbers of the sites, and have the same bits everywhere. Their parts lie
/// between −1 and 1.
#[derive(Clone, Copy)]
pub(super) struct RandomNumbers<'a> {
    /// The global numbers of the sites.
    pub sites: &'a [usize],
    /// Numbers of a site. They fill whole blocks.
    pub of_site: usize,
    pub first_stream: u32,
}

impl RandomNumbers<'_> {
    /// Makes the numbers of all right-hand sides on the host, one after the other.
    pub fn on_host<R: Real>(self, sources: usize) -> Vec<Complex<R>> {
        let Self { sites, of_site, first_stream } = self;
        let mut numbers = vec![Complex::default(); sources * sites.len() * of_site];
        numbers.par_chunks_mut(of_site).enumerate().for_each(|(k, own)| {
            let stream = first_stream + (k / sites.len()) as u32;
            twins::random_numbers(SEED, stream, sites[k % sites.len()], own);
        });
        numbers
    }

    /// Makes the same numbers in a buffer.
    pub fn on_device<R: Real>(self, numbers: &mut Buffer<R>, sources: usize) -> Result<(), DeviceError> {
        let device = numbers.device().clone();
        let sites: Vec<u32> = self.sites.iter().map(|&site| site as u32).collect();
        let sites = Buffer::from_slice(&device, &sites)?;
        let blocks = 2 * self.of_site / REALS_OF_BLOCK;
        let counts = [sites.len() as u32, sources as u32, blocks as u32, self.first_stream];
        let key = [SEED as u32, (SEED >> 32) as u32];
        let mut arguments = vec![Argument::from(numbers), Argument::from(&sites)];
        arguments.extend(counts.into_iter().chain(key).map(Argument::value));
        let kernel = device.program(&KernelKey::of_real::<R>(RANDOM))?.kernel("random_numbers")?;
        kernel.start(Range::covering(sites.len() * sources * blocks, 64), &arguments)
    }
}
