//! The caches of this machine's processor, read from the operating system.
//!
//! Some drivers name only the second level.

use std::fs;

/// Returns the largest cache of the first processor, in bytes.
///
/// The result is 0 if the system does not tell, for example outside Linux.
pub(super) fn largest() -> u64 {
    let Ok(caches) = fs::read_dir("/sys/devices/system/cpu/cpu0/cache") else { return 0 };
    let sizes = caches.flatten().filter_map(|cache| fs::read_to_string(cache.path().join("size")).ok());
    sizes.filter_map(|size| bytes(&size)).max().unwrap_or(0)
}

/// Reads a size that the system writes as `32768K`, or in larger units.
fn bytes(size: &str) -> Option<u64> {
    let size = size.trim();
    let (number, shift) = match size.char_indices().last()? {
        (end, 'K') => (&size[..end], 10),
        (end, 'M') => (&size[..end], 20),
        (end, 'G') => (&size[..end], 30),
        _ => (size, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("32768K\n"), Some(32 << 20));
        assert_eq!(bytes("260M"), Some(260 << 20));
        assert_eq!(bytes("1G"), Some(1 << 30));
        assert_eq!(bytes("512"), Some(512));
        for unreadable in ["", "K", "12Q", "-1K"] {
            assert_eq!(bytes(unreadable), None, "{unreadable}");
        }
    }
}
