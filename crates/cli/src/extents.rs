//! m, n and k of products on the command line.

use std::fmt;

/// Most elements of a matrix.
const MOST_ELEMENTS: usize = 1 << 32;

/// m, n and k of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents(pub [usize; 3]);

impl Extents {
    /// Parses `1024` or `8192x32x8192`.
    ///
    /// # Errors
    /// A message that names the wanted forms, if the text is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text.split('x').map(|word| word.parse().ok()).collect();
        let extents = match numbers.as_deref() {
            Some(&[n]) => [n; 3],
            Some(&[m, n, k]) => [m, n, k],
            _ => return Err("one or three numbers are wanted: 1024 or 8192x32x8192".to_owned()),
        };
        let [m, n, k] = extents;
        let fits = |a: usize, b: usize| a.checked_mul(b).is_some_and(|count| count <= MOST_ELEMENTS);
        if extents.contains(&0) || ![(m, n), (m, k), (n, k)].into_iter().all(|(a, b)| fits(a, b)) {
            return Err("matrices of 1 to 2³² elements are wanted: 65536 or 8192x32x8192".to_owned());
        }
        Ok(Self(extents))
    }

    /// Returns n of square matrices.
    pub fn square(&self) -> Option<usize> {
        let [m, n, k] = self.0;
        (m == n && n == k).then_some(n)
    }
}

impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.0;
        match self.square() {
            Some(n) => write!(f, "{n}"),
            None => write!(f, "{m}x{n}x{k}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_or_three() {
        for (text, extents) in [("7", [7; 3]), ("12x32x1048576", [12, 32, 1 << 20])] {
            let parsed = Extents::parse(text).unwrap();
            assert_eq!(parsed.0, extents);
            assert_eq!(parsed.to_string(), text);
        }
        for text in ["", "8x8", "0", "4x0x4", "1048576", "-1", "4x4x4x4", "18446744073709551615x2x1"] {
            assert!(Extents::parse(text).is_err(), "{text}");
        }
    }
}
