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
    /// Makes the spline through points, with these slopes at both ends.
    ///
    /// Without slopes, those of the cubics through the four points at each end are taken. There are at
    /// least two points, and x rises.
    pub fn new(x: Vec<f64>, y: Vec<f64>, ends: Option<[f64; 2]>) -> Self {
        let count = x.len();
        let ends = ends.unwrap_or_else(|| [slope_of(x.iter().zip(&y)), slope_of(x.iter().zip(&y).rev())]);
        let width = |i: usize| x[i + 1] - x[i];
        let rise = |i: usize| (y[i + 1] - y[i]) / width(i);
        // Rows of the tridiagonal system: left, middle, right, and the right-hand side.
        let row = |i: usize| match i {
            0 => [0.0, 2.0 * width(0), width(0), 6.0 * (rise(0) - ends[0])],
            i if i + 1 == count => [width(i - 1), 2.0 * width(i - 1), 0.0, 6.0 * (ends[1] - rise(i - 1))],
            i => [width(i - 1), 2.0 * (width(i - 1) + width(i)), width(i), 6.0 * (rise(i) - rise(i - 1))],
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

/// Returns the slope of the cubic through the first four points at the first one, by Newton's differences.
fn slope_of<'a>(points: impl Iterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let (x, mut differences): (Vec<f64>, Vec<f64>) = points.take(4).map(|(&x, &y)| (x, y)).unzip();
    let (mut slope, mut factor) = (0.0, 1.0);
    for order in 1..x.len() {
        for i in 0..x.len() - order {
            differences[i] = (differences[i + 1] - differences[i]) / (x[i + order] - x[i]);
        }
        slope += factor * differences[0];
        factor *= x[0] - x[order];
    }
    slope
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
    fn a_spline_finds_its_slopes_at_both_ends() {
        // A cubic through uneven points is met, and fewer points make a parabola or a line.
        let cubic = |x: f64| 1.0 + x * (2.0 + x * (-3.0 + 0.5 * x));
        let x = vec![0.0, 0.3, 1.1, 1.5, 2.7, 3.1];
        let spline = Spline::new(x.clone(), x.iter().map(|&x| cubic(x)).collect(), None);
        assert!([0.1, 0.9, 2.9].iter().all(|&x| (spline.at(x)[0] - cubic(x)).abs() < 1e-12));
        let parabola = Spline::new(vec![0.0, 1.0, 3.0], vec![0.0, 1.0, 9.0], None);
        assert!((parabola.at(2.0)[0] - 4.0).abs() < 1e-13 && (parabola.at(3.0)[1] - 6.0).abs() < 1e-13);
        assert_eq!(Spline::new(vec![1.0, 2.0], vec![3.0, 5.0], None).at(1.25), [3.5, 2.0]);
    }

    #[test]
    fn a_spline_meets_its_points_and_is_near_between_them_up_to_the_ends() {
        let x: Vec<f64> = (0..9).map(|i| 0.5 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let spline = Spline::new(x.clone(), y.clone(), None);
        assert!(x.iter().zip(&y).all(|(&x, y)| (spline.at(x)[0] - y).abs() < 1e-15));
        for at in [0.2, 1.3, 3.8_f64] {
            assert!((spline.at(at)[0] - at.sin()).abs() < 1e-2, "{at}");
        }
    }
}
