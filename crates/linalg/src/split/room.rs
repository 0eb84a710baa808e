//! The parts of a product that the memory of a device holds at a time.

/// Most strips of A that there is memory for.
///
/// The last one is on its way while the others are multiplied.
const MOST_STRIPS: usize = 5;

/// Fewest strips of A.
///
/// With fewer, none could be on its way.
const LEAST_STRIPS: usize = 2;

/// Panels of B that go round if not all panels fit.
pub const PANELS: usize = 2;

/// Tiles of C that are under way.
pub const TILES: usize = 3;

/// Bytes of the parts that a product is cut into.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub strip: usize,
    pub panel: usize,
    pub tile: usize,
    /// Bytes of all of B.
    pub b: usize,
}

/// The parts in the memory of a device at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Number of strips of A, with the one on its way.
    pub strips: usize,
    /// `true` if B stays once it is there.
    ///
    /// Otherwise there are [`PANELS`] panels of B.
    pub keeps_b: bool,
}

impl Room {
    /// Fits the parts into `memory` bytes.
    ///
    /// B stays if it fits at all, because each group of strips would need it anew.
    pub fn new(memory: u64, sizes: Sizes) -> Self {
        let Sizes { strip, panel, tile, b } = sizes;
        let fits = |strips: usize, of_b: usize| {
            let bytes = strip.saturating_mul(strips).saturating_add(tile.saturating_mul(TILES));
            bytes.saturating_add(of_b) as u64 <= memory
        };
        let strips = |of_b| (LEAST_STRIPS..=MOST_STRIPS).rev().find(|&strips| fits(strips, of_b));
        let least = Self { strips: LEAST_STRIPS, keeps_b: false };
        let with_all = strips(b).map(|strips| Self { strips, keeps_b: true });
        let with_panels = || strips(panel.saturating_mul(PANELS)).map(|strips| Self { strips, ..least });
        with_all.or_else(with_panels).unwrap_or(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_stays_if_it_fits_and_strips_make_room_for_it() {
        let sizes = Sizes { strip: 10, panel: 5, tile: 1, b: 100 };
        let room = |memory| Room::new(memory, sizes);
        assert_eq!(room(153), Room { strips: 5, keeps_b: true });
        assert_eq!(room(152), Room { strips: 4, keeps_b: true });
        assert_eq!(room(123), Room { strips: 2, keeps_b: true });
        assert_eq!(room(122), Room { strips: 5, keeps_b: false });
        assert_eq!(room(62), Room { strips: 4, keeps_b: false });
        assert_eq!(room(33), Room { strips: 2, keeps_b: false });
        assert_eq!(room(1), Room { strips: 2, keeps_b: false }, "an allocation will fail, and say so");
        assert!(!Room::new(u64::MAX / 2, Sizes { b: usize::MAX, ..sizes }).keeps_b);
    }
}
