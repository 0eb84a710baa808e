//! Cubic splines through points of rising abscissa.

/// A cubic spline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spline {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The second derivative at each point.
    bend: Vec<f64>,
}

impl Spline {
    /// Makes the spline through points, with these slopes at both ends or without a bend there.
    ///
    /// There are at least two points, and x rises.
    pub fn new(x: Vec<f64>, y: Vec<f64>, ends: Option<[f64; 2]>) -> Self {
        let count = x.len();
        let width = |i: usize| x[i + 1] - x[i];
        let rise = |i: usize| (y[i + 1] - y[i]) / width(i);
        // Rows of the tridiagonal system: left, middle, right, and the right-hand side.
        let row = |i: usize| match (i, ends) {
            (0, None) => [0.0, 1.0, 0.0, 0.0],
            (0, Some([slope, _])) => [0.0, 2.0 * width(0), width(0), 6.0 * (rise(0) - slope)],
            (i, None) if i + 1 == count => [0.0, 1.0, 0.0, 0.0],
            (i, Some([_, slope])) if i + 1 == count => {
                [width(i - 1), 2.0 * width(i - 1), 0.0, 6.0 * (slope - rise(i - 1))]
            }
            (i, _) => {
                [width(i - 1), 2.0 * (width(i - 1) + width(i)), width(i), 6.0 * (rise(i) - rise(i - 1))]
            }
        };
        let (mut ratio, mut bend) = (vec![0.0; count], vec![0.0; count]);
        for i in 0..count {
            let [left, middle, right, side] = row(i);
            let (before, known) = if i == 0 { (0.0, 0.0) } else { (ratio[i - 1], bend[i - 1]) };
            let pivot = middle - left * before;
            ratio[i] = right / pivot;
            bend[i] = (side - left * known) / pivot;
        }
        for i in (0..count - 1).rev() {
            bend[i] -= ratio[i] * bend[i + 1];
        }
        Self { x, y, bend }
    }

    /// Returns value and slope at x. The outer pieces go on beyond the ends.
    pub fn at(&self, x: f64) -> [f64; 2] {
        let left = self.x.partition_point(|&point| point <= x).clamp(1, self.x.len() - 1) - 1;
        let width = self.x[left + 1] - self.x[left];
        let b = (x - self.x[left]) / width;
        let a = 1.0 - b;
        let (bend, y) = (&self.bend[left..left + 2], &self.y[left..left + 2]);
        let value = a * y[0]
            + b * y[1]
            + ((a * a * a - a) * bend[0] + (b * b * b - b) * bend[1]) * width * width / 6.0;
        let slope = (y[1] - y[0]) / width
            + ((3.0 * b * b - 1.0) * bend[1] - (3.0 * a * a - 1.0) * bend[0]) * width / 6.0;
        [value, slope]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spline_with_the_right_ends_is_a_cubic() {
        let cubic = |x: f64| 1.0 + x * (2.0 + x * (-3.0 + 0.5 * x));
        let slope = |x: f64| 2.0 + x * (-6.0 + 1.5 * x);
        let x = vec![0.0, 0.3, 1.1, 1.5, 2.7];
        let spline =
            Spline::new(x.clone(), x.iter().map(|&x| cubic(x)).collect(), Some([slope(0.0), slope(2.7)]));
        for x in [0.0, 0.1, 0.3, 0.9, 2.0, 2.7] {
            let [found, rise] = spline.at(x);
            assert!((found - cubic(x)).abs() < 1e-13 && (rise - slope(x)).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn a_natural_spline_meets_its_points_and_has_no_bend_at_the_ends() {
        let x: Vec<f64> = (0..9).map(|i| 0.5 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let spline = Spline::new(x.clone(), y.clone(), None);
        assert!(x.iter().zip(&y).all(|(&x, y)| (spline.at(x)[0] - y).abs() < 1e-15));
        assert_eq!([spline.bend[0], spline.bend[8]], [0.0; 2]);
        assert!((spline.at(1.3)[0] - 1.3_f64.sin()).abs() < 1e-3);
    }
}
