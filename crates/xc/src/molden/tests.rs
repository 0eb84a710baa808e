//! Files of one basis and its orbitals, written as programs write them.

use super::*;
use crate::basis::{Atom, Shell};
use crate::harmonics::LETTERS;
use crate::overlap::overlaps;
use std::fmt::Write;

const CARTESIAN: [&[&str]; 6] = [
    &[""],
    &["x", "y", "z"],
    &["xx", "yy", "zz", "xy", "xz", "yz"],
    &["xxx", "yyy", "zzz", "xyy", "xxy", "xxz", "xzz", "yzz", "yyz", "xyz"],
    &[
        "xxxx", "yyyy", "zzzz", "xxxy", "xxxz", "yyyx", "yyyz", "zzzx", "zzzy", "xxyy", "xxzz", "yyzz",
        "xxyz", "yyxz", "zzxy",
    ],
    &[
        "xxxxx", "xxxxy", "xxxxz", "xxxyy", "xxxyz", "xxxzz", "xxyyy", "xxyyz", "xxyzz", "xxzzz", "xyyyy",
        "xyyyz", "xyyzz", "xyzzz", "xzzzz", "yyyyy", "yyyyz", "yyyzz", "yyzzz", "yzzzz", "zzzzz",
    ],
];

/// The squares of factors of Cartesian functions that share the norm of x^l, in the format's order.
const OF_POWER: [&[f64]; 3] = [
    &[1.0, 1.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
    &[1.0, 1.0, 1.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1.0 / 15.0],
    &[
        1.0,
        1.0,
        1.0,
        1.0 / 7.0,
        1.0 / 7.0,
        1.0 / 7.0,
        1.0 / 7.0,
        1.0 / 7.0,
        1.0 / 7.0,
        3.0 / 35.0,
        3.0 / 35.0,
        3.0 / 35.0,
        1.0 / 35.0,
        1.0 / 35.0,
        1.0 / 35.0,
    ],
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Norms {
    Each,
    OfPower,
    OfProduct,
    TimesPower,
}

/// How a file is written.
#[derive(Clone, Debug)]
struct Style {
    /// d, f, g and h shells that are pure.
    pure: [bool; 4],
    with_norms: bool,
    contraction: f64,
    norms: Norms,
    orca_signs: bool,
    title: &'static str,
    unit: &'static str,
    keeps_zeros: bool,
    has_blank_lines: bool,
    exponent: &'static str,
    /// The order of title, atoms, tags, basis and orbitals.
    order: [usize; 5],
}

const PLAIN: Style = Style {
    pure: [true; 4],
    with_norms: false,
    contraction: 1.0,
    norms: Norms::Each,
    orca_signs: false,
    title: "water",
    unit: "(AU)",
    keeps_zeros: true,
    has_blank_lines: true,
    exponent: "e",
    order: [0, 1, 2, 3, 4],
};

/// Coefficients of normalised primitives of shells of a momentum.
fn contraction(momentum: usize) -> Vec<[f64; 2]> {
    let scale = 1.0 + 0.3 * momentum as f64;
    vec![[2.3 * scale, 0.4], [0.6 * scale, 0.7]]
}

const POSITIONS: [[f64; 3]; 2] = [[0.0, 0.1, -0.2], [0.8, -0.5, 0.9]];

/// The radial norm of a primitive: the square root of 2^{2l+3} (l+1)! (2a)^{l+3/2} / ((2l+2)! √π).
fn primitive_norm(l: usize, a: f64) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    let above = 2.0_f64.powi(2 * l as i32 + 3) * factorial(l + 1) * (2.0 * a).powf(l as f64 + 1.5);
    (above / (factorial(2 * l + 2) * std::f64::consts::PI.sqrt())).sqrt()
}

/// The momenta of the shells of both atoms.
const MOMENTA: [[usize; 4]; 2] = [[0, 1, 2, 3], [0, 2, 4, 5]];

/// A basis with the shells of a style, each normalised.
fn basis(style: &Style) -> Basis {
    let shell = |atom: usize, momentum: usize| {
        let is_cartesian = momentum > 1 && !style.pure[momentum - 2];
        let mut primitives = contraction(momentum);
        primitives.iter_mut().for_each(|[a, c]| *c *= primitive_norm(momentum, *a));
        let alone = Shell { atom: 0, momentum, is_cartesian, primitives: primitives.clone() };
        let alone = Basis::new(vec![Atom { charge: 1, position: [0.0; 3] }], vec![alone]).unwrap();
        let norm = overlaps(&alone)[0].sqrt();
        primitives.iter_mut().for_each(|[_, c]| *c /= norm);
        Shell { atom, momentum, is_cartesian, primitives }
    };
    let shells = (0..2).flat_map(|atom| MOMENTA[atom].map(|momentum| shell(atom, momentum)));
    let atoms = POSITIONS.map(|position| Atom { charge: 6, position });
    Basis::new(atoms.to_vec(), shells.collect()).unwrap()
}

/// Orthonormal orbitals; the first has functions of the first atom alone.
fn orbitals(basis: &Basis, count: usize) -> Vec<Vec<f64>> {
    let n = basis.functions();
    let s = overlaps(basis);
    let product = |a: &[f64], b: &[f64]| -> f64 { (0..n * n).map(|e| a[e / n] * s[e] * b[e % n]).sum() };
    let mut all = Vec::<Vec<f64>>::new();
    for k in 0..count {
        let within = if k == 0 { basis.functions_of(3).start } else { n };
        let value = |i: usize| if i < within { ((3 * i + 7 * k + i * i * k) as f64).sin() } else { 0.0 };
        let mut new: Vec<f64> = (0..n).map(value).collect();
        for _ in 0..2 {
            for old in &all {
                let part = product(&new, old);
                new.iter_mut().zip(old).for_each(|(x, y)| *x -= part * y);
            }
        }
        let norm = product(&new, &new).sqrt();
        all.push(new.into_iter().map(|x| x / norm).collect());
    }
    all
}

/// The places of a shell's functions in the order of files, and their factors.
fn functions_of_file(style: &Style, momentum: usize) -> Vec<(usize, f64)> {
    if momentum < 2 {
        return (0..2 * momentum + 1).map(|k| (k, 1.0)).collect();
    }
    if style.pure[momentum - 2] {
        let m = (0..2 * momentum as i64 + 1).map(|k| if k % 2 == 1 { (k + 1) / 2 } else { -k / 2 });
        let sign = |m: i64| if style.orca_signs && (m.abs() == 3 || m.abs() == 4) { -1.0 } else { 1.0 };
        return m.map(|m| ((m + momentum as i64) as usize, sign(m))).collect();
    }
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters.into_iter().collect::<String>()
    };
    let mut ours: Vec<String> = CARTESIAN[momentum].iter().map(|name| sorted(name)).collect();
    ours.sort_unstable();
    let of = |(k, name): (usize, &&str)| {
        let place = ours.iter().position(|own| *own == sorted(name)).unwrap();
        let odd = |n: usize| (1..=n).map(|k| (2 * k - 1) as f64).product::<f64>();
        let all = odd(momentum);
        let of_axis = |axis: char| odd(name.chars().filter(|&c| c == axis).count());
        let of_h = || of_axis('x') * of_axis('y') * of_axis('z') / all;
        let of_power = OF_POWER.get(momentum - 2).map_or_else(of_h, |squares| squares[k]).sqrt();
        let factor = match style.norms {
            Norms::Each => 1.0,
            Norms::OfPower => of_power,
            Norms::OfProduct => of_power * all.sqrt(),
            Norms::TimesPower => all.sqrt(),
        };
        (place, factor)
    };
    CARTESIAN[momentum].iter().enumerate().map(of).collect()
}

/// An orbital: its spin, its occupation and its vector.
type Written = (&'static str, f64, Vec<f64>);

/// Writes a file.
fn written(style: &Style, orbitals: &[Written]) -> String {
    let number = |x: f64| format!("{x:.16e}").replace('e', style.exponent);
    let scale = if style.unit.to_ascii_lowercase().contains("ang") { BOHR } else { 1.0 };
    let mut atoms = format!("[Atoms] {}\n", style.unit);
    for (atom, position) in POSITIONS.iter().enumerate() {
        let [x, y, z] = position.map(|x| number(x * scale));
        writeln!(atoms, "C{} {} 6 {x} {y} {z}", atom + 1, atom + 1).unwrap();
    }
    let mut basis = "[GTO]\n".to_owned();
    let mut functions = Vec::new();
    for (atom, momenta) in MOMENTA.iter().enumerate() {
        writeln!(basis, "  {} 0", atom + 1).unwrap();
        for &momentum in momenta {
            let letter =
                if atom == 0 { LETTERS[momentum].to_owned() } else { LETTERS[momentum].to_uppercase() };
            let factor = if atom == 0 { " 1.00" } else { "" };
            writeln!(basis, " {letter} 2{factor}").unwrap();
            let l = momentum as f64;
            for [a, c] in contraction(momentum) {
                let norm = (2.0 * a / std::f64::consts::PI).powf(0.75) * (4.0 * a).powf(0.5 * l);
                let c = if style.with_norms { c * norm } else { c * style.contraction };
                writeln!(basis, "{} {}", number(a), number(c)).unwrap();
            }
            let first = functions.len();
            functions.extend(functions_of_file(style, momentum).into_iter().map(|(k, f)| (first + k, f)));
        }
        if style.has_blank_lines {
            basis.push('\n');
        }
    }
    // The shells of the test are not normalised as they are written.
    let norm_of = |l: usize| {
        let pairs = contraction(l).into_iter().flat_map(|a| contraction(l).into_iter().map(move |b| (a, b)));
        let overlap = |([a, c], [b, d]): ([f64; 2], [f64; 2])| {
            c * d * (2.0 * (a * b).sqrt() / (a + b)).powf(l as f64 + 1.5)
        };
        pairs.map(overlap).sum::<f64>().sqrt()
    };
    let momenta = MOMENTA.as_flattened().iter().flat_map(|&l| vec![l; functions_of_file(style, l).len()]);
    let norms: Vec<f64> =
        momenta
            .map(|l| {
                if style.contraction == 1.0 || style.with_norms {
                    1.0
                } else {
                    style.contraction * norm_of(l)
                }
            })
            .collect();
    let mut text = "[MO]\n".to_owned();
    for (spin, occupation, vector) in orbitals {
        writeln!(text, " Sym= 1a\n Ene= -0.5\n Spin= {spin}\n Occup= {}", number(*occupation)).unwrap();
        for (k, &(place, factor)) in functions.iter().enumerate() {
            let c = vector[place] / (factor * norms[k]);
            if c != 0.0 || style.keeps_zeros {
                writeln!(text, "{} {}", k + 1, number(c)).unwrap();
            }
        }
    }
    let mut tags = String::new();
    let words = [["[5D]", "[6D]"], ["[7f]", "[10F]"], ["[9G]", "[15g]"], ["[11H]", "[21H]"]];
    for (words, is_pure) in words.iter().zip(style.pure) {
        writeln!(tags, "{}", words[usize::from(!is_pure)]).unwrap();
    }
    let sections = [format!("[Title]\n {}\n", style.title), atoms, tags, basis, text];
    let body: String = style.order.iter().map(|&k| sections[k].as_str()).collect();
    format!("[Molden Format]\n{body}")
}

/// Pairs in the first orbitals of a style's basis, and an empty one.
fn pairs(style: &Style) -> (Basis, Vec<Written>) {
    let basis = basis(style);
    let all = orbitals(&basis, 7).into_iter().enumerate();
    let all = all.map(|(k, vector)| ("Alpha", if k < 4 { 2.0 } else { 0.0 }, vector));
    let all = all.collect();
    (basis, all)
}

#[track_caller]
fn expect_density(label: &str, found: &Molden, basis: &Basis, wanted: &[Vec<f64>]) {
    assert_eq!(found.basis.functions(), basis.functions(), "{label}");
    for (own, other) in found.basis.shells().iter().zip(basis.shells()) {
        assert_eq!((own.atom, own.kind()), (other.atom, other.kind()), "{label}");
        for (a, b) in own.primitives.iter().zip(&other.primitives) {
            assert!((a[1] / b[1] - 1.0).abs() < 1e-12, "{label}: {a:?} {b:?}");
        }
    }
    for (own, other) in found.basis.atoms().iter().zip(basis.atoms()) {
        let apart = (0..3).map(|k| (own.position[k] - other.position[k]).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-14, "{label}: {apart:e}");
    }
    assert_eq!(found.density.spins().len(), wanted.len(), "{label}");
    for (own, other) in found.density.spins().iter().zip(wanted) {
        let apart = own.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-11, "{label}: {apart:e}");
    }
    let s = overlaps(basis);
    let electrons: f64 =
        found.density.spins().iter().flat_map(|d| d.iter().zip(&s)).map(|(d, s)| d * s).sum();
    assert!((electrons - found.electrons).abs() < 1e-10, "{label}: {electrons} {}", found.electrons);
}

fn matrix(orbitals: &[Written], occupation: impl Fn(usize) -> f64) -> Vec<f64> {
    let n = orbitals[0].2.len();
    let element = |e: usize| {
        let of = |(k, (_, _, c)): (usize, &Written)| occupation(k) * c[e / n] * c[e % n];
        orbitals.iter().enumerate().map(of).sum()
    };
    (0..n * n).map(element).collect()
}

#[test]
fn every_convention_gives_one_density() {
    let pures = [[true; 4], [false; 4], [true, false, false, true], [false, true, true, false]];
    for pure in pures {
        let (basis, orbitals) = pairs(&Style { pure, ..PLAIN });
        let wanted = [matrix(&orbitals, |k| orbitals[k].1)];
        for (with_norms, contraction) in [(false, 1.0), (true, 1.0), (false, 0.7)] {
            for norms in [Norms::Each, Norms::OfPower, Norms::OfProduct, Norms::TimesPower] {
                if norms == Norms::TimesPower && (with_norms || contraction == 1.0) {
                    continue;
                }
                for (orca_signs, title) in [(false, "water"), (true, "made by orca_2mkl"), (true, "water")] {
                    let is_distinct = norms == Norms::Each || pure.contains(&false);
                    if !is_distinct {
                        continue;
                    }
                    let style = Style { pure, with_norms, contraction, norms, orca_signs, title, ..PLAIN };
                    let label = format!("{style:?}");
                    let found = Molden::parse(&written(&style, &orbitals)).unwrap_or_else(|error| {
                        panic!("{label}: {error}");
                    });
                    expect_density(&label, &found, &basis, &wanted);
                    let is_plain = !with_norms && contraction == 1.0 && norms == Norms::Each && !orca_signs;
                    assert!(found.notes.is_empty() || !is_plain, "{label}: {:?}", found.notes);
                    assert!(!with_norms || found.notes[0].contains("ORCA"), "{label}: {:?}", found.notes);
                }
            }
        }
    }
}

#[test]
fn order_of_sections_zeros_units_and_letters_do_not_matter() {
    let (basis, orbitals) = pairs(&PLAIN);
    let wanted = [matrix(&orbitals, |k| orbitals[k].1)];
    let mut orders =
        vec![[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 3, 1, 4, 2], [2, 4, 1, 3, 0], [3, 4, 2, 0, 1]];
    orders.extend([[1, 4, 3, 2, 0], [4, 1, 3, 0, 2]]);
    for order in orders {
        for keeps_zeros in [true, false] {
            let style = Style { order, keeps_zeros, ..PLAIN };
            expect_density(
                &format!("{style:?}"),
                &Molden::parse(&written(&style, &orbitals)).unwrap(),
                &basis,
                &wanted,
            );
        }
    }
    for unit in ["AU", "(AU)", "au", "Angs", "(Angs)", "ANGS", "Angstrom", ""] {
        for (exponent, has_blank_lines) in [("e", true), ("D", false), ("E", false)] {
            let style = Style { unit, exponent, has_blank_lines, ..PLAIN };
            let text = written(&style, &orbitals);
            expect_density(&format!("{style:?}"), &Molden::parse(&text).unwrap(), &basis, &wanted);
            let loud = Molden::parse(&text.to_uppercase()).unwrap();
            expect_density("upper case", &loud, &basis, &wanted);
        }
    }
    // A file whose unit is not named is in the unit that makes its orbitals orthonormal.
    let angs = written(&Style { unit: "Angs", ..PLAIN }, &orbitals).replace("[Atoms] Angs", "[Atoms]");
    expect_density("no unit", &Molden::parse(&angs).unwrap(), &basis, &wanted);
    // Tags that are missing follow from the number of coefficients.
    let untagged = written(&PLAIN, &orbitals).replace("[5D]\n[7f]\n[9G]\n[11H]\n", "");
    expect_density("no tags", &Molden::parse(&untagged).unwrap(), &basis, &wanted);
    // Sections of other programs, keys in another order, and none that is not needed.
    let text =
        written(&PLAIN, &orbitals).replace("[MO]", "[Core]\n1 : 2\n[Pseudo]\nC 1 4\n[FREQ]\n 1.0\n[MO]");
    let text = text.replace(" Sym= 1a\n Ene= -0.5\n Spin= Alpha\n Occup=", " Occup =");
    expect_density("few keys", &Molden::parse(&text).unwrap(), &basis, &wanted);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let (basis, orbitals) = pairs(&PLAIN);
    let wanted = [matrix(&orbitals, |k| orbitals[k].1)];
    let text = written(&PLAIN, &orbitals);
    // The first section counts, whichever it is.
    for text in [&text[..], text.strip_prefix("[Molden Format]\n[Title]\n water\n").unwrap()] {
        let marked = format!("\u{feff}{text}");
        expect_density("a mark", &Molden::parse(&marked).unwrap(), &basis, &wanted);
    }
}

#[test]
fn whole_occupations_of_one_spin_are_those_of_open_shells() {
    let (basis, mut orbitals) = pairs(&PLAIN);
    orbitals[2].1 = 1.0;
    orbitals[3].1 = 1.0;
    let spins = [matrix(&orbitals, |k| f64::from(k < 4)), matrix(&orbitals, |k| f64::from(k < 2))];
    expect_density("open shells", &Molden::parse(&written(&PLAIN, &orbitals)).unwrap(), &basis, &spins);
    orbitals[3].1 = 0.25;
    let mean = [matrix(&orbitals, |k| orbitals[k].1)];
    expect_density("natural", &Molden::parse(&written(&PLAIN, &orbitals)).unwrap(), &basis, &mean);
    for (k, orbital) in orbitals.iter_mut().enumerate() {
        (orbital.0, orbital.1) = if k % 2 == 0 { ("Alpha", 1.0) } else { ("Beta", 0.5) };
    }
    let of = |odd: usize| matrix(&orbitals, |k| if k % 2 == odd { orbitals[k].1 } else { 0.0 });
    expect_density("both", &Molden::parse(&written(&PLAIN, &orbitals)).unwrap(), &basis, &[of(0), of(1)]);
}

#[test]
fn occupations_that_are_none_are_refused_with_their_line() {
    let (basis, mut orbitals) = pairs(&PLAIN);
    let mut error_of = |spin: &'static str, occupation: f64| {
        (orbitals[1].0, orbitals[0].1) = (spin, occupation);
        orbitals[1..].iter_mut().for_each(|orbital| orbital.1 = 1.0);
        let text = written(&PLAIN, &orbitals);
        let line = text.lines().position(|line| line.contains("Occup=")).unwrap() + 1;
        let error = Molden::parse(&text).err()?.to_string();
        assert!(error.contains(&format!("line {line}:")), "{error}");
        Some(error)
    };
    for occupation in [-2.0, 2.5, -1e300, -0.02, 2.02] {
        let error = error_of("Alpha", occupation).unwrap();
        assert!(error.contains("0 to 2 electrons") && error.len() < 120, "{error}");
    }
    for occupation in [2.0, 1.5, -1.0] {
        assert!(error_of("Beta", occupation).unwrap().contains("0 to 1 electrons"));
    }
    // Rounded numbers of natural orbitals.
    for (spin, occupation) in [("Alpha", 2.0000001), ("Alpha", -1e-9), ("Beta", 1.00001), ("Beta", -1e-5)] {
        assert_eq!(error_of(spin, occupation), None);
    }
    assert!(basis.functions() > 0);
}

#[test]
fn orbitals_without_norm_are_refused() {
    let (_, orbitals) = pairs(&PLAIN);
    let text = written(&PLAIN, &orbitals);
    for (from, to) in [("S 2", "P 2"), ("C2 2 6 ", "C2 2 6 1"), ("[MO]\n", "[MO]\n Occup= 2\n 1 0.9\n")] {
        assert!(text.contains(from));
        let error = Molden::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains("normalisation") || from == "S 2", "{error}");
    }
    // A file that ends within an occupied orbital.
    let end = text.match_indices("Occup").nth(3).unwrap().0 + 200;
    let end = text[..end].rfind('\n').unwrap();
    let error = Molden::parse(&text[..end]).unwrap_err().to_string();
    assert!(error.contains("normalisation"), "{error}");
}

#[test]
fn atoms_without_a_nucleus_have_functions() {
    let (basis, orbitals) = pairs(&PLAIN);
    let wanted = [matrix(&orbitals, |k| orbitals[k].1)];
    let text = written(&PLAIN, &orbitals);
    for ghost in ["C2 2 0 ", "Bq 2 0 ", "X 2 0.0 ", "Gh 2 - ", "bq2 2 x "] {
        let found = Molden::parse(&text.replace("C2 2 6 ", ghost)).unwrap();
        assert_eq!((found.basis.atoms()[0].charge, found.basis.atoms()[1].charge), (6, 0), "{ghost}");
        expect_density(ghost, &found, &basis, &wanted);
    }
    // Shells name atoms by the numbers in their lines.
    let text = text.replace("C1 1 6", "C1 7 6").replace("C2 2 6", "C2 3 6");
    let text = text.replace("  1 0\n", "  7 0\n").replace("  2 0\n", "  3 0\n");
    expect_density("numbers", &Molden::parse(&text).unwrap(), &basis, &wanted);
}

#[test]
fn no_control_character_reaches_a_message() {
    let (_, orbitals) = pairs(&PLAIN);
    let text = written(&PLAIN, &orbitals[..1]);
    let mut refused = 0;
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_whitespace()) {
        let evil = format!("{}\u{1b}[31m\u{7}{}", &text[..at], &text[at..]);
        if let Err(error) = Molden::parse(&evil) {
            assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}
