//! The data of a lattice field, streamed between file and memory.
//!
//! Sites are streamed one by one, in parallel. A few MiB of the file are in memory at a time. While
//! all threads decode and sum one chunk, the next one is read.

use super::checksum::{Method, Sums};
use super::error::{Error, ErrorKind};
use super::input::Input;
use super::output::Output;
use crate::host;
use rayon::prelude::*;

/// A function that is called with the bytes done, and the bytes in all.
pub type Progress<'a> = Option<&'a (dyn Fn(u64, u64) + Sync)>;

/// Bytes of a chunk. Two chunks are in memory: one being read, one being decoded.
const CHUNK: usize = 8 << 20;

/// Fewest sites that one thread takes.
const GRAIN: usize = 128;

/// The data of a field in a file.
#[derive(Clone, Copy)]
pub(super) struct Payload<'a> {
    pub(super) sites: usize,
    /// Bytes of one site.
    pub(super) site_bytes: usize,
    /// The rule by which the checksum is made, if there is one.
    pub(super) method: Option<Method>,
    pub(super) progress: Progress<'a>,
}

impl Payload<'_> {
    pub(super) fn bytes(&self) -> u64 {
        self.sites as u64 * self.site_bytes as u64
    }

    fn sites_in_chunk(&self) -> usize {
        (CHUNK / self.site_bytes).clamp(1, self.sites)
    }

    fn sums_of(&self, site: usize, bytes: &[u8]) -> Sums {
        self.method.map_or(Method::NOTHING, |method| method.of_site(site as u64, bytes))
    }

    fn combine(&self, a: Sums, b: Sums) -> Sums {
        self.method.map_or(Method::NOTHING, |method| method.combine(a, b))
    }

    fn report(&self, sites_done: usize) {
        if let Some(progress) = self.progress {
            progress((sites_done * self.site_bytes) as u64, self.bytes());
        }
    }

    /// Reads the field that begins at `byte`, and the sums of its bytes.
    ///
    /// The field has `per_site` values to a site.
    pub(super) fn read<V: Copy + Default + Send + Sync>(
        &self,
        input: &mut Input,
        what: &str,
        byte: u64,
        per_site: usize,
        decode: impl Fn(&[u8], &mut [V]) + Sync,
    ) -> Result<(Vec<V>, Sums), Error> {
        // The check comes before any allocation: the file must hold the data that its header
        // promises.
        input.expect(what, byte, self.bytes())?;
        let mut values = Vec::new();
        host::reserve(&mut values, self.sites * per_site)
            .map_err(|_| input.error(ErrorKind::OutOfMemory { bytes: self.bytes() }))?;
        // All threads take part: to touch fresh memory for the first time takes longer than to read
        // the file.
        rayon::iter::repeat_n(V::default(), self.sites * per_site).collect_into_vec(&mut values);

        let in_chunk = self.sites_in_chunk();
        let mut current = vec![0; in_chunk * self.site_bytes];
        let mut ahead = vec![0; in_chunk * self.site_bytes];
        input.seek(byte)?;
        input.fill(&mut current)?;
        let (mut first, mut sums) = (0, Method::NOTHING);
        for values in values.chunks_mut(in_chunk * per_site) {
            let sites = values.len() / per_site;
            let next = in_chunk.min(self.sites - first - sites);
            let (read, part) = rayon::join(
                || input.fill(&mut ahead[..next * self.site_bytes]),
                || {
                    current
                        .par_chunks_exact(self.site_bytes)
                        .zip(values.par_chunks_exact_mut(per_site))
                        .enumerate()
                        .with_min_len(GRAIN)
                        .map(|(k, (bytes, values))| {
                            decode(bytes, values);
                            self.sums_of(first + k, bytes)
                        })
                        .reduce(|| Method::NOTHING, |a, b| self.combine(a, b))
                },
            );
            read?;
            sums = self.combine(sums, part);
            first += sites;
            self.report(first);
            std::mem::swap(&mut current, &mut ahead);
        }
        Ok((values, sums))
    }

    /// Appends the field to the file, and returns the sums of its bytes.
    pub(super) fn write(
        &self,
        output: &mut Output,
        encode: impl Fn(usize, &mut [u8]) + Sync,
    ) -> Result<Sums, Error> {
        let in_chunk = self.sites_in_chunk();
        let mut buffer = vec![0; in_chunk * self.site_bytes];
        let mut sums = Method::NOTHING;
        for first in (0..self.sites).step_by(in_chunk) {
            let sites = in_chunk.min(self.sites - first);
            let bytes = &mut buffer[..sites * self.site_bytes];
            let part = bytes
                .par_chunks_exact_mut(self.site_bytes)
                .enumerate()
                .with_min_len(GRAIN)
                .map(|(k, bytes)| {
                    encode(first + k, bytes);
                    self.sums_of(first + k, bytes)
                })
                .reduce(|| Method::NOTHING, |a, b| self.combine(a, b));
            sums = self.combine(sums, part);
            output.write(bytes)?;
            self.report(first + sites);
        }
        Ok(sums)
    }
}
