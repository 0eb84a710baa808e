//! Shapes of transforms, and where their elements lie.

use super::error::{FftError, FftResult};

/// Most axes of a transform.
const MOST_AXES: usize = 4;

/// Where the elements of a batch of arrays lie in a buffer.
///
/// Element (i₁, i₂, …) of array b lies at b·distance + Σ iₐ·strides\[a\]. All numbers count elements
/// of the side: reals of a real side, complex numbers of a complex one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Elements from one index of an axis to the next, for each axis.
    pub strides: Vec<usize>,
    /// Elements from one array of the batch to the next.
    pub distance: usize,
}

impl Layout {
    /// Returns the layout without gaps: the last axis fastest, then the others, then the batch.
    pub fn dense(extents: &[usize]) -> Self {
        Self::padded(extents, extents.last().copied().unwrap_or(1))
    }

    /// Returns the layout whose rows along the last axis are `row` elements apart.
    pub fn padded(extents: &[usize], row: usize) -> Self {
        let mut strides = vec![1; extents.len()];
        let mut next = row;
        for axis in (0..extents.len().saturating_sub(1)).rev() {
            strides[axis] = next;
            next = next.saturating_mul(extents[axis]);
        }
        Self { strides, distance: next }
    }

    /// Returns one more than the largest place.
    pub(super) fn end(&self, extents: &[usize], batch: usize) -> usize {
        let last = |extent: usize, stride: usize| (extent - 1).saturating_mul(stride);
        let within = extents.iter().zip(&self.strides).map(|(&extent, &stride)| last(extent, stride));
        within.fold(last(batch, self.distance), usize::saturating_add).saturating_add(1)
    }

    /// Checks the number of strides, and that no two elements share a place.
    fn check(&self, side: &'static str, extents: &[usize], batch: usize) -> FftResult<()> {
        if self.strides.len() != extents.len() {
            return Err(FftError::Strides { side, wanted: extents.len(), found: self.strides.len() });
        }
        let mut axes: Vec<(usize, usize)> =
            self.strides.iter().copied().zip(extents.iter().copied()).collect();
        axes.push((self.distance, batch));
        axes.retain(|&(_, extent)| extent > 1);
        axes.sort_unstable();
        // Each stride reaches past everything that smaller ones reach.
        let mut reach = 0_usize;
        for (stride, extent) in axes {
            if stride <= reach {
                let (strides, distance) = (self.strides.clone(), self.distance);
                return Err(FftError::Overlap { side, strides, distance });
            }
            reach = reach.saturating_add((extent - 1).saturating_mul(stride));
        }
        Ok(())
    }
}

/// The shape of a transform: one to four extents, and a batch of arrays.
///
/// The last axis is the fastest one of a dense array.
///
/// ```
/// use lattice_linalg::fft::Shape;
/// let shape = Shape::new(&[64, 60, 45]).batch(3);
/// assert_eq!(shape.points(), 64 * 60 * 45);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(super) extents: Vec<usize>,
    pub(super) batch: usize,
    pub(super) input: Option<Layout>,
    pub(super) output: Option<Layout>,
}

impl Shape {
    /// Makes the shape of one dense array.
    pub fn new(extents: &[usize]) -> Self {
        Self { extents: extents.to_vec(), batch: 1, input: None, output: None }
    }

    /// Sets the number of arrays that are transformed in one call.
    pub fn batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Sets where the elements lie that the forward transform reads, and the inverse writes.
    pub fn input(self, layout: Layout) -> Self {
        Self { input: Some(layout), ..self }
    }

    /// Sets where the elements lie that the forward transform writes, and the inverse reads.
    pub fn output(self, layout: Layout) -> Self {
        Self { output: Some(layout), ..self }
    }

    /// Returns the number of points of one array.
    pub fn points(&self) -> usize {
        self.extents.iter().fold(1, |product, &extent| product.saturating_mul(extent))
    }

    /// Checks the extents.
    pub(super) fn check(&self) -> FftResult<()> {
        if self.extents.is_empty() || self.extents.len() > MOST_AXES {
            return Err(FftError::Axes { found: self.extents.len() });
        }
        if let Some(axis) = self.extents.iter().position(|&extent| extent == 0) {
            return Err(FftError::Zero { what: format!("the extent of axis {axis}") });
        }
        if self.batch == 0 {
            return Err(FftError::Zero { what: "the batch".to_owned() });
        }
        // Bytes of complex numbers in double, padded, are counted too.
        let all = self.extents.iter().try_fold(self.batch, |all, &extent| all.checked_mul(extent));
        match all.and_then(|all| all.checked_mul(64)) {
            Some(_) if self.extents.iter().all(|&extent| extent < 1 << 30) => Ok(()),
            _ => Err(FftError::TooMany { extents: self.extents.clone(), batch: self.batch }),
        }
    }

    /// Returns the checked layouts of input and output, with these extents.
    pub(super) fn layouts(&self, input: &[usize], output: &[usize]) -> FftResult<[Layout; 2]> {
        let layout = |side, given: &Option<Layout>, extents: &[usize]| {
            let layout = given.clone().unwrap_or_else(|| Layout::dense(extents));
            layout.check(side, extents, self.batch).map(|()| layout)
        };
        Ok([layout("input", &self.input, input)?, layout("output", &self.output, output)?])
    }
}

/// What results are multiplied by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Nothing: forward and inverse after another multiply by the number of points.
    #[default]
    None,
    /// The inverse divides by the number of points, and so undoes the forward transform.
    ByLength,
    /// Both transforms divide by the root of the number of points, and keep the norm.
    Unitary,
}

impl Scale {
    /// Returns the factors of the forward and the inverse transform of so many points.
    pub(super) fn factors(self, points: usize) -> [f64; 2] {
        let points = points as f64;
        match self {
            Scale::None => [1.0, 1.0],
            Scale::ByLength => [1.0, 1.0 / points],
            Scale::Unitary => [1.0 / points.sqrt(); 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert_eq!(Shape::new(&[]).check(), Err(FftError::Axes { found: 0 }));
        assert_eq!(Shape::new(&[2; 5]).check(), Err(FftError::Axes { found: 5 }));
        assert!(matches!(Shape::new(&[4, 0]).check(), Err(FftError::Zero { .. })));
        assert!(matches!(Shape::new(&[4]).batch(0).check(), Err(FftError::Zero { .. })));
        assert!(matches!(Shape::new(&[1 << 29; 4]).check(), Err(FftError::TooMany { .. })));
        assert_eq!(Shape::new(&[4, 1, 7]).batch(3).check(), Ok(()));
    }

    #[test]
    fn layouts_keep_elements_apart() {
        let shape = Shape::new(&[4, 6]).batch(2);
        let with = |strides: &[usize], distance| {
            let layout = Layout { strides: strides.to_vec(), distance };
            shape.clone().input(layout).layouts(&[4, 6], &[4, 6])
        };
        assert!(with(&[6, 1], 24).is_ok() && with(&[1, 4], 24).is_ok() && with(&[14, 2], 1).is_ok());
        assert!(matches!(with(&[5, 1], 24), Err(FftError::Overlap { side: "input", .. })));
        assert!(matches!(with(&[6, 1], 23), Err(FftError::Overlap { .. })));
        assert!(matches!(with(&[6, 0], 24), Err(FftError::Overlap { .. })));
        assert!(matches!(with(&[6], 24), Err(FftError::Strides { wanted: 2, found: 1, .. })));
        assert_eq!(Layout::padded(&[3, 4, 5], 6), Layout { strides: vec![24, 6, 1], distance: 72 });
        assert_eq!(Layout::dense(&[3, 4, 5]).end(&[3, 4, 5], 2), 120);
    }
}
