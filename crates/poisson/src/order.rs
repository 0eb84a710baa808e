//! Orders in which the points of a mesh lie in memory.

/// The order of a mesh's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshOrder {
    /// The third index is fastest.
    #[default]
    Sequential,
    /// N×N×N sub-points of a mesh cell lie together.
    ///
    /// The mesh n_i = N·N_i has the value of point N·i + s at
    /// (i₃N₁N₂ + i₂N₁ + i₁)·N³ + (s₃N + s₂)N + s₁: cells and sub-points have the first index fastest.
    Clustered(usize),
}

impl MeshOrder {
    /// Returns the axis whose extent the order does not divide; `None` if it divides all.
    pub fn misfit(self, shape: [usize; 3]) -> Option<usize> {
        match self {
            MeshOrder::Sequential => None,
            MeshOrder::Clustered(0) => Some(0),
            MeshOrder::Clustered(n) => shape.iter().position(|extent| !extent.is_multiple_of(n)),
        }
    }

    /// Returns where the value of a mesh point lies.
    ///
    /// The order divides the shape, and the point lies in it.
    pub fn place(self, shape: [usize; 3], point: [usize; 3]) -> usize {
        match self {
            MeshOrder::Sequential => (point[0] * shape[1] + point[1]) * shape[2] + point[2],
            MeshOrder::Clustered(n) => {
                let [cells1, cells2] = [shape[0] / n, shape[1] / n];
                let [i, s] = [point.map(|p| p / n), point.map(|p| p % n)];
                ((i[2] * cells2 + i[1]) * cells1 + i[0]) * n * n * n + (s[2] * n + s[1]) * n + s[0]
            }
        }
    }
}

impl std::fmt::Display for MeshOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MeshOrder::Sequential => f.write_str("sequential"),
            MeshOrder::Clustered(n) => write!(f, "clustered:{n}"),
        }
    }
}

impl std::str::FromStr for MeshOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|&n| n > 0);
        match text.strip_prefix("clustered:").map(number) {
            Some(Some(n)) => Ok(MeshOrder::Clustered(n)),
            None if text == "sequential" => Ok(MeshOrder::Sequential),
            _ => Err(format!("`{text}` is no order; choose sequential or clustered:N with N ≥ 1")),
        }
    }
}

/// Copies the values of a mesh from one order to another.
///
/// # Panics
/// If an order does not divide the shape, or the lengths differ from the number of points.
pub fn reorder<V: Copy>(shape: [usize; 3], from: (&[V], MeshOrder), to: (&mut [V], MeshOrder)) {
    for i in 0..shape[0] {
        for j in 0..shape[1] {
            for k in 0..shape[2] {
                to.0[to.1.place(shape, [i, j, k])] = from.0[from.1.place(shape, [i, j, k])];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations() {
        let shape = [4, 6, 8];
        let values: Vec<usize> = (0..192).collect();
        for order in [MeshOrder::Clustered(1), MeshOrder::Clustered(2)] {
            let (mut there, mut back) = (vec![0; 192], vec![0; 192]);
            reorder(shape, (&values, MeshOrder::Sequential), (&mut there, order));
            reorder(shape, (&there, order), (&mut back, MeshOrder::Sequential));
            assert_eq!(back, values);
            assert_ne!(there, values);
        }
        // Sub-point (1, 0, 1) of cell (1, 2, 3), by the formula.
        assert_eq!(MeshOrder::Clustered(2).place(shape, [3, 4, 7]), (3 * 6 + 2 * 2 + 1) * 8 + 4 + 1);
        assert_eq!(MeshOrder::Clustered(4).misfit(shape), Some(1));
        assert_eq!("clustered:3".parse(), Ok(MeshOrder::Clustered(3)));
        assert!("clustered:0".parse::<MeshOrder>().is_err());
    }
}
