//! Writing a file: the numbers as they come, then the groups, then the superblock.

use super::UNDEFINED;
use super::links::{LEAF_RANK, Links, TREE_RANK};
use super::object::{ATTRIBUTE, DATASPACE, DATATYPE, FILL_VALUE, LAYOUT, SYMBOL_TABLE};
use super::superblock::MAGIC;
use super::types::Element;
use crate::io::error::Error;
use crate::io::output::Output;
use std::collections::BTreeMap;

/// Bytes of the superblock.
const SUPERBLOCK: u64 = 96;

/// The smallest heap of texts that the library reads.
const SMALLEST_HEAP: usize = 4096;

/// Most texts in one heap.
const MOST_TEXTS: usize = 60_000;

/// An attribute of a group or a dataset: one element.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::io) enum Attribute {
    /// Text as h5py writes it.
    Text(String),
    /// Text in the attribute itself, as the C library writes it.
    FixedText(String),
    Real(f64),
    Integer(i64),
    Flag(bool),
}

/// A group or a dataset.
#[derive(Default)]
struct Node {
    attributes: Vec<(String, Attribute)>,
    children: BTreeMap<String, Node>,
    dataset: Option<Written>,
}

/// A dataset whose numbers are in the file.
struct Written {
    element: Element,
    space: Vec<u64>,
    byte: u64,
}

/// A writer of a file, which must be empty.
pub(in crate::io) struct Writer<'a> {
    output: &'a mut Output,
    position: u64,
    root: Node,
}

impl<'a> Writer<'a> {
    /// Begins a file.
    pub(in crate::io) fn begin(output: &'a mut Output) -> Result<Self, Error> {
        output.write(&[0; SUPERBLOCK as usize])?;
        Ok(Self { output, position: SUPERBLOCK, root: Node::default() })
    }

    fn node(&mut self, path: &[&str]) -> &mut Node {
        path.iter().fold(&mut self.root, |node, &name| node.children.entry(name.to_owned()).or_default())
    }

    /// Makes a group, if it is not there.
    pub(in crate::io) fn group(&mut self, path: &[&str]) {
        self.node(path);
    }

    /// Adds an attribute to a group or a dataset.
    pub(in crate::io) fn attribute(&mut self, path: &[&str], name: &str, value: Attribute) {
        self.node(path).attributes.push((name.to_owned(), value));
    }

    /// Adds a dataset. `write` writes the bytes of all its elements.
    pub(in crate::io) fn dataset<R>(
        &mut self,
        path: &[&str],
        space: &[u64],
        element: Element,
        write: impl FnOnce(&mut Output) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.align()?;
        let byte = self.position;
        let result = write(self.output)?;
        self.position += space.iter().product::<u64>() * element.bytes();
        self.node(path).dataset = Some(Written { element, space: space.to_vec(), byte });
        Ok(result)
    }

    /// Writes the groups and the superblock.
    pub(in crate::io) fn finish(mut self) -> Result<(), Error> {
        let root = std::mem::take(&mut self.root);
        let mut texts = Vec::new();
        root.collect_texts(&mut texts);
        let places = self.heaps(&texts)?;
        let group = self.object(&root, &mut places.into_iter())?;
        let end = self.position;
        let mut block = MAGIC.to_vec();
        // Versions, sizes of addresses and lengths, ranks of trees, and flags.
        block.extend([0, 0, 0, 0, 0, 8, 8, 0]);
        block.extend((LEAF_RANK as u16).to_le_bytes());
        block.extend((TREE_RANK as u16).to_le_bytes());
        block.extend([0; 4]);
        for word in [0, UNDEFINED, end, UNDEFINED, 0, group] {
            block.extend(word.to_le_bytes());
        }
        // The entry of the root keeps nothing for speed.
        block.extend([0; 24]);
        self.output.seek(0)?;
        self.output.write(&block)
    }

    fn align(&mut self) -> Result<(), Error> {
        let padding = self.position.next_multiple_of(8) - self.position;
        self.append(&[0; 7][..padding as usize]).map(drop)
    }

    /// Appends bytes, and returns the place of the first.
    fn append(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let at = self.position;
        self.output.write(bytes)?;
        self.position += bytes.len() as u64;
        Ok(at)
    }

    /// Writes texts into heaps, and returns the heap and the number of each.
    fn heaps(&mut self, texts: &[&str]) -> Result<Vec<(u64, u32)>, Error> {
        let mut places = Vec::new();
        for texts in texts.chunks(MOST_TEXTS) {
            self.align()?;
            let heap = self.position;
            let mut objects = Vec::new();
            for (k, text) in texts.iter().enumerate() {
                let index = k as u16 + 1;
                places.push((heap, u32::from(index)));
                objects.extend(index.to_le_bytes());
                // One reference, and the length. Objects end at multiples of eight.
                objects.extend([1, 0, 0, 0, 0, 0]);
                objects.extend((text.len() as u64).to_le_bytes());
                objects.extend(text.as_bytes());
                objects.resize(objects.len().next_multiple_of(8), 0);
            }
            let size = (16 + objects.len() + 16).max(SMALLEST_HEAP);
            // The last object is the free space, its own header included.
            let free = (size - 16 - objects.len()) as u64;
            objects.extend([0; 8]);
            objects.extend(free.to_le_bytes());
            objects.resize(size - 16, 0);
            let head = [&b"GCOL\x01\0\0\0"[..], &(size as u64).to_le_bytes()].concat();
            self.append(&head)?;
            self.append(&objects)?;
        }
        Ok(places)
    }

    /// Writes an object behind everything in it, and returns the place of its header.
    fn object(&mut self, node: &Node, texts: &mut std::vec::IntoIter<(u64, u32)>) -> Result<u64, Error> {
        let mut messages = Vec::new();
        let attributes: Vec<Vec<u8>> =
            node.attributes.iter().map(|(name, value)| attribute(name, value, texts)).collect();
        match &node.dataset {
            Some(dataset) => dataset.messages(&mut messages),
            None => {
                let mut links = Vec::new();
                for (name, child) in &node.children {
                    links.push((name.as_str(), self.object(child, texts)?));
                }
                self.align()?;
                let Links { bytes, tree, heap } = Links::new(&links, self.position);
                self.append(&bytes)?;
                messages.push((SYMBOL_TABLE, [tree.to_le_bytes(), heap.to_le_bytes()].concat()));
            }
        }
        messages.extend(attributes.into_iter().map(|data| (ATTRIBUTE, data)));
        self.align()?;
        let mut block = Vec::new();
        for (kind, data) in &messages {
            let length = data.len().next_multiple_of(8);
            block.extend(kind.to_le_bytes());
            block.extend((length as u16).to_le_bytes());
            // A data type never changes.
            block.extend([u8::from(*kind == DATATYPE), 0, 0, 0]);
            block.extend(data);
            block.resize(block.len().next_multiple_of(8), 0);
        }
        let mut header = vec![1, 0];
        header.extend((messages.len() as u16).to_le_bytes());
        header.extend(1u32.to_le_bytes());
        header.extend((block.len() as u32).to_le_bytes());
        header.extend([0; 4]);
        let place = self.append(&header)?;
        self.append(&block)?;
        Ok(place)
    }
}

impl Node {
    /// Collects the texts for the heap.
    ///
    /// Their order is that in which [`Writer::object`] takes them.
    fn collect_texts<'t>(&'t self, texts: &mut Vec<&'t str>) {
        for (_, value) in &self.attributes {
            if let Attribute::Text(text) = value {
                texts.push(text);
            }
        }
        self.children.values().for_each(|child| child.collect_texts(texts));
    }
}

impl Written {
    fn messages(&self, messages: &mut Vec<(u16, Vec<u8>)>) {
        messages.push((DATASPACE, dataspace(&self.space)));
        messages.push((DATATYPE, self.element.message()));
        // Version 2, space is allocated late, values are filled in if they are set, and none is.
        messages.push((FILL_VALUE, vec![2, 2, 2, 0]));
        let length = self.space.iter().product::<u64>() * self.element.bytes();
        let layout = [&[3, 1][..], &self.byte.to_le_bytes(), &length.to_le_bytes()].concat();
        messages.push((LAYOUT, layout));
    }
}

/// Describes extents; none for a single element.
fn dataspace(extents: &[u64]) -> Vec<u8> {
    let mut message = vec![1, extents.len() as u8, 0, 0, 0, 0, 0, 0];
    message.extend(extents.iter().flat_map(|extent| extent.to_le_bytes()));
    message
}

/// Describes an attribute, whose text may be the next one of the heap.
fn attribute(name: &str, value: &Attribute, texts: &mut std::vec::IntoIter<(u64, u32)>) -> Vec<u8> {
    let (element, bytes) = match value {
        Attribute::Text(text) => {
            let (heap, index) = texts.next().unwrap_or((UNDEFINED, 0));
            let length = text.len() as u32;
            (
                Element::VariableText,
                [&length.to_le_bytes()[..], &heap.to_le_bytes(), &index.to_le_bytes()].concat(),
            )
        }
        Attribute::FixedText(text) => {
            // A type has at least a byte.
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(bytes.len().max(1), 0);
            (Element::Text(bytes.len() as u32), bytes)
        }
        Attribute::Real(value) => {
            (Element::Real(crate::scalar::Precision::Double), value.to_le_bytes().to_vec())
        }
        Attribute::Integer(value) => (Element::Integer(8), value.to_le_bytes().to_vec()),
        Attribute::Flag(value) => (Element::Byte, vec![u8::from(*value)]),
    };
    let (data_type, space) = (element.message(), dataspace(&[]));
    let mut message = vec![1, 0];
    for length in [name.len() + 1, data_type.len(), space.len()] {
        message.extend((length as u16).to_le_bytes());
    }
    for part in [[name.as_bytes(), &[0]].concat(), data_type, space] {
        message.extend(part);
        message.resize(message.len().next_multiple_of(8), 0);
    }
    message.extend(bytes);
    message
}
