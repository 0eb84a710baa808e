//! A walk over bytes of a file: little-endian numbers, none beyond the end.

/// Most bytes of a text.
pub(super) const LONGEST_TEXT: u64 = 1 << 20;

/// Returns a text up to its first zero.
pub(super) fn until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The bytes that are left of a structure.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

/// The structure ends before the number that is asked for.
#[derive(Debug)]
pub(super) struct Short;

impl From<Short> for String {
    fn from(_: Short) -> Self {
        "it ends too early".to_owned()
    }
}

impl<'a> Bytes<'a> {
    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Short> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes a number of `count` bytes, at most eight.
    pub(super) fn number(&mut self, count: usize) -> Result<u64, Short> {
        Ok(self.take(count)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Short> {
        Ok(self.number(2)? as u16)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Short> {
        Ok(self.number(4)? as u32)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Short> {
        self.number(8)
    }

    /// Takes text up to a zero, and the zero.
    pub(super) fn text(&mut self) -> Result<String, Short> {
        let length = self.0.iter().position(|&byte| byte == 0).ok_or(Short)?;
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(text)
    }
}
