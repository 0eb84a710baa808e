//! Blocks of rows whose products with symmetric storage write to different places.

use super::csr::Csr;
use crate::host::level1::Arithmetic;
use lattice_compute::parallel::*;

/// Blocks of rows of a large matrix, and the bounds of their sizes.
const BLOCKS: usize = 256;
const FEWEST_ROWS: usize = 16;
const MOST_ROWS: usize = 4096;

/// Blocks of neighbouring rows by colours.
///
/// A block adds to the components of its own rows, and to those of the columns of its lower
/// triangle. Blocks of one colour add to no common block of components. So they may go at the same
/// time, and each component gets its terms in a fixed order.
pub(super) struct Colouring {
    pub block_rows: usize,
    /// The blocks, colour after colour.
    pub order: Vec<u32>,
    /// The first block of each colour in `order`, and the number of all.
    pub starts: Vec<usize>,
}

impl Colouring {
    /// Colours the blocks of a Hermitian matrix, each in turn with the first colour that is free.
    pub fn of<T: Arithmetic>(matrix: &Csr<T>) -> Self {
        let rows = matrix.rows();
        let block_rows = rows.div_ceil(BLOCKS).clamp(FEWEST_ROWS, MOST_ROWS);
        let blocks = rows.div_ceil(block_rows);
        let touched = |block: usize| {
            let of_row = |row: usize| {
                let columns = matrix.columns_of[matrix.range(row)].iter();
                columns.map(|column| *column as usize).take_while(move |column| *column <= row)
            };
            let own = block * block_rows..rows.min((block + 1) * block_rows);
            let mut touched: Vec<usize> = own.flat_map(of_row).map(|column| column / block_rows).collect();
            touched.push(block);
            touched.sort_unstable();
            touched.dedup();
            touched
        };
        let touched: Vec<Vec<usize>> = (0..blocks).into_par_iter().map(touched).collect();
        // The colours of the blocks that add to a block.
        let mut used: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        let mut by_colour: Vec<Vec<u32>> = Vec::new();
        for (block, touched) in touched.iter().enumerate() {
            let is_free = |colour: &usize| touched.iter().all(|other| !used[*other].contains(colour));
            let colour = (0..by_colour.len()).find(is_free).unwrap_or(by_colour.len());
            touched.iter().for_each(|other| used[*other].push(colour));
            match by_colour.get_mut(colour) {
                Some(blocks) => blocks.push(block as u32),
                None => by_colour.push(vec![block as u32]),
            }
        }
        let mut starts = vec![0];
        for blocks in &by_colour {
            starts.push(starts[starts.len() - 1] + blocks.len());
        }
        Self { block_rows, order: by_colour.concat(), starts }
    }

    /// Returns the number of colours.
    pub fn colours(&self) -> usize {
        self.starts.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::problem::Problem;
    use std::collections::HashSet;

    #[test]
    fn blocks_of_a_colour_write_to_different_places() {
        for (text, most) in [("poisson2d:37", 4), ("poisson3d:11", 16), ("elasticity3d:4", 64)] {
            let matrix = text.parse::<Problem>().unwrap().matrix().unwrap();
            let Colouring { block_rows, order, starts } = Colouring::of(&matrix);
            let blocks = matrix.rows().div_ceil(block_rows);
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), blocks, "{text}");
            assert!(order.len() == blocks && starts.len() - 1 <= most, "{text}: {starts:?}");
            for bounds in starts.windows(2) {
                let mut written = HashSet::new();
                for block in &order[bounds[0]..bounds[1]] {
                    let first = *block as usize * block_rows;
                    let rows = first..matrix.rows().min(first + block_rows);
                    let own: HashSet<usize> = rows
                        .flat_map(|row| matrix.row(row).map(move |(column, _)| column.min(row)))
                        .collect();
                    assert!(own.iter().all(|place| written.insert(*place)), "{text}, block {block}");
                }
            }
        }
    }
}
