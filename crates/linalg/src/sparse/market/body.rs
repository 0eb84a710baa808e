//! The entries of a file, parsed by several threads.

use super::error::Wrong;
use super::header::{Field, Header, Layout, Symmetry, words};
use super::line::{Lines, has_content, shown};
use super::plain;
use crate::host::level1::Arithmetic;
use crate::sparse::coo::Entry;
use lattice_compute::parallel::*;
use lattice_files::number;
use num_complex::Complex64;

/// Bytes that one task parses.
const PIECE: usize = 1 << 18;

/// The entries of a piece of the text.
struct Piece<T> {
    entries: Vec<Entry<T>>,
    /// Lines of the piece.
    lines: usize,
    /// The problem behind the entries.
    ///
    /// The line counts from the beginning of the piece, from 0.
    wrong: Option<Wrong>,
}

/// Parses all entries. The first line of `text` has the number `first`.
///
/// Zeros that a skew-symmetric array implies are no entries.
pub(super) fn entries<T: Arithmetic>(
    header: &Header,
    text: &[u8],
    first: usize,
) -> Result<Vec<Entry<T>>, Wrong> {
    let mut entries: Vec<Entry<T>> = Vec::new();
    lattice_compute::reserve(&mut entries, header.stored)?;
    let texts = pieces(text);
    let mut line = first;
    // Few pieces at a time, so that a text of too many entries takes no more memory than it may.
    for texts in texts.chunks(4 * rayon::current_num_threads()) {
        let parsed: Vec<Piece<T>> = texts.par_iter().map(|text| piece(header, text)).collect();
        for (piece, text) in parsed.into_iter().zip(texts) {
            let room = header.stored - entries.len();
            if piece.entries.len() > room {
                let wanted = format!("{} of them", header.stored);
                let extra = line_of_entry(text, line, room);
                return Err(Wrong::line(extra, wanted, "more entries than announced"));
            }
            if let Some(Wrong::Line { line: behind, wanted, found }) = piece.wrong {
                return Err(Wrong::line(line + behind, wanted, found));
            }
            entries.extend(piece.entries);
            line += piece.lines;
        }
    }
    if entries.len() < header.stored {
        let problem = format!(
            "{} entries announced, {} found; the file is cut off or its sizes are wrong",
            header.stored,
            entries.len()
        );
        return Err(Wrong::Whole(problem));
    }
    if header.layout == Layout::Array {
        place(header, &mut entries);
        let wrong = |entry: &Entry<T>| {
            let is_diagonal = entry.row == entry.column && header.symmetry == Symmetry::Hermitian;
            is_diagonal.then(|| on_diagonal(header.symmetry, entry.value.to_complex()).err()).flatten()
        };
        let found = entries.iter().enumerate().find_map(|(k, entry)| Some((k, wrong(entry)?)));
        if let Some((k, (wanted, found))) = found {
            return Err(Wrong::line(line_of_entry(text, first, k), wanted, found));
        }
    }
    Ok(entries)
}

/// Returns the line of an entry, counted from 0, of a text whose first line has a number.
fn line_of_entry(text: &[u8], first: usize, entry: usize) -> usize {
    let mut lines = Lines::new(text, first).filter(|(_, line)| has_content(line));
    lines.nth(entry).map_or(first, |(line, _)| line)
}

/// Cuts a text behind ends of lines.
fn pieces(mut text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let least = PIECE.min(text.len());
        let more = text[least..].iter().position(|&byte| byte == b'\n');
        let end = more.map_or(text.len(), |more| least + more + 1);
        pieces.push(&text[..end]);
        text = &text[end..];
    }
    pieces
}

fn piece<T: Arithmetic>(header: &Header, mut text: &[u8]) -> Piece<T> {
    let mut piece = Piece { entries: Vec::with_capacity(text.len() / 16), lines: 0, wrong: None };
    while !text.is_empty() {
        if let Some((entry, length)) = plain::entry(header, text) {
            piece.entries.push(entry);
            piece.lines += 1;
            text = &text[length..];
            continue;
        }
        // Everything that is rare or wrong, line by line.
        let mut lines = Lines::new(text, piece.lines);
        let Some((number, line)) = lines.next() else { break };
        text = lines.rest().0;
        piece.lines += 1;
        if !has_content(line) {
            continue;
        }
        match entry(header, line) {
            Ok(entry) => piece.entries.push(entry),
            Err((wanted, found)) => {
                piece.wrong = Some(Wrong::line(number, wanted, found));
                break;
            }
        }
    }
    piece
}

/// The expected text and the text that was found.
type Mismatch = (String, String);

/// Parses a line. In an array, row and column are 0 at first.
fn entry<T: Arithmetic>(header: &Header, line: &[u8]) -> Result<Entry<T>, Mismatch> {
    let mut words = words(line);
    let mut place = [0; 2];
    if header.layout == Layout::Coordinate {
        place[0] = index("row", header.rows, words.next(), line)?;
        place[1] = index("column", header.columns, words.next(), line)?;
    }
    let value = match header.field {
        Field::Pattern => Complex64::from(1.0),
        Field::Real => number("a real number", number::real, words.next(), line)?.into(),
        Field::Integer => number("an integer", number::integer, words.next(), line)?.into(),
        Field::Unsigned => number("an integer of at least 0", number::unsigned, words.next(), line)?.into(),
        Field::Complex => {
            let re = number("a real part", number::real, words.next(), line)?;
            Complex64::new(re, number("an imaginary part", number::real, words.next(), line)?)
        }
    };
    if let Some(more) = words.next() {
        return Err(("the end of the line".into(), format!("`{}` too many", shown(more))));
    }
    let [row, column] = place;
    if header.layout == Layout::Coordinate {
        if header.symmetry != Symmetry::General && column > row {
            let wanted = format!("the lower triangle of a {} matrix", header.symmetry.name());
            return Err((wanted, format!("row {}, column {} above the diagonal", row + 1, column + 1)));
        }
        if row == column {
            on_diagonal(header.symmetry, value)?;
        }
    }
    Ok(Entry { row, column, value: T::from_complex(value) })
}

fn on_diagonal(symmetry: Symmetry, value: Complex64) -> Result<(), Mismatch> {
    match symmetry {
        // Some writers list the zeros.
        Symmetry::SkewSymmetric if value != Complex64::default() => Err((
            "zeros, or entries below it alone".into(),
            "number on the diagonal of a skew-symmetric matrix that is not zero".into(),
        )),
        Symmetry::Hermitian if value.im != 0.0 => Err((
            "a real number".into(),
            format!("imaginary part {} on the diagonal of a hermitian matrix", number::shown(&value.im)),
        )),
        _ => Ok(()),
    }
}

fn index(name: &str, most: usize, word: Option<&[u8]>, line: &[u8]) -> Result<u32, Mismatch> {
    let wanted = || format!("a {name} from 1 to {most}");
    let Some(word) = word else {
        return Err((wanted(), format!("no {name} in `{}`", shown(line))));
    };
    match number::index(word) {
        Some(0) => Err((wanted(), format!("{name} 0, but indices begin at 1"))),
        Some(index) if index <= most as u64 => Ok((index - 1) as u32),
        Some(index) => Err((wanted(), format!("{name} {index} of {most}"))),
        None => Err((wanted(), format!("{name} `{}`", shown(word)))),
    }
}

fn number(
    wanted: &str,
    parse: fn(&[u8]) -> Option<f64>,
    word: Option<&[u8]>,
    line: &[u8],
) -> Result<f64, Mismatch> {
    let Some(word) = word else {
        return Err((wanted.into(), format!("`{}` ends too early", shown(line))));
    };
    match parse(word) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err((wanted.into(), format!("`{}` is not finite", shown(word)))),
        None => Err((wanted.into(), format!("`{}` is not a number of this kind", shown(word)))),
    }
}

/// Gives the numbers of an array their places, column after column.
fn place<T>(header: &Header, entries: &mut [Entry<T>]) {
    let below = match header.symmetry {
        Symmetry::General => None,
        Symmetry::Symmetric | Symmetry::Hermitian => Some(0),
        Symmetry::SkewSymmetric => Some(1),
    };
    let places = (0..header.columns).flat_map(|column| {
        let first = below.map_or(0, |below| column + below);
        (first..header.rows).map(move |row| (row, column))
    });
    for (entry, (row, column)) in entries.iter_mut().zip(places) {
        (entry.row, entry.column) = (row as u32, column as u32);
    }
}
