//! Aggregates: points that become one on the next level.

use super::dense_rows::DensePoints;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{size, square};
use crate::sparse::csr::Csr;
use lattice_compute::parallel::*;
use lattice_solvers::range::{complex_times_power, exponent, larger};

/// Points that one task looks at.
const PIECE: usize = 4096;

/// Undecided points, and seeds of aggregates, with their priority in the lower half.
const UNDECIDED: u64 = 1 << 32;
const SEED: u64 = 2 << 32;

/// Points, each with the strength of a connection.
type Neighbours = Vec<(u32, f32)>;

/// Strong connections between points.
pub(super) struct Graph {
    starts: Vec<usize>,
    neighbours: Neighbours,
}

/// The aggregate of each point; `None` for a point without connections.
pub(super) struct Aggregates {
    pub of_point: Vec<Option<u32>>,
    pub count: usize,
}

impl Graph {
    /// Finds the connections of points of `block` unknowns with |aᵢⱼ|² ≥ `least` |aᵢᵢ aⱼⱼ|.
    ///
    /// Points with a dense row have none. The size of a block is that of all of its elements together. Strengths are rounded to single
    /// precision, so that no rounding error decides between equal ones.
    pub fn new<T: Arithmetic>(matrix: &Csr<T>, block: usize, least: f32, dense: &DensePoints) -> Self {
        let points = matrix.rows() / block;
        // Strengths have no scale, but squares leave the range far from 1.
        let size = matrix.values.par_iter().map(|value| size(*value)).reduce(|| 0.0, larger);
        let power = exponent(size);
        let square = |value: T| square(T::from_complex(complex_times_power(value.to_complex(), -power)));
        // Σ|a|² of each block in the rows of a point.
        let squares = |point: usize, found: &mut Vec<(u32, f64)>| {
            found.clear();
            let rows = point * block..(point + 1) * block;
            let entries = rows.flat_map(|row| matrix.row(row));
            found.extend(entries.map(|(column, value)| ((column / block) as u32, square(value))));
            if block > 1 {
                // A stable sort keeps the order of additions.
                found.sort_by_key(|(other, _)| *other);
                found.dedup_by(|later, first| {
                    let same = later.0 == first.0;
                    if same {
                        first.1 += later.1;
                    }
                    same
                });
            }
        };
        let own = |point: usize| {
            let entries = (point * block..(point + 1) * block).flat_map(|row| {
                let of_point = move |column: &usize| column / block == point;
                matrix.row(row).filter(move |(column, _)| of_point(column))
            });
            entries.fold(0.0, |sum, (_, value)| sum + square(value)).sqrt()
        };
        let sizes: Vec<f64> = (0..points).into_par_iter().map(own).collect();
        let pieces: Vec<(Vec<usize>, Neighbours)> = (0..points.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let (mut ends, mut neighbours, mut found) = (Vec::new(), Vec::new(), Vec::new());
                for point in piece * PIECE..points.min((piece + 1) * PIECE) {
                    found.clear();
                    if !dense.has(point) {
                        squares(point, &mut found);
                    }
                    neighbours.extend(found.iter().filter_map(|&(other, square)| {
                        let strength = (square / (sizes[point] * sizes[other as usize])) as f32;
                        let is_strong = strength > 0.0 && strength >= least && !dense.has(other as usize);
                        (other as usize != point && is_strong).then_some((other, strength))
                    }));
                    ends.push(neighbours.len());
                }
                (ends, neighbours)
            })
            .collect();
        let (mut starts, mut neighbours) = (vec![0], Vec::new());
        for (ends, more) in pieces {
            starts.extend(ends.into_iter().map(|end| neighbours.len() + end));
            neighbours.extend(more);
        }
        Self { starts, neighbours }
    }

    fn points(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, point: usize) -> &[(u32, f32)] {
        &self.neighbours[self.starts[point]..self.starts[point + 1]]
    }

    /// Makes aggregates of neighbours.
    ///
    /// Seeds are a maximal independent set of distance two, found in the order of a number that each
    /// point has and that looks random. Each makes an aggregate with its neighbours. Then the other
    /// points join the aggregate of their strongest connection. Nothing depends on the order in which
    /// points are looked at. Source: N. Bell, S. Dalton and L. N. Olson, SIAM J. Sci. Comput. 34 (2012)
    /// C123.
    pub fn aggregates(&self) -> Aggregates {
        let states = self.seeds();
        let is_seed = |point: usize| states[point] & SEED != 0;
        let mut count = 0;
        let numbers: Vec<u32> = (0..self.points())
            .map(|point| {
                count += u32::from(is_seed(point));
                count.wrapping_sub(1)
            })
            .collect();
        let of_seed = |point: usize| {
            let neighbours = self.of(point).iter().map(|(other, _)| *other as usize);
            let seed = std::iter::once(point).chain(neighbours).find(|point| is_seed(*point));
            seed.map(|seed| numbers[seed])
        };
        let first: Vec<Option<u32>> = (0..self.points()).into_par_iter().map(of_seed).collect();
        let joined = |point: usize| {
            first[point].or_else(|| {
                let aggregated = self.of(point).iter().filter(|(other, _)| first[*other as usize].is_some());
                // The last of the equal ones from behind is the first.
                let strongest = aggregated.rev().max_by(|a, b| a.1.total_cmp(&b.1));
                strongest.and_then(|(other, _)| first[*other as usize])
            })
        };
        let of_point = (0..self.points()).into_par_iter().map(joined).collect();
        Aggregates { of_point, count: count as usize }
    }

    /// Returns the states of points when none is undecided any more.
    fn seeds(&self) -> Vec<u64> {
        let begin = |point: usize| match self.of(point) {
            [] => 0,
            _ => UNDECIDED | u64::from(shuffled(point as u32)),
        };
        let mut states: Vec<u64> = (0..self.points()).into_par_iter().map(begin).collect();
        while states.par_iter().any(|state| state & UNDECIDED != 0) {
            let largest = |states: &[u64], point: usize| {
                self.of(point)
                    .iter()
                    .fold(states[point], |most, (other, _)| most.max(states[*other as usize]))
            };
            let around: Vec<u64> =
                (0..states.len()).into_par_iter().map(|point| largest(&states, point)).collect();
            states.par_iter_mut().enumerate().for_each(|(point, state)| {
                if *state & UNDECIDED != 0 {
                    let largest = largest(&around, point);
                    if largest == *state {
                        *state = SEED | u64::from(*state as u32);
                    } else if largest & SEED != 0 {
                        *state = 0;
                    }
                }
            });
        }
        states
    }
}

/// A one-to-one function of 32 bits without pattern.
fn shuffled(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::problem::Problem;

    /// Checks what makes a maximal independent set of distance two, and aggregates of it.
    #[test]
    fn seeds_are_apart_and_everybody_is_near_one() {
        for (text, block) in [("poisson2d:23", 1), ("poisson3d:7x9x11", 1), ("elasticity3d:3", 3)] {
            let matrix = text.parse::<Problem>().unwrap().matrix().unwrap();
            let graph = Graph::new(&matrix, block, 0.0, &DensePoints::new(&matrix, block));
            let (states, aggregates) = (graph.seeds(), graph.aggregates());
            let is_seed = |point: usize| states[point] & SEED != 0;
            let within = |point: usize| {
                let mut near: Vec<usize> = graph.of(point).iter().map(|(other, _)| *other as usize).collect();
                near.push(point);
                near
            };
            for point in 0..graph.points() {
                let mut near: Vec<usize> = within(point).into_iter().flat_map(within).collect();
                near.sort_unstable();
                near.dedup();
                let seeds = near.iter().filter(|other| is_seed(**other)).count();
                assert!(seeds >= 1 && (!is_seed(point) || seeds == 1), "{text}: {point} {seeds}");
                assert!(aggregates.of_point[point].is_some_and(|of| (of as usize) < aggregates.count));
                if is_seed(point) {
                    let own = aggregates.of_point[point];
                    assert!(within(point).iter().all(|other| aggregates.of_point[*other] == own), "{text}");
                }
            }
            assert_eq!(aggregates.count, (0..graph.points()).filter(|point| is_seed(*point)).count());
        }
    }

    /// Connections that go one way only leave nobody out.
    #[test]
    fn every_point_with_a_connection_has_an_aggregate() {
        let n = 60_u32;
        let row = |i: u32| {
            let mut columns = vec![i, (7 * i + 3) % n, (i * i + 11) % n];
            columns.sort_unstable();
            columns.dedup();
            columns.into_iter().map(move |j| (j, if i == j { 4.0 } else { 1.0 })).collect::<Vec<_>>()
        };
        let matrix = Csr::from_rows(n as usize, (0..n).map(row));
        let graph = Graph::new(&matrix, 1, 0.0, &DensePoints::new(&matrix, 1));
        let aggregates = graph.aggregates();
        for point in 0..n as usize {
            assert_eq!(aggregates.of_point[point].is_none(), graph.of(point).is_empty(), "{point}");
        }
    }

    #[test]
    fn no_two_points_have_the_same_priority() {
        let mut all: Vec<u32> = (0..100_000).map(shuffled).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 100_000);
    }
}
