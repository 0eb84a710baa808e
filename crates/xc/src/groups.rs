//! Groups of grid points, and the shells that are significant in each.
//!
//! A sphere around each nucleus takes the inner half of the points that are nearest to it. The rest
//! goes into cubes. A group that is a large part of all work is cut in halves.

use super::basis::Basis;
use super::grid::Grid;
use lattice_compute::parallel::*;
use std::collections::BTreeMap;

/// Most points of a group: its functions stay in the cache of a processor.
const MOST_POINTS: usize = 1024;

/// What the work of a group is beside its products, in points times functions².
const CONSTANT_COST: f64 = 2e4;

/// Points that lie together, and the shells that they need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// Numbers of the points in the grid.
    pub points: Vec<u32>,
    /// The significant shells, in their order.
    pub shells: Vec<u32>,
    /// Number of functions of these shells.
    pub functions: usize,
}

/// How points are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    /// Side of a cube in bohr.
    pub cube: f64,
    /// A shell is significant if |R(d)| dˡ is larger somewhere; 0 takes all shells.
    pub screen: f64,
    /// No group shall cost more than all groups together divided by this.
    pub parts: usize,
}

/// What grouping has made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Groups {
    /// The groups, those with least work first.
    pub groups: Vec<Group>,
    /// Groups that were spheres, before any was cut.
    pub spheres: usize,
    /// Cuts in halves.
    pub cuts: usize,
}

impl Group {
    /// Returns what the group costs, in points times functions².
    pub fn cost(&self) -> f64 {
        self.points.len() as f64 * (self.functions * self.functions) as f64 + CONSTANT_COST
    }

    fn new(basis: &Basis, grid: &Grid, screen: f64, points: Vec<u32>) -> Self {
        let shells = significant(basis, bounds(grid, &points), screen);
        let functions = shells.iter().map(|&shell| basis.shells()[shell as usize].functions()).sum();
        Self { points, shells, functions }
    }

    /// Cuts the group in halves across its longest side.
    fn halves(mut self, basis: &Basis, grid: &Grid, screen: f64) -> [Self; 2] {
        let [least, most] = bounds(grid, &self.points);
        let longest = (0..3).max_by(|&a, &b| (most[a] - least[a]).total_cmp(&(most[b] - least[b])));
        let axis = longest.expect("there are three axes");
        let along = |&point: &u32| grid.points()[point as usize][axis];
        self.points.sort_by(|a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        let rest = self.points.split_off(self.points.len() / 2);
        [self.points, rest].map(|points| Self::new(basis, grid, screen, points))
    }
}

/// Returns the corners of the box around points.
fn bounds(grid: &Grid, points: &[u32]) -> [[f64; 3]; 2] {
    let mut corners = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for &point in points {
        for (axis, x) in grid.points()[point as usize].into_iter().enumerate() {
            corners[0][axis] = corners[0][axis].min(x);
            corners[1][axis] = corners[1][axis].max(x);
        }
    }
    corners
}

/// Returns the least and the largest distance of a point from a box.
fn distances(centre: [f64; 3], [least, most]: [[f64; 3]; 2]) -> [f64; 2] {
    let (mut near, mut far) = (0.0, 0.0);
    for axis in 0..3 {
        let (below, above) = (least[axis] - centre[axis], centre[axis] - most[axis]);
        near += below.max(above).max(0.0).powi(2);
        far += below.abs().max(above.abs()).powi(2);
    }
    [near, far].map(f64::sqrt)
}

/// Returns the shells that reach into a box.
fn significant(basis: &Basis, corners: [[f64; 3]; 2], screen: f64) -> Vec<u32> {
    let reaches = |&shell: &usize| {
        let [near, far] = distances(basis.centre(shell), corners);
        screen == 0.0 || basis.shells()[shell].bound(near, far) > screen
    };
    (0..basis.shells().len()).filter(reaches).map(|shell| shell as u32).collect()
}

/// Returns the nearest atom of each point, and the square of its distance.
fn nearest(basis: &Basis, grid: &Grid) -> Vec<(usize, f64)> {
    let square = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
    let of = |&point: &[f64; 3]| {
        let distances = basis.atoms().iter().map(|atom| square(atom.position, point)).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).expect("a basis has atoms")
    };
    grid.points().par_iter().map(of).collect()
}

/// Puts the points of a grid into groups.
///
/// Points without weight, and groups without significant shells, are left out: they add nothing.
pub(crate) fn grouped(basis: &Basis, grid: &Grid, rules: Rules) -> Groups {
    let nearest = nearest(basis, grid);
    let mut of_atom = vec![Vec::new(); basis.atoms().len()];
    for (point, &weight) in grid.weights().iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
        debug_assert!(weight.is_finite());
        of_atom[nearest[point].0].push(point as u32);
    }
    let mut sets = Vec::new();
    let mut cubes = BTreeMap::<[i64; 3], Vec<u32>>::new();
    for points in &mut of_atom {
        let distance = |point: &u32| nearest[*point as usize].1;
        points.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        let outer = points.split_off(points.len() / 2);
        for point in outer {
            let cube = grid.points()[point as usize].map(|x| (x / rules.cube).floor() as i64);
            cubes.entry(cube).or_default().push(point);
        }
        sets.push(std::mem::take(points));
    }
    sets.retain(|points| !points.is_empty());
    let spheres = sets.len();
    sets.extend(cubes.into_values());
    let new = |points| Group::new(basis, grid, rules.screen, points);
    let mut waiting: Vec<Group> = sets.into_par_iter().map(new).collect();
    let total: f64 = waiting.iter().map(Group::cost).sum();
    let most = total / rules.parts as f64;
    let (mut groups, mut cuts) = (Vec::new(), 0);
    while !waiting.is_empty() {
        let (whole, long): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|group| {
            let points = group.points.len();
            // What is cut into pieces of few points costs more than it balances.
            points < 64 || points <= MOST_POINTS && group.cost() <= most
        });
        groups.extend(whole);
        cuts += long.len();
        let halves = |group: Group| group.halves(basis, grid, rules.screen);
        waiting = long.into_par_iter().map(halves).collect::<Vec<_>>().into_iter().flatten().collect();
    }
    groups.retain(|group| group.functions > 0);
    groups.sort_by(|a, b| {
        let size = |group: &Group| group.points.len() * group.functions;
        size(a).cmp(&size(b)).then_with(|| a.points.cmp(&b.points))
    });
    Groups { groups, spheres, cuts }
}
