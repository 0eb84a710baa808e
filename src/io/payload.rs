//! The data of a lattice field, streamed between file and memory.
//!
//! Sites are streamed one by one, in parallel. A few MiB of the file are in memory at a time. While
//! all threads decode and sum one chunk, the next one is read.

use super::checksum::{Method, Sums};
use super::error::{Error, ErrorKind};
use super::input::Input;
use super::output::Output;
use crate::compute::parallel::*;
use crate::host::{self, LocalSites};

/// A function that is called with the bytes done, and the bytes in all.
pub type Progress<'a> = Option<&'a (dyn Fn(u64, u64) + Sync)>;

/// A function that fills a buffer with the bytes of a field.
///
/// The bytes begin at a given byte of the field.
pub(super) type Fill<'a> = dyn FnMut(&mut Input, u64, &mut [u8]) -> Result<(), Error> + Send + 'a;

/// Returns the function for a field in one piece.
///
/// The field begins at `byte` of the file.
pub(super) fn contiguous(byte: u64) -> impl FnMut(&mut Input, u64, &mut [u8]) -> Result<(), Error> + Send {
    move |input, at, buffer| {
        input.seek(byte + at)?;
        input.fill(buffer)
    }
}

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
        let mut values = self.room(input, per_site)?;
        let sums = self.stream(input, &mut contiguous(byte), |first, bytes| {
            self.decode(bytes, &mut values[first * per_site..], per_site, &decode);
        })?;
        Ok((values, sums))
    }

    /// Allocates `per_site` values for each site.
    pub(super) fn room<V: Copy + Default + Send + Sync>(
        &self,
        input: &Input,
        per_site: usize,
    ) -> Result<Vec<V>, Error> {
        let count = self.sites * per_site;
        let mut values = Vec::new();
        let bytes = (count * size_of::<V>()) as u64;
        host::reserve(&mut values, count).map_err(|_| input.error(ErrorKind::OutOfMemory { bytes }))?;
        // All threads take part: to touch fresh memory for the first time takes longer than to read
        // the file.
        (0..count).into_par_iter().map(|_| V::default()).collect_into_vec(&mut values);
        Ok(values)
    }

    /// Hands on the field chunk by chunk, and returns the sums.
    ///
    /// Each chunk comes with its first site.
    pub(super) fn stream(
        &self,
        input: &mut Input,
        fill: &mut Fill<'_>,
        mut take: impl FnMut(usize, &[u8]) + Send,
    ) -> Result<Sums, Error> {
        let in_chunk = self.sites_in_chunk();
        let mut current = vec![0; in_chunk * self.site_bytes];
        let mut ahead = vec![0; in_chunk * self.site_bytes];
        fill(input, 0, &mut current)?;
        let mut sums = Method::NOTHING;
        for first in (0..self.sites).step_by(in_chunk) {
            let sites = in_chunk.min(self.sites - first);
            let after = first + sites;
            let next = &mut ahead[..in_chunk.min(self.sites - after) * self.site_bytes];
            let bytes = &current[..sites * self.site_bytes];
            let (read, part) = rayon::join(
                || if next.is_empty() { Ok(()) } else { fill(input, (after * self.site_bytes) as u64, next) },
                || {
                    take(first, bytes);
                    self.sums_of_chunk(first, bytes)
                },
            );
            read?;
            sums = self.combine(sums, part);
            self.report(after);
            std::mem::swap(&mut current, &mut ahead);
        }
        Ok(sums)
    }

    /// Decodes a chunk of sites, each into its `per_site` values.
    pub(super) fn decode<V: Send>(
        &self,
        bytes: &[u8],
        values: &mut [V],
        per_site: usize,
        decode: impl Fn(&[u8], &mut [V]) + Sync,
    ) {
        bytes
            .par_chunks_exact(self.site_bytes)
            .zip(values.par_chunks_exact_mut(per_site))
            .with_min_len(GRAIN)
            .for_each(|(bytes, values)| decode(bytes, values));
    }

    fn sums_of_chunk(&self, first: usize, bytes: &[u8]) -> Sums {
        if self.method.is_none() {
            return Method::NOTHING;
        }
        bytes
            .par_chunks_exact(self.site_bytes)
            .enumerate()
            .with_min_len(GRAIN)
            .map(|(k, bytes)| self.sums_of(first + k, bytes))
            .reduce(|| Method::NOTHING, |a, b| self.combine(a, b))
    }

    /// Reads the part of a field that begins at `byte`.
    ///
    /// Returns the values and the sums of the bytes of its share. The values of present sites
    /// follow one another.
    pub(super) fn read_part<V: Copy + Default + Send + Sync>(
        &self,
        input: &mut Input,
        what: &str,
        byte: u64,
        per_site: usize,
        part: &LocalSites,
        decode: impl Fn(&[u8], &mut [V]) + Sync,
    ) -> Result<(Vec<V>, Sums), Error> {
        input.expect(what, byte, self.bytes())?;
        let count = part.sites() * per_site;
        let mut values = Vec::new();
        host::reserve(&mut values, count)
            .map_err(|_| input.error(ErrorKind::OutOfMemory { bytes: self.bytes() }))?;
        (0..count).into_par_iter().map(|_| V::default()).collect_into_vec(&mut values);
        let (in_chunk, share) = (self.sites_in_chunk(), part.share());
        let mut buffer = vec![0; in_chunk * self.site_bytes];
        let (mut rest, mut sums, mut done) = (&mut values[..], Method::NOTHING, 0);
        for run in part.runs() {
            input.seek(byte + (run.start * self.site_bytes) as u64)?;
            for first in run.clone().step_by(in_chunk) {
                let sites = in_chunk.min(run.end - first);
                let bytes = &mut buffer[..sites * self.site_bytes];
                input.fill(bytes)?;
                let (values, later) = rest.split_at_mut(sites * per_site);
                rest = later;
                let chunk = bytes
                    .par_chunks_exact(self.site_bytes)
                    .zip(values.par_chunks_exact_mut(per_site))
                    .enumerate()
                    .with_min_len(GRAIN)
                    .map(|(k, (bytes, values))| {
                        decode(bytes, values);
                        let site = first + k;
                        if share.contains(&site) { self.sums_of(site, bytes) } else { Method::NOTHING }
                    })
                    .reduce(|| Method::NOTHING, |a, b| self.combine(a, b));
                sums = self.combine(sums, chunk);
                done += sites;
                // Progress of the whole is taken to be that of the part.
                self.report((done as u64 * self.sites as u64 / part.sites() as u64) as usize);
            }
        }
        Ok((values, sums))
    }

    /// Returns the sums of all processes together, from those of this one's share.
    ///
    /// The result is `None` if a process has given up.
    pub(super) fn sums_of_all(&self, part: &LocalSites, own: Sums) -> Option<Sums> {
        let all = part.company().all(Some(bytemuck::cast_slice(&own)))?;
        let sums = all.iter().map(|bytes| bytemuck::pod_read_unaligned::<Sums>(bytes));
        Some(sums.fold(Method::NOTHING, |a, b| self.combine(a, b)))
    }

    /// Appends the field to the file, and returns the sums of its bytes.
    pub(super) fn write(
        &self,
        output: &mut Output,
        encode: impl Fn(usize, &mut [u8]) + Sync,
    ) -> Result<Sums, Error> {
        self.write_prepared(output, |_, _, _| Ok(()), |(), site, bytes| encode(site, bytes))
    }

    /// Appends the field to the file chunk by chunk, and returns the sums of its bytes.
    ///
    /// `prepare` makes what `encode` needs, for so many sites from the first one on.
    pub(super) fn write_prepared<P: Sync>(
        &self,
        output: &mut Output,
        mut prepare: impl FnMut(&Output, usize, usize) -> Result<P, Error>,
        encode: impl Fn(&P, usize, &mut [u8]) + Sync,
    ) -> Result<Sums, Error> {
        let in_chunk = self.sites_in_chunk();
        let mut buffer = vec![0; in_chunk * self.site_bytes];
        let mut sums = Method::NOTHING;
        for first in (0..self.sites).step_by(in_chunk) {
            let sites = in_chunk.min(self.sites - first);
            let prepared = prepare(output, first, sites)?;
            let bytes = &mut buffer[..sites * self.site_bytes];
            let part = bytes
                .par_chunks_exact_mut(self.site_bytes)
                .enumerate()
                .with_min_len(GRAIN)
                .map(|(k, bytes)| {
                    encode(&prepared, first + k, bytes);
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
