//! Numbers in a text.

/// Reads an index without sign; `None` if it is none or larger than any.
pub fn index(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 18 {
        return None;
    }
    word.iter()
        .try_fold(0_u64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))
}

/// Reads a real number, also as Fortran writes it.
///
/// An exponent of Fortran begins with `D`, or has three digits and no letter (`0.5-100`). The result
/// may be infinite or not a number.
pub fn real(word: &[u8]) -> Option<f64> {
    let parse = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<f64>().ok();
    parse(word).or_else(|| {
        if let Some(letter) = word.iter().position(|byte| matches!(byte, b'd' | b'D')) {
            let mut plain = word.to_vec();
            plain[letter] = b'e';
            return parse(&plain);
        }
        let (mantissa, exponent) = word.split_at_checked(word.len().checked_sub(4)?)?;
        let digits = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-"))?;
        let ends_well = mantissa.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
        let written_so = ends_well && digits.iter().all(u8::is_ascii_digit);
        written_so.then(|| parse(&[mantissa, b"e", exponent].concat()))?
    })
}

/// Writes a real number for a message: the shortest digits that give it back, `0.25` or `1e300`.
///
/// Zero has no sign.
pub fn shown(number: &f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if (1e-5..1e16).contains(&size) || !size.is_finite() => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// Writes a complex number for a message, as [`shown`] writes its parts: `2`, `-1e300+0.5i`.
pub fn complex_shown(real: f64, imaginary: f64) -> String {
    match imaginary {
        0.0 => shown(&real),
        _ if imaginary < 0.0 => format!("{}{}i", shown(&real), shown(&imaginary)),
        _ => format!("{}+{}i", shown(&real), shown(&imaginary)),
    }
}

/// Powers of ten that are exact in double precision.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Reads a number whose digits are exact in double precision, and returns it with its length.
///
/// One rounding, that of a product or a quotient of exact numbers, makes the nearest number. `None`
/// leaves a number to [`real`]. Source: W. D. Clinger, PLDI 1990.
pub fn short(text: &[u8]) -> Option<(f64, usize)> {
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let negative = byte(0) == b'-';
    let mut at = usize::from(negative || byte(0) == b'+');
    let (mut mantissa, mut digits, mut behind_point) = (0_u64, 0, 0);
    let mut point = None;
    loop {
        let digit = byte(at).wrapping_sub(b'0');
        if digit < 10 {
            mantissa = 10 * mantissa + u64::from(digit);
            digits += 1;
            // Leading zeros count, which costs speed alone.
            if digits > 18 {
                return None;
            }
        } else if byte(at) == b'.' && point.is_none() {
            point = Some(at);
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 || mantissa > 1 << 53 {
        return None;
    }
    if let Some(point) = point {
        behind_point = (at - point - 1) as i32;
    }
    let mut exponent = 0;
    if matches!(byte(at), b'e' | b'E' | b'd' | b'D') {
        let below = byte(at + 1) == b'-';
        at += 1 + usize::from(below || byte(at + 1) == b'+');
        let first = at;
        while byte(at).is_ascii_digit() && at - first < 4 {
            exponent = 10 * exponent + i32::from(byte(at) - b'0');
            at += 1;
        }
        if at == first {
            return None;
        }
        exponent = if below { -exponent } else { exponent };
    }
    if !matches!(byte(at), b' ' | b'\t' | b'\r' | b'\n') {
        return None;
    }
    let tens = exponent - behind_point;
    let power = *TENS.get(tens.unsigned_abs() as usize)?;
    let size = if tens < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some((if negative { -size } else { size }, at))
}

/// Reads an integer of 64 bits, with or without a sign.
pub fn integer(word: &[u8]) -> Option<f64> {
    let value = std::str::from_utf8(word).ok()?.parse::<i128>().ok()?;
    (value >= i64::MIN.into() && value <= u64::MAX.into()).then_some(value as f64)
}

/// Reads an integer of 64 bits that is not negative.
pub fn unsigned(word: &[u8]) -> Option<f64> {
    integer(word).filter(|value| *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_those_of_the_long_way() {
        let mut texts: Vec<String> = [
            "0",
            "-0",
            "-0.0",
            "1",
            "+1",
            "7.",
            ".5",
            "-.5e1",
            "1e22",
            "1e-22",
            "9007199254740992",
            "1.5D+01",
            "0.1",
            "123456.789e-3",
            "0.000000000000001",
            "4.35",
            "8.5e-22",
        ]
        .map(String::from)
        .into();
        // A sequence without pattern.
        let mut x = 1_u64;
        for _ in 0..3000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (digits, exponent) = (x >> (12 + x % 50), (x >> 40) as i64 % 25);
            texts.push(format!("{}.{digits}e{exponent}", x >> 60));
            texts.push(format!("-{digits}E-{}", exponent.abs()));
        }
        let mut read = 0;
        for text in &texts {
            let line = format!("{text} 1\n");
            if let Some((value, length)) = short(line.as_bytes()) {
                let wanted = real(text.as_bytes()).unwrap();
                assert_eq!((value.to_bits(), length), (wanted.to_bits(), text.len()), "{text}");
                read += 1;
            }
        }
        assert!(read > 1000, "{read}");
        for text in
            ["", "-", ".", "e5", "1e", "1e+", "1,5", "1.2.3", "nan", "1x", "1e23", "12345678901234567890"]
        {
            assert_eq!(short(format!("{text}\n").as_bytes()), None, "{text}");
        }
        assert_eq!(short(b"1"), None, "a number without an end may go on");
    }

    #[test]
    fn numbers_in_messages_are_short() {
        for (number, text) in [
            (-0.0, "0"),
            (2.0, "2"),
            (-0.25, "-0.25"),
            (1e300, "1e300"),
            (-1.5e-300, "-1.5e-300"),
            (1e15, "1000000000000000"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(shown(&number), text);
        }
        for (real, imaginary, text) in
            [(2.0, 0.0, "2"), (-1e300, 0.5, "-1e300+0.5i"), (0.0, -1e-300, "0-1e-300i"), (1.0, -0.0, "1")]
        {
            assert_eq!(complex_shown(real, imaginary), text);
        }
    }

    #[test]
    fn exponents_of_fortran_count() {
        for (text, value) in [("1.5D+01", 15.0), ("-2.5d-1", -0.25), ("+.5e1", 5.0), ("7.", 7.0)] {
            assert_eq!(real(text.as_bytes()), Some(value), "{text}");
        }
        for (text, value) in [("0.5-100", 0.5e-100), ("-.25+101", -0.25e101), ("1.-100", 1e-100)] {
            assert_eq!(real(text.as_bytes()), Some(value), "{text}");
        }
        for text in
            ["", "1.5DD2", "one", "0x1", "1,5", "d", "1.5D", "0.5-10", "e-100", ".-100", "1e5-100", "nan-100"]
        {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
        assert_eq!((integer(b"-7"), integer(b"1.0")), (Some(-7.0), None));
        assert_eq!(integer(b"18446744073709551615"), Some(u64::MAX as f64));
        assert_eq!((integer(b"18446744073709551616"), integer(b"-9223372036854775809")), (None, None));
        assert_eq!([&b"7"[..], b"-0", b"-7", b"1.5"].map(unsigned), [Some(7.0), Some(0.0), None, None]);
        assert_eq!((index(b"12"), index(b"-1"), index(b"+1"), index(b"")), (Some(12), None, None, None));
    }
}
