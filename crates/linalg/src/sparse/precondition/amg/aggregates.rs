//! Aggregates: points that become one on the next level.

use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::size;
use crate::sparse::csr::Csr;
use rayon::prelude::*;

/// Strong connections between points, each with its strength.
pub(super) struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
}

/// The aggregate of each point; `None` for a point without connections.
pub(super) struct Aggregates {
    pub of_point: Vec<Option<u32>>,
    pub count: usize,
}

impl Graph {
    /// Finds the connections of points of `block` unknowns with |aᵢⱼ|² ≥ θ² |aᵢᵢ aⱼⱼ|.
    ///
    /// The size of a block is that of all of its elements together.
    pub fn new<T: Arithmetic>(matrix: &Csr<T>, block: usize, theta: f64) -> Self {
        let points = matrix.rows() / block;
        let of_point = |point: usize| {
            let mut sizes: Vec<(u32, f64)> = (point * block..(point + 1) * block)
                .flat_map(|row| matrix.row(row))
                .map(|(column, value)| ((column / block) as u32, size(value).powi(2)))
                .collect();
            sizes.sort_by_key(|(other, _)| *other);
            sizes.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    first.1 += later.1;
                }
                same
            });
            sizes
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..points).into_par_iter().map(of_point).collect();
        let own = |point: usize| {
            rows[point].iter().find(|(other, _)| *other as usize == point).map_or(0.0, |(_, s)| *s)
        };
        let diagonal: Vec<f64> = (0..points).map(own).collect();
        let (mut starts, mut neighbours) = (vec![0], Vec::new());
        for (point, row) in rows.iter().enumerate() {
            neighbours.extend(row.iter().copied().filter(|&(other, size)| {
                let least = theta * theta * (diagonal[point] * diagonal[other as usize]).sqrt();
                other as usize != point && size > 0.0 && size >= least
            }));
            starts.push(neighbours.len());
        }
        Self { starts, neighbours }
    }

    fn of(&self, point: usize) -> &[(u32, f64)] {
        &self.neighbours[self.starts[point]..self.starts[point + 1]]
    }

    /// Makes aggregates of neighbours, in the order of points.
    ///
    /// First come points without a neighbour in an aggregate, each with all of its neighbours. They
    /// are a maximal independent set of distance two. Then the other points join the aggregate of
    /// their strongest connection.
    pub fn aggregates(&self) -> Aggregates {
        let points = self.starts.len() - 1;
        let mut first: Vec<Option<u32>> = vec![None; points];
        let mut count = 0;
        for point in 0..points {
            let neighbours = self.of(point);
            let is_free = |(other, _): &(u32, f64)| first[*other as usize].is_none();
            if first[point].is_none() && !neighbours.is_empty() && neighbours.iter().all(is_free) {
                first[point] = Some(count);
                neighbours.iter().for_each(|(other, _)| first[*other as usize] = Some(count));
                count += 1;
            }
        }
        let mut of_point = first.clone();
        for point in (0..points).filter(|&point| first[point].is_none()) {
            let aggregated = self.of(point).iter().filter(|(other, _)| first[*other as usize].is_some());
            let strongest = aggregated.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            of_point[point] = strongest.and_then(|(other, _)| first[*other as usize]);
        }
        // Connections that go one way only leave some.
        for point in 0..points {
            if of_point[point].is_none() && !self.of(point).is_empty() {
                of_point[point] = Some(count);
                for (other, _) in self.of(point) {
                    of_point[*other as usize].get_or_insert(count);
                }
                count += 1;
            }
        }
        Aggregates { of_point, count: count as usize }
    }
}
