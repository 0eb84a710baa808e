//! Chunked datasets: blocks of elements, each in a place of its own.

use super::bytes::Bytes;
use super::filters::Filter;
use super::group::SMALLEST_NODE;
use super::{Input, UNDEFINED, bad};
use crate::io::error::Error;
use std::collections::HashMap;

/// Most levels of the tree of chunks.
const MOST_LEVELS: u8 = 8;

/// The chunks of a dataset.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    /// The extents of the dataset. Fastest ones that a chunk has whole are one.
    space: Vec<u64>,
    /// The extents of a chunk, in the same form.
    chunk: Vec<u64>,
    /// Bytes of an element.
    element: u64,
    filters: Vec<Filter>,
    /// The chunks by their numbers, the last extent fastest.
    places: HashMap<u64, ChunkLocation>,
    /// Decoded chunks.
    ///
    /// They belong to the band of the slowest extent that is being read.
    whole: HashMap<u64, Vec<u8>>,
    band: u64,
}

/// The location of a chunk in the file.
#[derive(Clone, Copy, Debug)]
struct ChunkLocation {
    byte: u64,
    length: u64,
    /// Bits of the filters that were passed over.
    mask: u32,
}

impl Chunks {
    /// Reads the places of all chunks.
    ///
    /// `rest` are the properties of the layout behind its class.
    pub(super) fn read(
        input: &mut Input,
        object: u64,
        version: u8,
        rest: Bytes<'_>,
        space: &[u64],
        element: u64,
        filters: Vec<Filter>,
    ) -> Result<Self, Error> {
        let error = |input: &Input, problem: String| bad(input, object, problem);
        let Index { chunk, single, tree } =
            Index::parse(version, rest, space.len()).map_err(|problem| error(input, problem))?;
        let fits =
            space.iter().zip(&chunk[..space.len()]).all(|(&extent, &chunk)| chunk > 0 && chunk <= extent);
        if space.is_empty() || !fits || chunk[space.len()] != element {
            return Err(error(input, "its chunks do not fit its extents".to_owned()));
        }
        let chunk = &chunk[..space.len()];
        let mut chunks = Self {
            space: space.to_vec(),
            chunk: chunk.to_vec(),
            element,
            filters,
            places: HashMap::new(),
            whole: HashMap::new(),
            band: 0,
        };
        // No overflow: a chunk is no larger than the dataset, whose size was checked.
        let whole = chunk.iter().product::<u64>() * element;
        match (single, tree) {
            (Some(place), _) => {
                let length = place.length.unwrap_or(whole);
                chunks.add(input, 0, ChunkLocation { byte: place.byte, length, mask: place.mask }, whole)?;
            }
            (None, UNDEFINED) => return Err(error(input, "the dataset was never written".to_owned())),
            (None, tree) => {
                let mut nodes = input.length() / SMALLEST_NODE;
                chunks.add_tree(input, tree, MOST_LEVELS, whole, &mut nodes)?;
            }
        }
        let wanted = chunks.counts().try_fold(1u64, u64::checked_mul);
        if wanted != Some(chunks.places.len() as u64) {
            return Err(error(
                input,
                format!("{} chunks are there, and its extents take others", chunks.places.len()),
            ));
        }
        chunks.join_fastest();
        Ok(chunks)
    }

    /// Returns the number of chunks in each extent.
    fn counts(&self) -> impl Iterator<Item = u64> {
        self.space.iter().zip(&self.chunk).map(|(extent, chunk)| extent.div_ceil(*chunk))
    }

    fn add(&mut self, input: &Input, number: u64, place: ChunkLocation, whole: u64) -> Result<(), Error> {
        input.expect("a chunk of an HDF5 dataset", place.byte, place.length)?;
        if self.filters.is_empty() && place.length != whole {
            return Err(bad(
                input,
                place.byte,
                format!("a chunk has {} bytes in place of {whole}", place.length),
            ));
        }
        match self.places.insert(number, place) {
            None => Ok(()),
            Some(_) => Err(bad(input, place.byte, "a chunk is there twice")),
        }
    }

    /// Adds the chunks below a node of the tree.
    fn add_tree(
        &mut self,
        input: &mut Input,
        byte: u64,
        levels: u8,
        whole: u64,
        nodes: &mut u64,
    ) -> Result<(), Error> {
        let header: [u8; 8] = input.array("the chunks of an HDF5 dataset", byte)?;
        let [.., kind, level, low, high] = header;
        // No more nodes than the file has room for: they may lead to each other.
        *nodes = nodes.saturating_sub(1);
        if !header.starts_with(b"TREE") || kind != 1 || level >= levels || *nodes == 0 {
            return Err(bad(input, byte, "no node of a tree of chunks begins here"));
        }
        let entries = usize::from(u16::from_le_bytes([low, high]));
        let key = 8 * (self.space.len() + 2);
        let node = input.bytes("the chunks of an HDF5 dataset", byte + 24, entries * (key + 8))?;
        for entry in node.chunks_exact(key + 8) {
            let mut bytes = Bytes(entry);
            let head = (bytes.u32(), bytes.u32());
            let offsets: Result<Vec<u64>, _> = self.space.iter().map(|_| bytes.u64()).collect();
            let last = (bytes.u64(), bytes.u64());
            let ((Ok(length), Ok(mask)), Ok(offsets), (Ok(_), Ok(child))) = (head, offsets, last) else {
                return Err(bad(input, byte, "a node of a tree of chunks ends too early"));
            };
            if level > 0 {
                self.add_tree(input, child, level, whole, nodes)?;
                continue;
            }
            let number = self
                .number(&offsets)
                .ok_or_else(|| bad(input, byte, "a chunk lies outside of its dataset"))?;
            self.add(input, number, ChunkLocation { byte: child, length: u64::from(length), mask }, whole)?;
        }
        Ok(())
    }

    /// Returns the number of the chunk that begins at an element.
    fn number(&self, offsets: &[u64]) -> Option<u64> {
        let mut number = 0;
        for ((count, chunk), &offset) in self.counts().zip(&self.chunk).zip(offsets) {
            if offset % chunk != 0 || offset / chunk >= count {
                return None;
            }
            number = number * count + offset / chunk;
        }
        Some(number)
    }

    /// Makes one extent of the fastest ones, as long as a chunk has them whole.
    fn join_fastest(&mut self) {
        while let (&[.., _, extent], &[.., _, chunk]) = (&self.space[..], &self.chunk[..])
            && extent == chunk
        {
            self.space.pop();
            self.chunk.pop();
            let last = self.space.len() - 1;
            self.space[last] *= extent;
            self.chunk[last] *= extent;
        }
    }

    /// Fills a buffer with the bytes of whole elements.
    ///
    /// They begin at byte `at` of the dataset.
    pub(super) fn fill(&mut self, input: &mut Input, at: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let (mut done, mut first) = (0, at / self.element);
        while done < buffer.len() {
            let left = (buffer.len() - done) as u64 / self.element;
            let (number, inside, run) = self.run(first);
            let count = run.min(left.max(1));
            let length = ((count * self.element) as usize).min(buffer.len() - done);
            let (from, to) = (inside * self.element, &mut buffer[done..done + length]);
            let Some(&place) = self.places.get(&number) else {
                return Err(bad(input, 0, format!("the chunk {number} is missing")));
            };
            if self.filters.is_empty() {
                input.seek(place.byte + from)?;
                input.fill(to)?;
            } else {
                let whole = self.undone(input, number, place)?;
                to.copy_from_slice(&whole[from as usize..from as usize + length]);
            }
            done += length;
            first += count;
        }
        Ok(())
    }

    /// Finds the chunk of an element, and its place there.
    ///
    /// The last number counts the consecutive elements from this one on.
    fn run(&self, element: u64) -> (u64, u64, u64) {
        let (mut number, mut inside) = (0, 0);
        let mut coordinates = vec![0; self.space.len()];
        let mut rest = element;
        for (coordinate, extent) in coordinates.iter_mut().zip(&self.space).rev() {
            *coordinate = rest % extent;
            rest /= extent;
        }
        let mut run = 1;
        for ((&extent, &chunk), coordinate) in self.space.iter().zip(&self.chunk).zip(coordinates) {
            number = number * extent.div_ceil(chunk) + coordinate / chunk;
            inside = inside * chunk + coordinate % chunk;
            run = (chunk - coordinate % chunk).min(extent - coordinate);
        }
        (number, inside, run)
    }

    /// Returns a chunk with its filters undone. Chunks of an earlier band are dropped.
    fn undone(&mut self, input: &mut Input, number: u64, place: ChunkLocation) -> Result<&[u8], Error> {
        let band = number / self.counts().skip(1).product::<u64>();
        if band != self.band {
            self.whole.clear();
            self.band = band;
        }
        if !self.whole.contains_key(&number) {
            let mut bytes = input.bytes("a chunk of an HDF5 dataset", place.byte, place.length as usize)?;
            let length = (self.chunk.iter().product::<u64>() * self.element) as usize;
            for (k, filter) in self.filters.iter().enumerate().rev() {
                if place.mask >> k & 1 == 0 {
                    bytes = filter.undo(bytes, length).map_err(|problem| bad(input, place.byte, problem))?;
                }
            }
            if bytes.len() != length {
                return Err(bad(
                    input,
                    place.byte,
                    format!("a chunk has not the {length} bytes of its extents"),
                ));
            }
            self.whole.insert(number, bytes);
        }
        Ok(&self.whole[&number])
    }
}

/// The place of the chunks, as the header tells it.
struct Index {
    /// The extents of a chunk, and the bytes of an element.
    chunk: Vec<u64>,
    single: Option<Single>,
    tree: u64,
}

/// The only chunk of a dataset.
struct Single {
    byte: u64,
    /// Bytes of a chunk with filters.
    length: Option<u64>,
    mask: u32,
}

impl Index {
    fn parse(version: u8, mut bytes: Bytes<'_>, rank: usize) -> Result<Self, String> {
        let flags = if version > 3 { bytes.u8()? } else { 0 };
        let extents = usize::from(bytes.u8()?);
        if extents != rank + 1 {
            return Err("its chunks have another number of extents".to_owned());
        }
        if version == 3 {
            let tree = bytes.u64()?;
            let chunk = (0..extents).map(|_| bytes.u32().map(u64::from)).collect::<Result<_, _>>()?;
            return Ok(Self { chunk, single: None, tree });
        }
        let wide = usize::from(bytes.u8()?).min(8);
        let chunk = (0..extents).map(|_| bytes.number(wide)).collect::<Result<_, _>>()?;
        match bytes.u8()? {
            1 => {
                let (length, mask) = if flags & 2 != 0 { (Some(bytes.u64()?), bytes.u32()?) } else { (None, 0) };
                let single = Some(Single { byte: bytes.u64()?, length, mask });
                Ok(Self { chunk, single, tree: UNDEFINED })
            }
            _ => Err("its chunks have an index of the newest library; write it without libver='latest', or contiguously"
                .to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the one chunk of a compressed dataset as HDF5 1.10 and 2.0 describe it.
    #[test]
    fn a_single_chunk_is_read_in_either_version() {
        let filtered = 2;
        let mut data = vec![filtered, 2, 1, 6, 8, 1];
        data.extend(40_u64.to_le_bytes());
        data.extend(0_u32.to_le_bytes());
        data.extend(4096_u64.to_le_bytes());
        for version in [4, 5] {
            let index = Index::parse(version, Bytes(&data), 1).unwrap();
            let single = index.single.unwrap();
            assert_eq!((index.chunk, index.tree), (vec![6, 8], UNDEFINED));
            assert_eq!((single.byte, single.length, single.mask), (4096, Some(40), 0));
        }
        data[5] = 3;
        assert!(Index::parse(5, Bytes(&data), 1).err().unwrap().contains("libver"));
    }
}
