//! Wilson loops, and the static potential that they give.

use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Matrix3, NoRoom, expect_room, ordered_sum};
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

    /// Measures loops whose bases lie along diagonals of space, up to `sides` = \[N, T\].
    ///
    /// A base has n steps. The step is the average of the shortest paths along the diagonal: two for
    /// `axes` = 2, such as ½(U_x U_y + U_y U_x), and six for 3. The distance is n √`axes`. Loops are
    /// averaged over sites and over the six or four diagonals. The fields are those of
    /// [`in_time`](Self::in_time).
    ///
    /// Besides the links there are three matrices for each site, 432 bytes.
    ///
    /// # Errors
    /// The errors of [`in_time`](Self::in_time).
    ///
    /// # Panics
    /// If `axes` is neither 2 nor 3.
    pub fn off_axis(
        space: &GaugeConfiguration,
        time: &GaugeConfiguration,
        axes: usize,
        [n_most, t_most]: [usize; 2],
    ) -> Result<Self, WilsonLoopError> {
        let (of_space, of_time) = (space.dims(), time.dims());
        if of_space != of_time {
            return Err(WilsonLoopError::OtherDims { space: of_space, time: of_time });
        }
        let sides = (0..SPACE).map(|k| (n_most, k)).chain([(t_most, SPACE)]);
        check_sides(of_space, [n_most, t_most], sides)?;
        expect_room((3 * of_space.volume() * size_of::<Matrix3<f64>>()) as u64)?;
        let mut loops = vec![vec![0.0; t_most]; n_most];
        let diagonals = diagonals(axes);
        let norm = 1.0 / (3 * diagonals.len() * of_space.volume()) as f64;
        for diagonal in diagonals {
            add_loops(&mut loops, norm, || Lines::along(space, diagonal), || Lines::new(time, SPACE));
        }
        Ok(Self { loops })
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
    let sides = planes.iter().flat_map(|&(k, l)| [(r_most, k), (t_most, l)]);
    check_sides(dims, [r_most, t_most], sides)?;
    expect_room((2 * dims.volume() * size_of::<Matrix3<f64>>()) as u64)?;
    let mut loops = vec![vec![0.0; t_most]; r_most];
    let norm = 1.0 / (3 * planes.len() * dims.volume()) as f64;
    for &(k, l) in planes {
        add_loops(&mut loops, norm, || Lines::new(first, k), || Lines::new(second, l));
    }
    Ok(WilsonLoops { loops })
}

/// Checks that all sides, given as (length, direction), are there and fit.
fn check_sides(
    dims: Dims,
    most: [usize; 2],
    sides: impl Iterator<Item = (usize, usize)>,
) -> Result<(), WilsonLoopError> {
    if most.contains(&0) {
        return Err(WilsonLoopError::NoSide(most));
    }
    match sides.into_iter().find(|&(length, mu)| length > dims[mu]) {
        Some((length, mu)) => {
            let direction = Dims::direction_name(mu);
            Err(WilsonLoopError::TooLong { length, direction, extent: dims[mu] })
        }
        None => Ok(()),
    }
}

/// Adds `norm` times the sum of loops of bases and sides of all lengths.
fn add_loops<'a>(
    loops: &mut [Vec<f64>],
    norm: f64,
    bases: impl Fn() -> Lines<'a>,
    sides: impl Fn() -> Lines<'a>,
) {
    let mut sides = sides();
    for t in 0..loops[0].len() {
        sides.lengthen();
        let mut bases = bases();
        for row in loops.iter_mut() {
            bases.lengthen();
            row[t] += norm * sum_of_loops(&bases, &sides);
        }
    }
}

/// Returns the diagonals of space with this many axes, without their opposites.
fn diagonals(axes: usize) -> Vec<[i32; SPACE]> {
    assert!(axes == 2 || axes == 3, "diagonals have two or three axes");
    let all = (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]);
    let is_first = |diagonal: &[i32; SPACE]| diagonal.iter().find(|&&step| step != 0) == Some(&1);
    all.filter(|diagonal| diagonal.iter().filter(|&&step| step != 0).count() == axes && is_first(diagonal))
        .collect()
}

/// Returns Re tr of the loops of two lines, summed over the starting sites.
fn sum_of_loops(bases: &Lines, sides: &Lines) -> f64 {
    let dims = bases.dims;
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

/// A line of equal steps from each site.
struct Lines<'a> {
    dims: Dims,
    /// The step from each site, in sites.
    step: [i32; NDIM],
    steps: Steps<'a>,
    length: usize,
    lines: Vec<Matrix3<f64>>,
}

/// The matrices of steps.
enum Steps<'a> {
    /// The links in a direction.
    Links(&'a GaugeConfiguration, usize),
    /// A matrix for each site.
    Averages(Vec<Matrix3<f64>>),
}

impl<'a> Lines<'a> {
    /// Straight lines without a link.
    fn new(links: &'a GaugeConfiguration, direction: usize) -> Self {
        let mut step = [0; NDIM];
        step[direction] = 1;
        Self::of(links.dims(), step, Steps::Links(links, direction))
    }

    /// Lines along a diagonal of space, without a step.
    fn along(links: &GaugeConfiguration, [x, y, z]: [i32; SPACE]) -> Self {
        let (dims, step) = (links.dims(), [x, y, z, 0]);
        let axes: Vec<usize> = (0..SPACE).filter(|&k| step[k] != 0).collect();
        let orders: Vec<Vec<usize>> = orders(&axes);
        let average = |site: usize| {
            let paths = orders.iter().map(|order| {
                let (mut at, mut path) = (site, Matrix3::identity());
                for &k in order {
                    let next = if step[k] > 0 { dims.forward(at, k) } else { dims.backward(at, k) };
                    let link = if step[k] > 0 { links.link(at, k) } else { links.link(next, k).adjoint() };
                    (at, path) = (next, path * link);
                }
                path
            });
            let sum = paths.fold(Matrix3::zero(), |sum, path| sum + path);
            sum.scale(1.0 / orders.len() as f64)
        };
        let averages = (0..dims.volume()).into_par_iter().map(average).collect();
        Self::of(dims, step, Steps::Averages(averages))
    }

    fn of(dims: Dims, step: [i32; NDIM], steps: Steps<'a>) -> Self {
        Self { dims, step, steps, length: 0, lines: vec![Matrix3::identity(); dims.volume()] }
    }

    /// Returns the end of the line from a site.
    fn end(&self, site: usize) -> usize {
        let at = self.dims.coordinates(site);
        let moved = |mu: usize| {
            let coordinate = at[mu] as i64 + i64::from(self.step[mu]) * self.length as i64;
            coordinate.rem_euclid(self.dims[mu] as i64) as usize
        };
        self.dims.site(std::array::from_fn(moved))
    }

    /// Adds a step to each line.
    fn lengthen(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        let at_end = |site| match &self.steps {
            Steps::Links(links, direction) => links.link(self.end(site), *direction),
            Steps::Averages(averages) => averages[self.end(site)],
        };
        lines.par_iter_mut().enumerate().for_each(|(site, line)| *line = *line * at_end(site));
        self.lines = lines;
        self.length += 1;
    }
}

/// Returns all orders of some axes.
fn orders(axes: &[usize]) -> Vec<Vec<usize>> {
    if axes.is_empty() {
        return vec![Vec::new()];
    }
    let first = |k: usize| {
        let others: Vec<usize> = axes.iter().copied().filter(|&axis| axis != k).collect();
        orders(&others).into_iter().map(move |order| [vec![k], order].concat())
    };
    axes.iter().flat_map(|&k| first(k)).collect()
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

    /// Loops of one step, of links as they are written, and larger ones in another gauge.
    #[test]
    fn diagonal_loops_are_averages_of_the_shortest_paths() {
        let links = weak(dims(), 0.3, 8);
        let link = |site, mu| links.link(site, mu);
        let mut sum = 0.0;
        for site in 0..dims().volume() {
            // x and then y, y and then x; or y backwards.
            for (k, l) in [(0, 1), (0, 2), (1, 2)] {
                let base = |at: usize, forward: bool| {
                    let (k_end, l_end) = (dims().forward(at, k), dims().forward(at, l));
                    if forward {
                        return (link(at, k) * link(k_end, l) + link(at, l) * link(l_end, k)).scale(0.5);
                    }
                    let (behind, k_behind) = (dims().backward(at, l), dims().backward(k_end, l));
                    let first = link(at, k) * link(k_behind, l).adjoint();
                    (first + link(behind, l).adjoint() * link(behind, k)).scale(0.5)
                };
                for forward in [true, false] {
                    let of_l = |at| if forward { dims().forward(at, l) } else { dims().backward(at, l) };
                    let (end, later) = (of_l(dims().forward(site, k)), dims().forward(site, SPACE));
                    let there = base(site, forward) * link(end, SPACE);
                    let back = link(site, SPACE) * base(later, forward);
                    sum += (there * back.adjoint()).trace().re;
                }
            }
        }
        let transformed = transform_links(&links, &gauge_transformation(dims(), 5));
        for axes in [2, 3] {
            let loops = WilsonLoops::off_axis(&links, &links, axes, [2, 3]).unwrap().loops;
            let others = WilsonLoops::off_axis(&transformed, &transformed, axes, [2, 3]).unwrap().loops;
            for (found, expected) in others.iter().flatten().zip(loops.iter().flatten()) {
                assert!((found - expected).abs() < 1e-13, "{found} {expected}");
            }
            let unit = GaugeConfiguration::unit(dims());
            let ones = WilsonLoops::off_axis(&unit, &unit, axes, [2, 3]).unwrap().loops;
            assert!(ones.iter().flatten().all(|one| (one - 1.0).abs() < 1e-14), "{ones:?}");
            if axes == 2 {
                let expected = sum / (18 * dims().volume()) as f64;
                assert!((loops[0][0] - expected).abs() < 1e-14, "{loops:?}, {expected}");
            }
        }
        assert_eq!((diagonals(2).len(), diagonals(3).len()), (6, 4));
        let error = WilsonLoops::off_axis(&links, &links, 2, [3, 1]).unwrap_err();
        assert_eq!(error, WilsonLoopError::TooLong { length: 3, direction: 'y', extent: 2 });
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
