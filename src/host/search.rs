//! A search for the first item with a property, by all threads.

use crate::compute::parallel::*;

/// Returns the lowest index of an item that is like this.
pub(crate) fn first_index<T: Sync>(items: &[T], is: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    items.par_iter().enumerate().find_map_first(|(index, item)| is(item).then_some(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of a part, whose ends are tried.
    const PIECE: usize = 4096;

    #[test]
    fn the_lowest_index_is_found_in_every_piece() {
        let len = 10 * PIECE + 7;
        let places = [0, 1, PIECE - 1, PIECE, 3 * PIECE + 5, 10 * PIECE, len - 1];
        for (k, &first) in places.iter().enumerate() {
            let mut items = vec![false; len];
            for &place in &places[k..] {
                items[place] = true;
            }
            assert_eq!(first_index(&items, |item| *item), Some(first));
        }
        assert_eq!(first_index(&vec![false; len], |item| *item), None);
        assert_eq!(first_index(&[] as &[bool], |item| *item), None);
    }
}
