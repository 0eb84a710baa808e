//! The circumstances that the fastest variant of a kernel depends on.

use std::fmt;

/// The key of a fastest variant on a device.
///
/// The key is a kernel, its options that are not tuned, and the size of the problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    kernel: &'static str,
    options: String,
    extents: String,
}

impl Key {
    /// Makes the key of a kernel without options, on problems of one class.
    ///
    /// The family chooses the class and describes it in words, for people to read.
    pub fn new(kernel: &'static str, extents: impl fmt::Display) -> Self {
        Self { kernel, options: String::new(), extents: extents.to_string() }
    }

    /// Adds an option. The order of options is part of the key.
    pub fn option(mut self, name: &str, value: impl fmt::Display) -> Self {
        let space = if self.options.is_empty() { "" } else { " " };
        self.options.push_str(&format!("{space}{name}={value}"));
        self
    }

    /// Returns the kernel's name.
    pub fn kernel(&self) -> &str {
        self.kernel
    }

    /// Returns the options, written `name=value name=value`.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Returns the class of extents.
    pub fn extents(&self) -> &str {
        &self.extents
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, options, extents } = self;
        let words = [*kernel, options, extents];
        f.write_str(&words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }
}

/// Returns the class of a problem with this many sites: `sites<=2^20`.
pub fn sites_class(sites: usize) -> String {
    format!("sites<=2^{}", sites.next_power_of_two().trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_as_words() {
        let key = Key::new("wilson", "lanes=1 sites<=2^20").option("precision", "double").option("links", 12);
        assert_eq!(key.options(), "precision=double links=12");
        assert_eq!(key.to_string(), "wilson precision=double links=12 lanes=1 sites<=2^20");
        assert_eq!(Key::new("copy", "").to_string(), "copy");
    }

    #[test]
    fn classes_are_bounded_by_powers_of_two() {
        for (sites, class) in [(1, 0), (16, 4), (17, 5), (1 << 20, 20), ((1 << 20) + 1, 21)] {
            assert_eq!(sites_class(sites), format!("sites<=2^{class}"));
        }
    }
}
