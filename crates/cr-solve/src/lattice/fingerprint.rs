//! What tells a gauge configuration from others: its plaquette and the BLAKE3 sum of its links.
//!
//! Several processes may compute the sum together. BLAKE3 is a tree. Its leaves are chunks of 1024
//! bytes, and shares of processes end where chunks do. Each process computes the largest subtrees
//! of its share, and all put them together.

use blake3::hazmat::{ChainingValue, HasherExt, Mode};
use blake3::hazmat::{left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use blake3::{CHUNK_LEN, Hasher};
use bytemuck::NoUninit;
use lattice_cl::compute::parallel::*;
use lattice_cl::gauge::plaquette;
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{GaugeConfiguration, Links, LocalSites, Matrix3};
use lattice_cli::report::path_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The facts that tell a gauge configuration from all others.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Configuration {
    #[schemars(with = "String")]
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    /// The average of ⅓ Re tr P.
    plaquette: f64,
    /// The BLAKE3 sum of the links in memory.
    ///
    /// The links are in the order of ILDG and in the precision of the file.
    blake3: String,
}

impl Configuration {
    /// Sums up the links. Processes that have parts of the links all call this.
    pub fn new(file: &Path, configuration: &GaugeConfiguration) -> Self {
        let plaquette = plaquette(configuration).average;
        Self { file: file.to_owned(), plaquette, blake3: blake3_of_links(configuration) }
    }

    /// Returns a fingerprint for people: plaquette and the beginning of the sum.
    pub fn fingerprint(&self) -> String {
        format!("plaquette {:.12}, BLAKE3 {}", self.plaquette, &self.blake3[..16])
    }
}

/// Sums up the links in memory, in the order of ILDG. The text is in hexadecimal.
///
/// Processes that have parts of the links all call this. The text is empty if one has given up.
pub fn blake3_of_links(configuration: &GaugeConfiguration) -> String {
    match (configuration.links(), configuration.part()) {
        (Links::Single(links), None) => of_all(links, |link| &link.0),
        (Links::Double(links), None) => of_all(links, |link| &link.0),
        (Links::Single(links), Some(part)) => of_parts(configuration, links, |link| &link.0, part),
        (Links::Double(links), Some(part)) => of_parts(configuration, links, |link| &link.0, part),
    }
}

/// Links that are summed up at once.
const LINKS_AT_ONCE: usize = 1 << 16;

/// Links that a thread copies at least.
const COPIED_AT_ONCE: usize = 1 << 10;

fn of_all<T: Sync, N: NoUninit>(links: &[Matrix3<T>], numbers: impl Fn(&Matrix3<T>) -> &N + Sync) -> String {
    let mut sum = Hasher::new();
    let mut bytes = vec![0; links.len().min(LINKS_AT_ONCE) * size_of::<N>()];
    for links in links.chunks(LINKS_AT_ONCE) {
        let bytes = &mut bytes[..size_of::<N>() * links.len()];
        let of_links = bytes.par_chunks_mut(size_of::<N>()).zip(links).with_min_len(COPIED_AT_ONCE);
        of_links.for_each(|(bytes, link)| bytes.copy_from_slice(bytemuck::bytes_of(numbers(link))));
        sum.update_rayon(bytes);
    }
    sum.finalize().to_hex().to_string()
}

fn of_parts<T, N: NoUninit>(
    configuration: &GaugeConfiguration,
    links: &[Matrix3<T>],
    numbers: impl Fn(&Matrix3<T>) -> &N,
    part: &LocalSites,
) -> String {
    let bytes_of = |sites: &Range<usize>| [sites.start, sites.end].map(|site| NDIM * site * size_of::<N>());
    let Some(shares) = part.shares() else { return String::new() };
    let shares: Vec<Range<usize>> = shares.iter().map(bytes_of).map(|[start, end]| start..end).collect();
    let own = {
        let [start, end] = bytes_of(&part.share());
        start..end
    };
    let whole = 0..NDIM * configuration.dims().volume() * size_of::<N>();
    // The links of the share follow one another.
    let first = if own.is_empty() { 0 } else { configuration.place(part.share().start, 0) };
    let feed = |sum: &mut Hasher, bytes: &Range<usize>| {
        let mut at = bytes.start;
        while at < bytes.end {
            let link = at / size_of::<N>();
            let (from, to) = (at % size_of::<N>(), (bytes.end - link * size_of::<N>()).min(size_of::<N>()));
            let place = first + link - own.start / size_of::<N>();
            sum.update(&bytemuck::bytes_of(numbers(&links[place]))[from..to]);
            at = link * size_of::<N>() + to;
        }
    };
    let subtrees = subtrees(whole.clone(), &shares);
    let mut computed = Vec::new();
    for subtree in subtrees.iter().filter(|subtree| within(subtree, &own)) {
        let mut sum = Hasher::new();
        if *subtree == whole {
            feed(&mut sum, subtree);
            computed.extend(sum.finalize().as_bytes());
        } else {
            feed(sum.set_input_offset(subtree.start as u64), subtree);
            computed.extend(sum.finalize_non_root());
        }
    }
    let Some(all) = part.company().all(Some(&computed)) else { return String::new() };
    // Shares follow one another, and so do their subtrees.
    let values = all.iter().flatten().copied().collect::<Vec<u8>>();
    let mut values = values.chunks_exact(blake3::OUT_LEN).map(|value| std::array::from_fn(|k| value[k]));
    if subtrees.len() == 1 {
        let value: [u8; blake3::OUT_LEN] = values.next().unwrap_or_default();
        return blake3::Hash::from_bytes(value).to_hex().to_string();
    }
    let left = left_subtree_len(whole.len() as u64) as usize;
    let [left, right] = [0..left, left..whole.end].map(|half| merged(half, &shares, &mut values));
    merge_subtrees_root(&left, &right, Mode::Hash).to_hex().to_string()
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Tells whether a subtree is not cut any more.
///
/// Such a subtree is in one share, or is a leaf.
fn is_one(subtree: &Range<usize>, shares: &[Range<usize>]) -> bool {
    subtree.len() <= CHUNK_LEN || shares.iter().any(|share| within(subtree, share))
}

/// Returns the largest subtrees that are each in one share, in their order.
fn subtrees(tree: Range<usize>, shares: &[Range<usize>]) -> Vec<Range<usize>> {
    if is_one(&tree, shares) {
        return vec![tree];
    }
    let middle = tree.start + left_subtree_len(tree.len() as u64) as usize;
    [subtrees(tree.start..middle, shares), subtrees(middle..tree.end, shares)].concat()
}

/// Returns the value of a subtree from those of [`subtrees`], in their order.
fn merged(
    tree: Range<usize>,
    shares: &[Range<usize>],
    values: &mut impl Iterator<Item = ChainingValue>,
) -> ChainingValue {
    if is_one(&tree, shares) {
        return values.next().unwrap_or_default();
    }
    let middle = tree.start + left_subtree_len(tree.len() as u64) as usize;
    let [left, right] = [tree.start..middle, middle..tree.end].map(|half| merged(half, shares, values));
    merge_subtrees_non_root(&left, &right, Mode::Hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::Dims;
    use lattice_cl::host::{Company, Together, random};
    use std::sync::{Arc, Barrier, Mutex};

    /// Threads that stand for processes.
    struct Thread {
        rank: usize,
        told: Arc<(Mutex<Vec<Vec<u8>>>, Barrier)>,
    }

    impl Together for Thread {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            self.told.0.lock().unwrap().len()
        }

        fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
            let (told, barrier) = &*self.told;
            told.lock().unwrap()[self.rank] = own.unwrap().to_vec();
            barrier.wait();
            let all = told.lock().unwrap().clone();
            barrier.wait();
            Some(all)
        }
    }

    #[test]
    fn processes_with_parts_find_the_sum_of_all_links() {
        let dims = Dims::new([8, 6, 8, 16]).unwrap();
        let whole = random::weak(dims, 0.2, 3);
        let single = match whole.links() {
            Links::Double(links) => links.iter().map(|link| link.cast::<f32>()).collect(),
            Links::Single(links) => links.clone(),
        };
        for whole in [GaugeConfiguration::new(dims, Links::Single(single)), whole] {
            let wanted = blake3_of_links(&whole);
            for size in [1, 2, 3, 5, 8] {
                let told = Arc::new((Mutex::new(vec![Vec::new(); size]), Barrier::new(size)));
                std::thread::scope(|scope| {
                    for rank in 0..size {
                        let (whole, wanted) = (&whole, &wanted);
                        let company = Company::new(Arc::new(Thread { rank, told: Arc::clone(&told) }));
                        scope.spawn(move || {
                            let part = LocalSites::new(dims, &[], &Arc::new(company));
                            let present =
                                part.runs().flatten().flat_map(|site| NDIM * site..NDIM * (site + 1));
                            let links = match whole.links() {
                                Links::Single(links) => Links::Single(present.map(|k| links[k]).collect()),
                                Links::Double(links) => Links::Double(present.map(|k| links[k]).collect()),
                            };
                            let configuration = GaugeConfiguration::of_part(dims, links, part);
                            assert_eq!(&blake3_of_links(&configuration), wanted, "{rank} of {size}");
                        });
                    }
                });
            }
        }
    }
}
