//! All objects of a file with their paths.

use super::dataset::Dataset;
use super::group::links;
use super::object::Object;
use super::superblock::root;
use super::unread::Unread;
use super::{Input, bad};
use crate::io::error::Error;
use lattice_files::text::{printable, quoted, tuple};
use std::collections::HashSet;

/// Most objects of a file that are looked at.
const MOST_OBJECTS: usize = 1 << 20;

/// Most groups within groups.
const DEEPEST: usize = 16;

/// Most datasets that a warning names.
const MOST_NAMED: usize = 8;

/// The objects of a file.
pub(in crate::io) struct File {
    /// The objects with their paths.
    ///
    /// A group comes before its content. The path of the root is empty.
    objects: Vec<(String, Object)>,
}

/// A dataset with its path.
pub(in crate::io) struct NamedDataset<'a> {
    pub(in crate::io) path: &'a str,
    pub(in crate::io) object: &'a Object,
    pub(in crate::io) dataset: Dataset,
}

impl File {
    /// Reads the headers of all objects.
    pub(in crate::io) fn read(input: &mut Input) -> Result<Self, Error> {
        let root = root(input)?;
        let mut objects = vec![(String::new(), Object::read(input, root)?)];
        let mut seen = HashSet::from([root]);
        let mut unread = Unread::of(input);
        let (mut next, mut depths) = (0, vec![0]);
        while next < objects.len() {
            for (name, address) in links(input, &objects[next].1, &mut unread)? {
                // A second name for an object leads to nothing new.
                if !seen.insert(address) {
                    continue;
                }
                if objects.len() == MOST_OBJECTS || depths[next] == DEEPEST {
                    let problem = format!(
                        "the file has more than {MOST_OBJECTS} objects, or groups deeper than {DEEPEST}"
                    );
                    return Err(bad(input, address, problem));
                }
                let path = format!("{}/{name}", objects[next].0);
                let object = Object::read(input, address)?;
                unread.take(input, address, object.bytes())?;
                objects.push((path, object));
                depths.push(depths[next] + 1);
            }
            next += 1;
        }
        Ok(Self { objects })
    }

    /// Returns the object with a path, for example `/group/dataset`.
    pub(in crate::io) fn get(&self, path: &str) -> Option<&Object> {
        self.objects.iter().find(|(found, _)| found == path).map(|(_, object)| object)
    }

    /// Returns the datasets of numbers, in the order of the file.
    ///
    /// Datasets of something else, or in a form that is not read, are left out.
    pub(in crate::io) fn datasets(&self, input: &mut Input) -> Vec<NamedDataset<'_>> {
        let mut found = Vec::new();
        for (path, object) in self.objects.iter().filter(|(_, object)| object.is_dataset()) {
            if let Ok(dataset) = Dataset::of(input, object) {
                found.push(NamedDataset { path, object, dataset });
            }
        }
        found
    }

    /// Lists the datasets for a message.
    ///
    /// Each has its shape, or the reason why it is not read.
    pub(in crate::io) fn described(&self, input: &mut Input) -> Vec<String> {
        let datasets = self.objects.iter().filter(|(_, object)| object.is_dataset());
        let mut described = Vec::new();
        for (path, object) in datasets {
            let path = printable(path);
            described.push(match Dataset::of(input, object) {
                Ok(dataset) => format!("{path} {}", tuple(&dataset.shape())),
                Err(error) => format!("{path} ({})", error.kind),
            });
        }
        described
    }

    /// Returns a warning that names all datasets but those that are read.
    pub(in crate::io) fn warning_of_others(&self, input: &mut Input, read: &[&str]) -> Option<String> {
        let all = self.objects.iter().filter(|(_, object)| object.is_dataset());
        let is_other: Vec<bool> = all.map(|(path, _)| !read.contains(&path.as_str())).collect();
        let described = self.described(input).into_iter().zip(is_other);
        let others: Vec<String> = described.filter_map(|(text, is_other)| is_other.then_some(text)).collect();
        if others.is_empty() {
            return None;
        }
        let read = read.iter().map(|path| printable(path)).collect::<Vec<_>>().join(", ");
        let more = match others.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = others.iter().take(MOST_NAMED).map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        Some(format!("only {read} is read, not {named}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::hdf5::{Element, Writer};
    use crate::io::output::Output;
    use std::path::Path;

    /// Writes groups `/g/0`, `/g/1`, …, each with a dataset.
    fn groups(path: &Path, count: usize) {
        let mut output = Output::create(path).unwrap();
        let mut writer = Writer::begin(&mut output).unwrap();
        for k in 0..count {
            let name = k.to_string();
            let write = |output: &mut Output| output.write(&[k as u8]);
            writer.dataset(&["g", &name, "x"], &[1], Element::Byte, write).unwrap();
        }
        writer.group(&["empty"]);
        writer.finish().unwrap();
        output.finish().unwrap();
    }

    #[test]
    fn groups_of_any_size_have_all_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.h5");
        // Around one leaf, one node of leaves, and one node of nodes.
        for count in [1, 2, 4, 5, 31, 32, 33, 255, 256, 257, 3000] {
            groups(&path, count);
            let mut input = Input::open(&path).unwrap();
            let file = File::read(&mut input).unwrap();
            assert_eq!(file.objects.len(), 3 + 2 * count);
            let mut names: Vec<String> = (0..count).map(|k| k.to_string()).collect();
            names.sort();
            let paths = file.objects.iter().filter_map(|(path, _)| path.strip_prefix("/g/"));
            assert!(paths.filter(|path| !path.contains('/')).eq(&names), "{count}");
            assert!(names.iter().all(|name| file.get(&format!("/g/{name}/x")).unwrap().is_dataset()));
        }
    }

    /// A node that is its own child.
    #[test]
    fn circles_of_nodes_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.h5");
        groups(&path, 40);
        let mut bytes = std::fs::read(&path).unwrap();
        let nodes = bytes.windows(6).enumerate().filter(|(_, bytes)| bytes == b"TREE\0\x01");
        let node = nodes.map(|(at, _)| at).next().unwrap();
        for child in (node + 32..node + 32 + 16 * 8).step_by(16) {
            bytes[child..child + 8].copy_from_slice(&(node as u64).to_le_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
        let error = File::read(&mut Input::open(&path).unwrap()).err().unwrap().to_string();
        assert!(error.contains("circle") || error.contains("no node"), "{error}");
    }
}
