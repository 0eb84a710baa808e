//! The dictionary of Python in an array's header.

use crate::text::shortened;

/// Most dimensions of an array, as in NumPy.
const MOST_DIMENSIONS: usize = 64;

/// Most characters of a word that a message shows.
const SHOWN: usize = 40;

/// The values of a header.
pub(super) struct Dictionary {
    /// The type of the elements; the whole list for structures.
    pub descr: String,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
}

/// Parses a header.
///
/// Keys come in any order, strings with one kind of quotes or the other. Python 2 puts `L` behind
/// long integers and `u` before strings.
pub(super) fn parse(text: &str) -> Result<Dictionary, String> {
    let (mut descr, mut fortran_order, mut shape, mut unknown) = (None, None, None, None);
    let mut rest = text.trim().strip_prefix('{').ok_or("it is no dictionary")?.trim_start();
    while !rest.starts_with('}') {
        let (key, after) = string(rest).ok_or("it does not end with }")?;
        let after = after.trim_start().strip_prefix(':').ok_or("it does not end with }")?.trim_start();
        let is_twice = match key {
            "descr" => {
                let (value, after) = string(after).or_else(|| list(after)).ok_or("it has no descr")?;
                rest = after;
                descr.replace(value).is_some()
            }
            "fortran_order" => {
                let value = ["True", "False"].into_iter().find_map(|word| {
                    let after = after.strip_prefix(word)?;
                    Some((word == "True", after))
                });
                let (value, after) = value.ok_or("it has no fortran_order")?;
                rest = after;
                fortran_order.replace(value).is_some()
            }
            "shape" => {
                let (value, after) = extents(after).ok_or("it has no shape of numbers")?;
                rest = after;
                shape.replace(value).is_some()
            }
            other => {
                unknown.get_or_insert(other);
                rest = &after[after.find([',', '}']).unwrap_or(after.len())..];
                false
            }
        };
        if is_twice {
            return Err(format!("it has {key} twice"));
        }
        rest = rest.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if rest.starts_with('}') => rest,
            None => return Err("it does not end with }".to_owned()),
        };
    }
    let behind = rest[1..].trim();
    let descr = descr.ok_or("it has no descr")?.to_owned();
    let fortran_order = fortran_order.ok_or("it has no fortran_order")?;
    let shape = shape.ok_or("it has no shape of numbers")?;
    match unknown {
        Some(key) => Err(format!("its key `{}` is unknown", shortened(key, SHOWN))),
        None if !behind.is_empty() => Err(format!("`{}` stands behind its end", shortened(behind, SHOWN))),
        None => Ok(Dictionary { descr, fortran_order, shape }),
    }
}

/// Splits a string off the beginning of a text.
fn string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix(['u', 'b']).unwrap_or(text);
    let mark = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    text[1..].split_once(mark)
}

/// Splits the list of a structure's fields off the beginning of a text.
fn list(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| text.split_at(at + 1));
        }
    }
    None
}

/// Splits extents in brackets off the beginning of a text.
fn extents(text: &str) -> Option<(Vec<usize>, &str)> {
    let (inside, after) = text.strip_prefix('(')?.split_once(')')?;
    let inside = inside.trim();
    if inside.is_empty() {
        return Some((Vec::new(), after));
    }
    let words = inside.strip_suffix(',').unwrap_or(inside).split(',').map(str::trim);
    let extent = |word: &str| {
        let digits = word.strip_suffix(['L', 'l']).unwrap_or(word);
        // A number of Python has no plus sign here.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let shape: Vec<usize> = words.take(MOST_DIMENSIONS + 1).map(extent).collect::<Option<_>>()?;
    (shape.len() <= MOST_DIMENSIONS).then_some((shape, after))
}
