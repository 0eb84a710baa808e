//! All objects of a file with their paths.

use super::dataset::Dataset;
use super::group::links;
use super::object::Object;
use super::superblock::root;
use super::{Input, bad};
use crate::io::error::Error;
use std::collections::HashSet;

/// Most objects of a file that are looked at.
const MOST_OBJECTS: usize = 1 << 14;

/// Most groups within groups.
const DEEPEST: usize = 16;

/// The objects of a file.
pub(in crate::io) struct File {
    /// The objects with their paths.
    ///
    /// A group comes before its content. The path of the root is empty.
    objects: Vec<(String, Object)>,
}

/// A dataset that was looked for.
pub(in crate::io) struct Found<'a> {
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
        let (mut next, mut depths) = (0, vec![0]);
        while next < objects.len() {
            for (name, address) in links(input, &objects[next].1)? {
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
                objects.push((path, Object::read(input, address)?));
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
    pub(in crate::io) fn datasets(&self, input: &mut Input) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        for (path, object) in self.objects.iter().filter(|(_, object)| object.is_dataset()) {
            if let Ok(dataset) = Dataset::of(input, object) {
                found.push(Found { path, object, dataset });
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
            described.push(match Dataset::of(input, object) {
                Ok(dataset) => format!("{path} {:?}", dataset.shape()),
                Err(error) => format!("{path} ({})", error.kind),
            });
        }
        described
    }
}
