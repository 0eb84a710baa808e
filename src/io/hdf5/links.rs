//! The names of a group that is written: a heap of names, leaves of symbols, and a tree over them.

use super::UNDEFINED;
use std::ops::Range;

/// The rank of the leaves of groups, which have up to twice as many symbols.
///
/// The ranks are half of the library's own ones or less: most groups have few members, and every leaf
/// and node takes the room of a full one.
pub(super) const LEAF_RANK: usize = 2;

/// The rank of the trees of groups, whose nodes have up to twice as many children.
pub(super) const TREE_RANK: usize = 4;

/// Bytes of a symbol in a leaf.
const SYMBOL: usize = 40;

/// Bytes of a leaf.
const LEAF: usize = 8 + 2 * LEAF_RANK * SYMBOL;

/// Bytes of a node of the tree, with room for all of its children and the keys around them.
const NODE: usize = 24 + 8 * (4 * TREE_RANK + 1);

/// The structures of a group, and where they are.
pub(super) struct Links {
    pub bytes: Vec<u8>,
    /// The place of the tree's root.
    pub tree: u64,
    pub heap: u64,
}

/// A leaf or a node.
struct Child {
    place: u64,
    /// The name of the last symbol below, by its place in the heap.
    last: u64,
}

impl Links {
    /// Writes names with the addresses of their objects, sorted by names.
    ///
    /// The bytes will stand at `at`, a multiple of eight.
    pub fn new(links: &[(&str, u64)], at: u64) -> Self {
        // The first name is empty: the first key of the tree.
        let (mut bytes, mut names) = (vec![0; 8], Vec::new());
        for (name, _) in links {
            names.push(bytes.len() as u64);
            bytes.extend(name.as_bytes());
            bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
        }
        let (length, heap) = (bytes.len() as u64, at + bytes.len() as u64);
        bytes.extend(b"HEAP\0\0\0\0");
        // The length, no free space, and where the names are.
        put(&mut bytes, &[length, 1, at]);
        let mut children = Vec::new();
        for symbols in evenly(links.len(), 2 * LEAF_RANK).filter(|symbols| !symbols.is_empty()) {
            let leaf = bytes.len();
            children.push(Child { place: at + leaf as u64, last: names[symbols.end - 1] });
            bytes.extend(b"SNOD\x01\0");
            bytes.extend((symbols.len() as u16).to_le_bytes());
            for k in symbols {
                put(&mut bytes, &[names[k], links[k].1, 0, 0, 0]);
            }
            bytes.resize(leaf + LEAF, 0);
        }
        for level in 0.. {
            children = nodes(&mut bytes, at, level, &children);
            if children.len() == 1 {
                break;
            }
        }
        Self { bytes, tree: children[0].place, heap }
    }
}

/// Writes the nodes of a level of the tree over the nodes or leaves below.
fn nodes(bytes: &mut Vec<u8>, at: u64, level: u8, below: &[Child]) -> Vec<Child> {
    let first = at + bytes.len() as u64;
    let mut all = Vec::new();
    // The last name before a node is its first key.
    let mut last = 0;
    let parts: Vec<Range<usize>> = evenly(below.len(), 2 * TREE_RANK).collect();
    for (k, children) in parts.iter().enumerate() {
        let begin = bytes.len();
        let neighbour = |k: usize| first + (k * NODE) as u64;
        bytes.extend(b"TREE\0");
        bytes.push(level);
        bytes.extend((children.len() as u16).to_le_bytes());
        let left = if k == 0 { UNDEFINED } else { neighbour(k - 1) };
        let right = if k + 1 == parts.len() { UNDEFINED } else { neighbour(k + 1) };
        put(bytes, &[left, right, last]);
        for child in &below[children.clone()] {
            put(bytes, &[child.place, child.last]);
            last = child.last;
        }
        bytes.resize(begin + NODE, 0);
        all.push(Child { place: neighbour(k), last });
    }
    all
}

/// Cuts a list into the fewest parts of at most so many entries, all of about the same length.
///
/// An empty list is one part.
fn evenly(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = count.div_ceil(most).max(1);
    (0..parts).map(move |k| count * k / parts..count * (k + 1) / parts)
}

fn put(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}
