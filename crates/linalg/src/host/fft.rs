//! Twins of the Fourier transforms, in double: the definition, and a plain fast algorithm.
//!
//! X_k = Σ_j x_j exp(−2πi jk/n); the inverse has a plus sign. Neither is scaled.

use lattice_compute::parallel::*;
use num_complex::Complex64;
use std::f64::consts::PI;

/// Largest prime factor of a length that is summed by the definition.
const LARGEST_PRIME: usize = 13;

/// Returns exp(−2πi k/n), accurate to the last bit or nearly so.
///
/// The angle is kept in two parts, because its rounding would be the largest error.
pub fn root(k: usize, n: usize) -> Complex64 {
    // Within an eighth of the circle: sine and cosine are exact at its ends.
    let (k, n) = ((k % n) as u128, n as u128);
    let eighth = 8 * k / n;
    let quarter = eighth.div_ceil(2);
    let rest = 4 * k as i128 - (quarter * n) as i128;
    // 2π less its nearest double.
    const REST_OF_TWO_PI: f64 = 2.449_293_598_294_706_4e-16;
    let (rest, parts) = (rest as f64, (4 * n) as f64);
    let share = rest / parts;
    let rest_of_share = (-share).mul_add(parts, rest) / parts;
    let angle = 2.0 * PI * share;
    let rest_of_angle = (2.0 * PI).mul_add(share, -angle) + REST_OF_TWO_PI * share + 2.0 * PI * rest_of_share;
    let (s, c) = angle.sin_cos();
    let (s, c) = (s + rest_of_angle * c, c - rest_of_angle * s);
    let (re, im) = [(c, s), (-s, c), (-c, -s), (s, -c)][quarter as usize % 4];
    Complex64::new(re, -im)
}

/// Returns exp(−πi j²/n).
///
/// j² is reduced modulo 2n as an integer, without which large j lose all digits.
pub fn chirp(j: usize, n: usize) -> Complex64 {
    root(((j as u128 * j as u128) % (2 * n as u128)) as usize, 2 * n)
}

/// Returns the transform by its definition, n² terms.
pub fn by_definition(x: &[Complex64]) -> Vec<Complex64> {
    let n = x.len();
    let roots: Vec<_> = (0..n).map(|k| root(k, n)).collect();
    let sum = |k: usize| -> Complex64 {
        let root = |j: usize| roots[(j as u128 * k as u128 % n as u128) as usize];
        x.iter().enumerate().map(|(j, x)| x * root(j)).sum()
    };
    (0..n).into_par_iter().map(sum).collect()
}

/// A transform of one length, with its constant factors.
pub struct Line {
    roots: Vec<Complex64>,
    algorithm: LineAlgorithm,
}

/// How a length is transformed.
enum LineAlgorithm {
    /// By these prime factors.
    Radices(Vec<usize>),
    /// As a convolution with the chirp (Bluestein 1970), on a power of two.
    Convolution { chirp: Vec<Complex64>, response: Vec<Complex64>, line: Box<Line> },
}

impl Line {
    /// Prepares transforms of `n` elements, `n` at least 1.
    pub fn new(n: usize) -> Self {
        let roots = (0..n).map(|k| root(k, n)).collect();
        let mut primes = Vec::new();
        let mut rest = n;
        for prime in 2..=LARGEST_PRIME {
            while rest.is_multiple_of(prime) {
                primes.push(prime);
                rest /= prime;
            }
        }
        if rest == 1 {
            return Self { roots, algorithm: LineAlgorithm::Radices(primes) };
        }
        let m = (2 * n - 1).next_power_of_two();
        let line = Box::new(Self::new(m));
        let chirp: Vec<_> = (0..n).map(|j| chirp(j, n)).collect();
        let mut response = vec![Complex64::default(); m];
        for (j, w) in chirp.iter().enumerate() {
            response[j] = w.conj() / m as f64;
            response[(m - j) % m] = w.conj() / m as f64;
        }
        line.forward(&mut response);
        Self { roots, algorithm: LineAlgorithm::Convolution { chirp, response, line } }
    }

    /// Transforms a line of the prepared length.
    pub fn forward(&self, x: &mut [Complex64]) {
        match &self.algorithm {
            LineAlgorithm::Radices(primes) => {
                let input = x.to_vec();
                mixed_radix(&input, 1, x, primes, &self.roots);
            }
            LineAlgorithm::Convolution { chirp, response, line } => {
                let mut y = vec![Complex64::default(); response.len()];
                y.iter_mut().zip(x.iter().zip(chirp)).for_each(|(y, (x, w))| *y = x * w);
                line.forward(&mut y);
                y.iter_mut().zip(response).for_each(|(y, b)| *y *= b);
                line.inverse(&mut y);
                x.iter_mut().zip(y.iter().zip(chirp)).for_each(|(x, (y, w))| *x = y * w);
            }
        }
    }

    /// Transforms a line of the prepared length back, without a factor.
    pub fn inverse(&self, x: &mut [Complex64]) {
        x.iter_mut().for_each(|x| *x = x.conj());
        self.forward(x);
        x.iter_mut().for_each(|x| *x = x.conj());
    }
}

/// Transforms every `stride`-th element of `x` into `y`, by the prime factors of the length of `y`.
///
/// `roots` are those of the whole line, of which y.len()·stride is the length.
fn mixed_radix(x: &[Complex64], stride: usize, y: &mut [Complex64], primes: &[usize], roots: &[Complex64]) {
    let Some((&p, primes)) = primes.split_first() else {
        y[0] = x[0];
        return;
    };
    let m = y.len() / p;
    for r in 0..p {
        mixed_radix(&x[r * stride..], stride * p, &mut y[r * m..(r + 1) * m], primes, roots);
    }
    let mut parts = [Complex64::default(); LARGEST_PRIME];
    for k in 0..m {
        for r in 0..p {
            parts[r] = y[r * m + k] * roots[r * k * stride];
        }
        for q in 0..p {
            let terms = parts[..p].iter().enumerate();
            y[q * m + k] = terms.map(|(r, part)| part * roots[(r * q % p) * (roots.len() / p)]).sum();
        }
    }
}

/// Transforms a line of any length.
pub fn forward(x: &mut [Complex64]) {
    if !x.is_empty() {
        Line::new(x.len()).forward(x);
    }
}

/// Transforms a line of any length back, without a factor.
pub fn inverse(x: &mut [Complex64]) {
    if !x.is_empty() {
        Line::new(x.len()).inverse(x);
    }
}

/// Which way all axes of an array are transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// With exp(−2πi jk/n).
    Forward,
    /// With exp(+2πi jk/n).
    Inverse,
}

/// Transforms all axes of a dense array, the last index fastest.
///
/// # Panics
/// If `data` does not have as many elements as the extents say.
pub fn all_axes(data: &mut [Complex64], extents: &[usize], direction: Direction) {
    assert_eq!(data.len(), extents.iter().product::<usize>(), "elements of the array");
    let mut inner = data.len();
    for &n in extents {
        let block = inner;
        inner /= n;
        if n == 1 {
            continue;
        }
        let line = Line::new(n);
        let transform = |x: &mut [Complex64]| match direction {
            Direction::Forward => line.forward(x),
            Direction::Inverse => line.inverse(x),
        };
        // Lines along this axis, made contiguous, and put back.
        let mut lines = vec![Complex64::default(); data.len()];
        lines.par_chunks_mut(n).enumerate().for_each(|(number, x)| {
            let first = number / inner * block + number % inner;
            (0..n).for_each(|k| x[k] = data[first + k * inner]);
            transform(x);
        });
        data.par_chunks_mut(block).zip(lines.par_chunks(block)).for_each(|(data, lines)| {
            for (i, x) in lines.chunks(n).enumerate() {
                (0..n).for_each(|k| data[i + k * inner] = x[k]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize) -> Vec<Complex64> {
        (0..n).map(|k| Complex64::new((1.3 * k as f64).sin(), (0.7 * (k * k) as f64).cos())).collect()
    }

    fn distance(a: &[Complex64], b: &[Complex64]) -> f64 {
        let norm = |x: &mut dyn Iterator<Item = Complex64>| x.map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
    }

    #[test]
    fn roots_are_exact_where_they_can_be() {
        assert_eq!(root(0, 7), Complex64::new(1.0, 0.0));
        assert_eq!(root(3, 12), Complex64::new(0.0, -1.0));
        assert_eq!(root(6, 12), Complex64::new(-1.0, 0.0));
        assert_eq!(root(9, 12), Complex64::new(0.0, 1.0));
        for n in [3, 8, 10, 97] {
            for k in 0..2 * n {
                let angle = 2.0 * PI * k as f64 / n as f64;
                assert!((root(k, n) - Complex64::new(angle.cos(), -angle.sin())).norm() < 3e-15);
            }
        }
    }

    #[test]
    fn the_fast_transform_is_the_definition() {
        for n in (1..70).chain([91, 128, 210, 251, 17 * 19, 509]) {
            let x = sample(n);
            let mut y = x.clone();
            forward(&mut y);
            let error = distance(&y, &by_definition(&x));
            assert!(error < 1.1e-16 * 2.0 * ((n + 1) as f64).log2().max(1.0), "{n}: {error:e}");
            inverse(&mut y);
            y.iter_mut().for_each(|y| *y /= n as f64);
            assert!(distance(&y, &x) < 3e-15, "{n}");
        }
    }

    #[test]
    fn axes_are_transformed_one_by_one() {
        let extents = [3, 4, 5];
        let x = sample(60);
        let mut y = x.clone();
        all_axes(&mut y, &extents, Direction::Forward);
        for k in [[0, 0, 0], [1, 2, 3], [2, 3, 4], [0, 1, 4]] {
            let mut sum = Complex64::default();
            for (number, x) in x.iter().enumerate() {
                let j = [number / 20, number / 5 % 4, number % 5];
                sum += (0..3).fold(*x, |x, axis| x * root(j[axis] * k[axis], extents[axis]));
            }
            assert!((y[(k[0] * 4 + k[1]) * 5 + k[2]] - sum).norm() < 1e-13);
        }
        all_axes(&mut y, &extents, Direction::Inverse);
        assert!(y.iter().zip(&x).all(|(y, x)| (y / 60.0 - x).norm() < 1e-14));
    }
}
