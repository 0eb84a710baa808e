//! Numbers that several configurations have, and copies among them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A list of numbers of each configuration.
#[derive(Default)]
pub struct Configurations {
    pub values: Vec<Vec<f64>>,
    /// The places of the results in the list of files.
    pub files: Vec<usize>,
    /// The sum of each configuration's links, if its result has it.
    links: Vec<Option<Arc<str>>>,
    by_links: HashMap<Arc<str>, usize>,
    by_values: HashMap<u64, Vec<usize>>,
}

/// A result that is of a configuration which another result has, too.
#[derive(Debug, PartialEq)]
pub struct Duplicate {
    /// The place of the other result in the list of files.
    pub file: usize,
    /// The property that both have, in words.
    pub same: String,
}

impl Configurations {
    /// Adds the numbers of a file.
    ///
    /// # Errors
    /// A file before is of the same links. If sums of links are missing, it has the same numbers.
    pub fn add(&mut self, file: usize, links: Option<Arc<str>>, values: Vec<f64>) -> Result<(), Duplicate> {
        let own = self.files.len();
        if let Some(links) = &links {
            if let Some(&other) = self.by_links.get(links) {
                let same = format!("BLAKE3 {}", links.get(..16).unwrap_or(links));
                return Err(Duplicate { file: self.files[other], same });
            }
            self.by_links.insert(links.clone(), own);
        }
        // Zeros are alike whatever the links are.
        if values.iter().any(|value| *value != 0.0) {
            let alike = self.by_values.entry(hash(&values)).or_default();
            let is_copy = |&other: &usize| {
                (links.is_none() || self.links[other].is_none()) && self.values[other] == values
            };
            if let Some(&other) = alike.iter().find(|other| is_copy(other)) {
                return Err(Duplicate { file: self.files[other], same: "the same numbers".to_owned() });
            }
            alike.push(own);
        }
        self.values.push(values);
        self.files.push(file);
        self.links.push(links);
        Ok(())
    }

    /// Returns the first configuration whose list has another length than that of the first.
    pub fn of_other_length(&self) -> Option<usize> {
        self.values.iter().position(|values| values.len() != self.values[0].len())
    }
}

/// Returns a hash of numbers.
fn hash(values: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Zero has one sign.
    values.iter().for_each(|value| (value + 0.0).to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_told_by_links_or_by_numbers() {
        let links = |text: &str| Some(Arc::from(text));
        let mut all = Configurations::default();
        assert_eq!(all.add(0, links("a"), vec![1.0, 2.0]), Ok(()));
        assert_eq!(all.add(1, links("b"), vec![1.0, 2.0]), Ok(()));
        assert_eq!(all.add(2, None, vec![0.0]), Ok(()));
        assert_eq!(all.add(3, None, vec![-0.0]), Ok(()));
        for (sum, values, file, same) in
            [(links("b"), vec![3.0], 1, "BLAKE3 b"), (None, vec![1.0, 2.0], 0, "the same numbers")]
        {
            assert_eq!(all.add(4, sum, values), Err(Duplicate { file, same: same.to_owned() }));
        }
        assert_eq!((all.files.as_slice(), all.of_other_length()), (&[0, 1, 2, 3][..], Some(2)));
    }
}
