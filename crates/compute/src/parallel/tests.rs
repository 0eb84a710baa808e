use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Lengths around the numbers of pieces.
const LENGTHS: [usize; 8] = [0, 1, 2, 7, 64, 65, 1000, 4097];

fn on_threads(test: impl Fn() + Sync) {
    for threads in [1, 3] {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&test);
    }
}

#[test]
fn items_come_in_their_order_from_every_source() {
    on_threads(|| {
        for len in LENGTHS {
            let numbers: Vec<usize> = (0..len).into_par_iter().map(|k| 3 * k).collect();
            assert_eq!(numbers, (0..len).map(|k| 3 * k).collect::<Vec<_>>());
            assert_eq!(numbers.par_iter().copied().collect::<Vec<_>>(), numbers);
            assert_eq!(numbers.clone().into_par_iter().collect::<Vec<_>>(), numbers);
            let numbered: Vec<_> = numbers.par_iter().enumerate().map(|(k, &n)| (k, n)).collect();
            assert!(numbered.iter().all(|&(k, n)| n == 3 * k));
            for size in [1, 3, 64, 5000] {
                let parts: Vec<&[usize]> = numbers.par_chunks(size).collect();
                assert_eq!(parts, numbers.chunks(size).collect::<Vec<_>>());
                let parts: Vec<&[usize]> = numbers.par_chunks_exact(size).collect();
                assert_eq!(parts, numbers.chunks_exact(size).collect::<Vec<_>>());
            }
        }
    });
}

#[test]
fn every_element_is_changed_once() {
    on_threads(|| {
        for len in LENGTHS {
            let mut numbers = vec![1; len];
            numbers.par_iter_mut().for_each(|number| *number += 1);
            numbers.par_chunks_mut(3).enumerate().for_each(|(k, part)| part.iter_mut().for_each(|n| *n += k));
            numbers.par_chunks_exact_mut(5).for_each(|part| part[4] += 1);
            let expected = (0..len).map(|k| 2 + k / 3 + usize::from(k % 5 == 4));
            assert_eq!(numbers, expected.collect::<Vec<_>>());
        }
    });
}

#[test]
fn pairs_end_with_the_shorter_sequence() {
    on_threads(|| {
        for (short, long) in [(0, 5), (99, 100), (100, 4097)] {
            let (one, other): (Vec<usize>, Vec<usize>) = ((0..short).collect(), (0..long).collect());
            let expected: Vec<_> = (0..short).map(|k| 2 * k).collect();
            let sums = |pair: (&usize, &usize)| pair.0 + pair.1;
            assert_eq!(one.par_iter().zip(&other).map(sums).collect::<Vec<_>>(), expected);
            assert_eq!(other.par_iter().zip(&one).map(sums).collect::<Vec<_>>(), expected);
            assert_eq!(other.par_iter().take(short).zip(one).exact_len(), Some(short));
        }
    });
}

#[test]
fn sequences_of_unknown_lengths_keep_their_order() {
    on_threads(|| {
        for len in LENGTHS {
            let repeated: Vec<usize> = (0..len).into_par_iter().flat_map_iter(|k| vec![k; k % 3]).collect();
            assert_eq!(repeated, (0..len).flat_map(|k| vec![k; k % 3]).collect::<Vec<_>>());
            let odd: Vec<usize> =
                (0..len).into_par_iter().filter_map(|k| (k % 2 == 1).then_some(k)).collect();
            assert_eq!(odd, (0..len).filter(|k| k % 2 == 1).collect::<Vec<_>>());
            let rows: Vec<[usize; 2]> = (0..len).map(|k| [k, k + 1]).collect();
            let all: Vec<usize> = rows.par_iter().flatten().copied().collect();
            assert_eq!(all, rows.as_flattened());
        }
    });
}

#[test]
fn results_do_not_depend_on_threads() {
    on_threads(|| {
        assert_eq!((0..1001).into_par_iter().sum::<usize>(), 500_500);
        assert_eq!((0..1001).into_par_iter().reduce(|| 0, usize::max), 1000);
        assert_eq!((0..1001).into_par_iter().map(|k| (k * 37) % 1001).max(), Some(1000));
        assert_eq!((0..0).into_par_iter().max(), None);
        let even = |k: usize| if k.is_multiple_of(2) { Ok(k) } else { Err(k) };
        assert_eq!((0..1000).into_par_iter().map(even).collect::<Result<Vec<_>, _>>(), Err(1));
        assert_eq!((301..1000).into_par_iter().try_for_each(|k| even(k).map(drop)), Err(301));
        assert_eq!(
            (0..9).into_par_iter().map(|k| even(2 * k)).collect::<Result<Vec<_>, _>>().map(|v| v.len()),
            Ok(9)
        );
        assert_eq!((0..900).into_par_iter().map(|k| k.checked_sub(1)).collect::<Option<Vec<_>>>(), None);
        for place in [0, 1, 500, 999] {
            assert_eq!((0..1000).into_par_iter().find_first(|&k| k >= place), Some(place));
            let doubled = |k| (k >= place).then_some(2 * k);
            assert_eq!((0..1000).into_par_iter().find_map_first(doubled), Some(2 * place));
            assert!((0..1000).into_par_iter().any(|k| k == place));
            assert!(!(0..1000).into_par_iter().all(|k| k != place));
        }
        assert_eq!((0..1000).into_par_iter().find_first(|_| false), None);
        let pieces = (0..1000).into_par_iter().try_fold(|| 0, |sum, k| Some(sum + k)).unwrap();
        assert_eq!(pieces.iter().sum::<usize>(), 499_500);
    });
}

#[test]
fn pieces_are_not_smaller_than_wished() {
    on_threads(|| {
        let numbers: Vec<usize> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let count = || begun.fetch_add(1, Ordering::Relaxed);
        numbers.par_iter().enumerate().with_min_len(400).for_each_init(count, |_, _| {});
        assert!((1..=2).contains(&begun.load(Ordering::Relaxed)));
        let sums = numbers.par_iter().collect_with(
            || 0,
            |sum, &n| {
                *sum += 1;
                n
            },
        );
        assert_eq!(sums, numbers);
    });
}

#[test]
fn a_vector_keeps_its_memory() {
    let mut numbers = Vec::with_capacity(5000);
    numbers.push(7);
    let memory = numbers.as_ptr();
    (0..4097).into_par_iter().collect_into_vec(&mut numbers);
    assert_eq!((numbers.len(), numbers[4096], numbers.as_ptr()), (4097, 4096, memory));
}

#[test]
fn a_panic_in_a_piece_reaches_the_caller() {
    let all: Vec<String> = (0..1000).map(|k| k.to_string()).collect();
    let broken = std::panic::catch_unwind(|| {
        all.par_iter()
            .map(|text| if text == "777" { panic!("found") } else { text.clone() })
            .collect::<Vec<_>>()
    });
    assert!(broken.is_err());
}
