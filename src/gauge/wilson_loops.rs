//! Wilson loops, and the static potential that they give.

use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Matrix3, NoRoom, expect_room, ordered_sum};
use rayon::prelude::*;
use serde::Serialize;

/// Directions of space.
const SPACE: usize = NDIM - 1;

/// Averages of rectangular Wilson loops: ⅓ Re tr around r by t links.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct WilsonLoops {
    /// `loops[r − 1][t − 1]`.
    pub loops: Vec<Vec<f64>>,
}

/// The reason why there are no loops.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WilsonLoopError {
    /// A side is zero.
    #[error("loops of {0:?} links do not exist: both sides have at least one link")]
    NoSide([usize; 2]),
    /// A side is longer than the lattice.
    #[error(
        "loops of {length} links in direction {direction} do not fit: the lattice has {extent} sites there"
    )]
    TooLong {
        /// Links of the side.
        length: usize,
        /// The direction's name.
        direction: char,
        /// The extent of the lattice.
        extent: usize,
    },
    /// The two fields have other extents.
    #[error("the links in space have extents {space}, those in time {time}")]
    OtherDims {
        /// The extents of the configuration for links in space.
        space: Dims,
        /// The extents of the configuration for links in time.
        time: Dims,
    },
    /// There is not enough memory for lines of links.
    #[error(transparent)]
    OutOfMemory(#[from] NoRoom),
}

impl WilsonLoops {
    /// Measures loops of up to `sides` = \[R, T\] links in space and time.
    ///
    /// W(r,t) = ⟨⅓ Re tr\[L_k(x;r) L_t(x+r k;t) L_k†(x+t;r) L_t†(x;t)\]⟩ with straight lines L,
    /// averaged over sites and over k = x, y, z. Lines of as many links as the lattice has sites
    /// are closed around it.
    ///
    /// Lines in space are made of the links of `space`, which may be smeared. Lines in time are
    /// made of the links of `time`.
    ///
    /// Besides the links there are two lines for each site, 288 bytes.
    ///
    /// # Errors
    /// When a side is zero or longer than the lattice, when the fields differ in their extents, and
    /// without memory.
    pub fn in_time(
        space: &GaugeConfiguration,
        time: &GaugeConfiguration,
        sides: [usize; 2],
    ) -> Result<Self, WilsonLoopError> {
        let (of_space, of_time) = (space.dims(), time.dims());
        if of_space != of_time {
            return Err(WilsonLoopError::OtherDims { space: of_space, time: of_time });
        }
        averaged(space, time, sides, &[(0, SPACE), (1, SPACE), (2, SPACE)])
    }

    /// Measures loops with both sides in space.
    ///
    /// The loops are averaged over the planes xy, xz and yz. The first side lies along the first
    /// letter.
    ///
    /// # Errors
    /// The errors of [`in_time`](Self::in_time).
    pub fn in_space(space: &GaugeConfiguration, sides: [usize; 2]) -> Result<Self, WilsonLoopError> {
        averaged(space, space, sides, &[(0, 1), (0, 2), (1, 2)])
    }

    /// Returns the static potential V(r,t) = ln\[W(r,t)/W(r,t+1)\].
    ///
    /// The element is `[r − 1][t − 1]`. `None` if a loop is not positive.
    pub fn potential(&self) -> Vec<Vec<Option<f64>>> {
        let of_pair = |pair: &[f64]| {
            let is_there = pair[0] > 0.0 && pair[1] > 0.0;
            is_there.then(|| (pair[0] / pair[1]).ln())
        };
        self.loops.iter().map(|row| row.windows(2).map(of_pair).collect()).collect()
    }
}

/// Measures loops, averaged over planes.
///
/// A plane is given as (direction of the first side, direction of the second side).
fn averaged(
    first: &GaugeConfiguration,
    second: &GaugeConfiguration,
    [r_most, t_most]: [usize; 2],
    planes: &[(usize, usize)],
) -> Result<WilsonLoops, WilsonLoopError> {
    let dims = first.dims();
    if r_most == 0 || t_most == 0 {
        return Err(WilsonLoopError::NoSide([r_most, t_most]));
    }
    for &(k, l) in planes {
        for (length, mu) in [(r_most, k), (t_most, l)] {
            if length > dims[mu] {
                let direction = Dims::direction_name(mu);
                return Err(WilsonLoopError::TooLong { length, direction, extent: dims[mu] });
            }
        }
    }
    expect_room((2 * dims.volume() * size_of::<Matrix3<f64>>()) as u64)?;
    let mut loops = vec![vec![0.0; t_most]; r_most];
    let norm = 1.0 / (3 * planes.len() * dims.volume()) as f64;
    for &(k, l) in planes {
        let mut sides = Lines::new(second, l);
        for t in 0..t_most {
            sides.lengthen();
            let mut bases = Lines::new(first, k);
            for row in &mut loops {
                bases.lengthen();
                row[t] += norm * sum_of_loops(&bases, &sides);
            }
        }
    }
    Ok(WilsonLoops { loops })
}

/// Returns Re tr of the loops of two lines, summed over the starting sites.
fn sum_of_loops(bases: &Lines, sides: &Lines) -> f64 {
    let dims = bases.links.dims();
    ordered_sum(
        dims.volume(),
        0.0,
        |a, b| a + b,
        |site| {
            let there = bases.lines[site] * sides.lines[bases.end(site)];
            let back = sides.lines[site] * bases.lines[sides.end(site)];
            (there * back.adjoint()).trace().re
        },
    )
}

/// A straight line of links from each site.
struct Lines<'a> {
    links: &'a GaugeConfiguration,
    direction: usize,
    length: usize,
    lines: Vec<Matrix3<f64>>,
}

impl<'a> Lines<'a> {
    /// Lines without a link.
    fn new(links: &'a GaugeConfiguration, direction: usize) -> Self {
        let lines = vec![Matrix3::identity(); links.dims().volume()];
        Self { links, direction, length: 0, lines }
    }

    /// Returns the end of the line from a site.
    fn end(&self, site: usize) -> usize {
        let dims = self.links.dims();
        let mut at = dims.coordinates(site);
        at[self.direction] = (at[self.direction] + self.length) % dims[self.direction];
        dims.site(at)
    }

    /// Adds a link to each line.
    fn lengthen(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        let link_at_end = |site| self.links.link(self.end(site), self.direction);
        lines.par_iter_mut().enumerate().for_each(|(site, line)| *line = *line * link_at_end(site));
        self.lines = lines;
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::plaquette;
    use crate::host::random::{gauge_transformation, hot, transform_links, weak};

    fn dims() -> Dims {
        Dims::new([4, 2, 2, 6]).unwrap()
    }

    #[test]
    fn the_smallest_loops_are_plaquettes_and_the_gauge_does_not_matter() {
        let configuration = weak(dims(), 0.3, 4);
        let loops = |links: &GaugeConfiguration| {
            (
                WilsonLoops::in_time(links, links, [2, 6]).unwrap().loops,
                WilsonLoops::in_space(links, [2, 2]).unwrap().loops,
            )
        };
        let (in_time, in_space) = loops(&configuration);
        let plaquette = plaquette(&configuration);
        assert!((in_time[0][0] - plaquette.temporal).abs() < 1e-14);
        assert!((in_space[0][0] - plaquette.spatial).abs() < 1e-14);
        let other = loops(&transform_links(&configuration, &gauge_transformation(dims(), 5)));
        for (found, expected) in other
            .0
            .iter()
            .zip(&in_time)
            .chain(other.1.iter().zip(&in_space))
            .flat_map(|(a, b)| a.iter().zip(b))
        {
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
    }

    /// Unit links except on one time slice: a closed loop is two Polyakov loops.
    ///
    /// The loop goes around the lattice.
    #[test]
    fn lines_close_around_the_lattice() {
        let random = hot(dims(), 6);
        let mut configuration = GaugeConfiguration::unit(dims());
        let slice = dims().volume() / 6;
        for site in 2 * slice..3 * slice {
            configuration.set_link(site, SPACE, random.link(site, SPACE));
        }
        let loops = WilsonLoops::in_time(&configuration, &configuration, [2, 6]).unwrap();
        let pair = |site: usize, k: usize| {
            let [here, there] = [site, dims().forward(site, k)].map(|site| random.link(site, SPACE));
            (there * here.adjoint()).trace().re / (9 * slice) as f64
        };
        let sites = 2 * slice..3 * slice;
        let expected: f64 =
            sites.flat_map(|site| (0..SPACE).map(move |k| (site, k))).map(|(s, k)| pair(s, k)).sum();
        assert!((loops.loops[0][5] - expected).abs() < 1e-14);
        assert!((loops.loops[1][0] - 1.0).abs() > 1e-3);
    }

    #[test]
    fn the_potential_is_the_logarithm_of_ratios() {
        let loops = WilsonLoops { loops: vec![vec![0.5, 0.25, -0.1, 0.1]] };
        assert_eq!(loops.potential(), [[Some(2f64.ln()), None, None]]);
    }

    #[test]
    fn loops_that_do_not_fit_are_refused() {
        let configuration = GaugeConfiguration::unit(dims());
        let in_time = |sides| WilsonLoops::in_time(&configuration, &configuration, sides).unwrap_err();
        assert_eq!(in_time([3, 2]), WilsonLoopError::TooLong { length: 3, direction: 'y', extent: 2 });
        assert_eq!(in_time([1, 7]), WilsonLoopError::TooLong { length: 7, direction: 't', extent: 6 });
        assert_eq!(in_time([0, 2]), WilsonLoopError::NoSide([0, 2]));
        let other = GaugeConfiguration::unit(Dims::new([4, 2, 2, 4]).unwrap());
        let error = WilsonLoops::in_time(&configuration, &other, [1, 1]).unwrap_err();
        assert!(matches!(error, WilsonLoopError::OtherDims { .. }));
    }
}
