//! Numbers in a text.

/// Reads an index without sign; `None` if it is none or larger than any.
pub(super) fn index(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 18 {
        return None;
    }
    word.iter()
        .try_fold(0_u64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))
}

/// Reads a real number, also with the exponent `D` of Fortran.
///
/// The result may be infinite or not a number.
pub(super) fn real(word: &[u8]) -> Option<f64> {
    let parse = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<f64>().ok();
    parse(word).or_else(|| {
        let place = word.iter().position(|byte| matches!(byte, b'd' | b'D'))?;
        let mut plain = word.to_vec();
        plain[place] = b'e';
        parse(&plain)
    })
}

/// Reads an integer.
pub(super) fn integer(word: &[u8]) -> Option<f64> {
    Some(std::str::from_utf8(word).ok()?.parse::<i64>().ok()? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_fortran_count() {
        for (text, value) in [("1.5D+01", 15.0), ("-2.5d-1", -0.25), ("+.5e1", 5.0), ("7.", 7.0)] {
            assert_eq!(real(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", "1.5DD2", "one", "0x1", "1,5", "d", "1.5D"] {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
        assert_eq!((integer(b"-7"), integer(b"1.0")), (Some(-7.0), None));
        assert_eq!((index(b"12"), index(b"-1"), index(b"+1"), index(b"")), (Some(12), None, None, None));
    }
}
