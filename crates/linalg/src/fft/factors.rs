//! Whole numbers of transforms: radices, convenient lengths, primitive roots.

/// The radices that kernels have, with the relative cost of a pass for each element.
///
/// A pass reads and writes local memory once, which is most of its cost. Arithmetic is the rest.
pub(super) const RADICES: [(usize, f64); 14] = [
    (2, 1.0),
    (3, 1.15),
    (4, 1.1),
    (5, 1.4),
    (6, 1.35),
    (7, 1.75),
    (8, 1.3),
    (9, 1.6),
    (10, 1.75),
    (11, 2.6),
    (12, 1.65),
    (13, 3.0),
    (15, 2.0),
    (16, 1.7),
];

/// Radices whose product is a length, with the cost of all passes for each element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factors {
    pub radices: Vec<usize>,
    pub cost: f64,
}

/// Returns the cheapest product of radices that makes `n`.
///
/// `None` if `n` has a prime factor above 13.
pub(super) fn factors(n: usize) -> Option<Factors> {
    if n == 0 || rough_part(n) != 1 {
        return None;
    }
    // Only divisors of `n` occur, which are few.
    let mut known = std::collections::HashMap::from([(1, Factors { radices: Vec::new(), cost: 0.0 })]);
    fn cheapest(n: usize, known: &mut std::collections::HashMap<usize, Factors>) -> Factors {
        if let Some(found) = known.get(&n) {
            return found.clone();
        }
        let mut best: Option<Factors> = None;
        for (radix, cost) in RADICES.into_iter().rev().filter(|(radix, _)| n.is_multiple_of(*radix)) {
            let mut rest = cheapest(n / radix, known);
            rest.radices.insert(0, radix);
            rest.cost += cost;
            if best.as_ref().is_none_or(|best| rest.cost < best.cost) {
                best = Some(rest);
            }
        }
        let best = best.expect("a number without prime factors above 13 has a radix");
        known.insert(n, best.clone());
        best
    }
    Some(cheapest(n, &mut known))
}

/// Returns products of radices that make `n`, cheap ones first, each with its radices in two orders.
///
/// The first one is that of [`factors`].
pub(super) fn factorisations(n: usize) -> Vec<Vec<usize>> {
    fn extend(n: usize, most: usize, begin: &[usize], cost: f64, all: &mut Vec<(f64, Vec<usize>)>) {
        if n == 1 {
            all.push((cost, begin.to_vec()));
        }
        let fitting = RADICES.into_iter().filter(|&(radix, _)| radix <= most && n.is_multiple_of(radix));
        for (radix, more) in fitting {
            extend(n / radix, radix, &[begin, &[radix]].concat(), cost + more, all);
        }
    }
    let Some(first) = factors(n) else { return Vec::new() };
    let mut all = Vec::new();
    extend(n, n, &[], 0.0, &mut all);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sequences = vec![first.radices];
    for (_, falling) in all {
        let rising: Vec<usize> = falling.iter().rev().copied().collect();
        for sequence in [falling, rising] {
            if !sequences.contains(&sequence) {
                sequences.push(sequence);
            }
        }
    }
    sequences
}

/// Returns `n` without its prime factors up to 13.
fn rough_part(mut n: usize) -> usize {
    for prime in [2, 3, 5, 7, 11, 13] {
        while n.is_multiple_of(prime) {
            n /= prime;
        }
    }
    n
}

/// Returns the length of at least `least` that takes the least time.
///
/// The length has no prime factor above 7, and is at most the next power of two. Cyclic convolutions
/// and padded meshes take such lengths.
pub fn fast_length(least: usize) -> usize {
    let longest = least.next_power_of_two();
    let mut best = (f64::INFINITY, longest);
    let mut of_seven = 1;
    while of_seven <= longest {
        let mut of_five = of_seven;
        while of_five <= longest {
            let mut of_three = of_five;
            while of_three <= longest {
                // The least power of two that is enough.
                let length = of_three * least.div_ceil(of_three).next_power_of_two();
                if length <= longest {
                    let cost = length as f64 * factors(length).map_or(f64::INFINITY, |f| f.cost + 1.0);
                    if cost < best.0 || (cost == best.0 && length < best.1) {
                        best = (cost, length);
                    }
                }
                of_three *= 3;
            }
            of_five *= 5;
        }
        of_seven *= 7;
    }
    best.1
}

/// Returns two factors of `n`, both at most `most`, that differ as little as possible.
///
/// `None` if there are none. `n` has no prime factor above 13.
pub(super) fn two_factors(n: usize, most: usize) -> Option<[usize; 2]> {
    let root = (1..).take_while(|k| k * k <= n).last()?;
    (1..=root).rev().find(|k| n.is_multiple_of(*k)).map(|k| [k, n / k]).filter(|[_, long]| *long <= most)
}

/// Returns the least primitive root of a prime above 2; `None` if `p` is no such prime.
pub(super) fn primitive_root(p: usize) -> Option<usize> {
    let prime_factors = |mut n: usize| {
        let mut found = Vec::new();
        let mut divisor = 2;
        while divisor * divisor <= n {
            if n.is_multiple_of(divisor) {
                found.push(divisor);
                while n.is_multiple_of(divisor) {
                    n /= divisor;
                }
            }
            divisor += 1;
        }
        if n > 1 {
            found.push(n);
        }
        found
    };
    if p < 3 || prime_factors(p) != [p] {
        return None;
    }
    let divisors = prime_factors(p - 1);
    (2..p).find(|&g| divisors.iter().all(|divisor| power(g, (p - 1) / divisor, p) != 1))
}

/// Returns `base` to the power of `exponent`, modulo `modulus`.
pub(super) fn power(base: usize, mut exponent: usize, modulus: usize) -> usize {
    let (modulus, mut square, mut result) = (modulus as u128, base as u128, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        exponent /= 2;
    }
    (result % modulus) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_make_the_length() {
        for n in 1..3000 {
            match factors(n) {
                Some(found) => assert_eq!(found.radices.iter().product::<usize>(), n),
                None => assert!((17..=n).any(|p| n.is_multiple_of(p) && rough_part(p) == p), "{n}"),
            }
        }
        assert_eq!(factors(0), None);
        assert_eq!(factors(8).unwrap().radices, [8]);
        assert!(factors(1 << 13).unwrap().radices.len() <= 4);
    }

    #[test]
    fn factorisations_differ_and_make_the_length() {
        for n in [1, 2, 36, 128, 250, 4096] {
            let all = factorisations(n);
            assert_eq!(all[0], factors(n).unwrap().radices);
            assert!(all.iter().all(|radices| radices.iter().product::<usize>() == n));
            assert!((1..all.len()).all(|k| !all[..k].contains(&all[k])));
        }
        // 12, 6·2, 4·3 and 3·2·2, all but the first in two orders.
        assert_eq!(factorisations(12).len(), 7);
        assert!(factorisations(17).is_empty());
    }

    #[test]
    fn convolutions_have_room_and_radices() {
        for least in (1..600).chain([8191, 65537 * 2 - 1, 104729 * 2 - 1]) {
            let length = fast_length(least);
            assert!(length >= least && length <= least.next_power_of_two() && factors(length).is_some());
        }
    }

    #[test]
    fn long_lengths_are_products_of_two() {
        assert_eq!(two_factors(1 << 14, 4096), Some([128, 128]));
        assert_eq!(two_factors(3 << 12, 4096), Some([96, 128]));
        assert_eq!(two_factors(1 << 24, 2048), None);
        assert_eq!(two_factors(1, 1), Some([1, 1]));
    }

    #[test]
    fn primitive_roots_reach_every_number() {
        for p in [3, 5, 17, 251, 257, 1009] {
            let g = primitive_root(p).unwrap();
            let mut reached: Vec<usize> = (0..p - 1).map(|exponent| power(g, exponent, p)).collect();
            reached.sort_unstable();
            assert_eq!(reached, (1..p).collect::<Vec<_>>());
        }
        assert!([0, 1, 2, 4, 9, 255].iter().all(|&n| primitive_root(n).is_none()));
    }
}
