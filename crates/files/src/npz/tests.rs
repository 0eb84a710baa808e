//! Archives as NumPy writes them, and every damage to one bit of them.

use super::*;
use std::io::{Cursor, Write};

/// How a member is written.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Stored,
    Deflated,
    /// With sizes of 64 bits, as NumPy writes to a file.
    Wide,
    /// With sizes behind the data, as NumPy writes to a pipe.
    Behind,
    /// The same, with sizes of 32 bits.
    ShortBehind,
}

fn le(value: usize, bytes: usize) -> Vec<u8> {
    value.to_le_bytes()[..bytes].to_vec()
}

/// An archive of these files.
fn archive(files: &[(&str, Vec<u8>, Manner)], is_wide: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content, manner) in files {
        let is_stored = *manner == Manner::Stored;
        let mut packed = content.clone();
        if !is_stored {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(content).unwrap();
            packed = encoder.finish().unwrap();
        }
        let crc = le(crc32fast::hash(content) as usize, 4);
        let [size, compressed] = [content.len(), packed.len()];
        let has_behind = matches!(manner, Manner::Behind | Manner::ShortBehind);
        let kind =
            [le(if has_behind { 8 } else { 0 }, 2), le(if is_stored { 0 } else { 8 }, 2), le(0, 4)].concat();
        let offset = bytes.len();
        let (local, extra) = match manner {
            Manner::Wide => {
                let extra = [le(1, 2), le(16, 2), le(size, 8), le(compressed, 8)].concat();
                ([crc.clone(), vec![0xff; 8]].concat(), extra)
            }
            Manner::Behind => {
                ([le(0, 4), vec![0xff; 8]].concat(), [le(1, 2), le(16, 2), vec![0; 16]].concat())
            }
            Manner::ShortBehind => (vec![0; 12], vec![]),
            _ => ([crc.clone(), le(compressed, 4), le(size, 4)].concat(), vec![]),
        };
        let lengths = [le(name.len(), 2), le(extra.len(), 2)].concat();
        bytes.extend([MAGIC, &[45, 0], &kind, &local, &lengths, name.as_bytes(), &extra, &packed].concat());
        match manner {
            Manner::Behind => {
                bytes.extend([b"PK\x07\x08", &crc[..], &le(compressed, 8), &le(size, 8)].concat());
            }
            Manner::ShortBehind => bytes.extend([crc.clone(), le(compressed, 4), le(size, 4)].concat()),
            _ => {}
        }
        directory.extend([b"PK\x01\x02", &[45, 3, 45, 0][..], &kind, &crc].concat());
        directory
            .extend([le(compressed, 4), le(size, 4), le(name.len(), 2), vec![0; 12], le(offset, 4)].concat());
        directory.extend(name.as_bytes());
    }
    let (offset, size, count) = (bytes.len(), directory.len(), files.len());
    bytes.extend(directory);
    if is_wide {
        let wide = bytes.len();
        bytes.extend([b"PK\x06\x06", &le(44, 8)[..], &[45, 0, 45, 0], &[0; 8]].concat());
        bytes.extend([le(count, 8), le(count, 8), le(size, 8), le(offset, 8)].concat());
        bytes.extend([b"PK\x06\x07", &[0; 4][..], &le(wide, 8), &le(1, 4)].concat());
    }
    bytes.extend([b"PK\x05\x06", &[0; 4][..], &le(count, 2), &le(count, 2), &le(size, 4)].concat());
    bytes.extend([le(offset, 4), vec![0; 2]].concat());
    bytes
}

fn array(values: &[f64]) -> Vec<u8> {
    let numbers: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [npy::header("<f8", &[values.len()]), numbers].concat()
}

fn opened(bytes: &[u8]) -> Result<Archive<Cursor<&[u8]>>, ArchiveError> {
    Archive::open(Cursor::new(bytes), bytes.len() as u64)
}

/// Three arrays, each written in another manner.
fn sample(manners: [Manner; 3], is_wide: bool) -> Vec<u8> {
    let arrays = [array(&[1.0, 2.0, 3.0]), array(&[4.0, 5.0]), array(&[6.0; 9])];
    let [a, b, c] = arrays;
    let files = [("a.npy", a, manners[0]), ("b.npy", b, manners[1]), ("c.npy", c, manners[2])];
    archive(&files, is_wide)
}

/// The samples, which have every manner of writing between them.
fn samples() -> [Vec<u8>; 3] {
    [
        sample([Manner::Deflated, Manner::Stored, Manner::Wide], false),
        sample([Manner::Behind, Manner::Wide, Manner::ShortBehind], false),
        sample([Manner::Stored, Manner::Behind, Manner::Deflated], true),
    ]
}

#[test]
fn arrays_are_found_by_their_names() {
    for bytes in samples() {
        let mut archive = opened(&bytes).unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(archive.array("a").unwrap().values, [1.0, 2.0, 3.0]);
        assert_eq!(archive.real("b").unwrap().values, [4.0, 5.0]);
        assert_eq!(archive.array("c").unwrap().values, [6.0; 9]);
        assert!(archive.has("b") && !archive.has("b.npy"));
        assert_eq!(archive.others(&["a", "x"]), ["b", "c"]);
        let error = archive.array("d").unwrap_err().to_string();
        assert_eq!(error, "has no array `d`; its arrays are: a, b, c");
        assert!(archive.text("a").unwrap_err().to_string().starts_with("the array `a`: "));
    }
    let empty = archive(&[], false);
    assert_eq!(opened(&empty).unwrap().names().count(), 0);
}

#[test]
fn no_damage_to_a_bit_changes_a_result_in_silence() {
    for whole in samples() {
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(mut archive) = opened(&bytes) else { continue };
            // Optional arrays are looked for by `has`: none of them may be gone.
            for (name, wanted) in [("a", &[1.0, 2.0, 3.0][..]), ("b", &[4.0, 5.0]), ("c", &[6.0; 9])] {
                assert!(archive.has(name), "bit {bit} hides {name}");
                if let Ok(array) = archive.array(name) {
                    assert_eq!(array.values, wanted, "bit {bit}");
                }
            }
            assert_eq!(archive.names().count(), 3, "bit {bit}");
        }
    }
}

#[test]
fn archives_that_are_cut_or_put_together_are_refused() {
    for whole in samples() {
        for length in 0..whole.len() {
            assert!(opened(&whole[..length]).is_err(), "{length}");
        }
        for more in [[b"x", &whole[..]].concat(), [&whole[..], b"x"].concat(), whole.repeat(2)] {
            assert!(opened(&more).is_err());
        }
    }
    let twice =
        archive(&[("a.npy", array(&[1.0]), Manner::Stored), ("a.npy", array(&[2.0]), Manner::Stored)], false);
    assert!(opened(&twice).unwrap_err().to_string().contains("two members of the name `a.npy`"));
}

#[test]
fn sizes_that_data_cannot_have_are_refused_before_memory_is_taken() {
    let content = vec![0_u8; 5000];
    let whole = archive(&[("a.npy", content.clone(), Manner::Deflated)], false);
    let claimed = |size: usize| {
        let mut bytes = whole.clone();
        for at in 0..bytes.len() - 4 {
            if bytes[at..at + 4] == le(content.len(), 4) {
                bytes[at..at + 4].copy_from_slice(&le(size, 4));
            }
        }
        bytes
    };
    let error = opened(&claimed(0xFFFF_FFF0)).unwrap_err().to_string();
    assert!(error.contains("cannot have 4294967280 bytes"), "{error}");
    assert!(opened(&claimed(5000)).is_ok());
    // A size that might be, but is not: the content goes on, or ends before.
    let header = npy::header("|u1", &[2000]);
    let array = [header, vec![7; 2000]].concat();
    let longer = archive(&[("a.npy", [array.clone(), vec![7; 64]].concat(), Manner::Deflated)], false);
    assert!(opened(&longer).unwrap().array("a").is_err());
    let mut exact =
        opened(&archive(&[("a.npy", array, Manner::Deflated)], false)).unwrap().array("a").unwrap();
    exact.values.dedup();
    assert_eq!(exact.values, [7.0]);
}

#[test]
fn no_control_character_of_a_name_reaches_a_message() {
    let name = "\u{1b}]0;owned\u{7}\n.npy";
    let bytes = archive(&[(name, array(&[1.0]), Manner::Stored)], false);
    let mut archive = opened(&bytes).unwrap();
    let own = name.strip_suffix(".npy").unwrap();
    let errors = [archive.array("a").unwrap_err(), archive.text(own).unwrap_err()];
    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.extend(archive.others(&[]));
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        texts.extend(opened(&damaged).err().map(|error| error.to_string()));
    }
    assert!(texts.len() > 100);
    assert!(texts.iter().all(|text| !text.chars().any(char::is_control)), "{texts:?}");
}
