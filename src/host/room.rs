//! Memory that is about to be taken, compared with what this process may have.
//!
//! An allocation that fails ends a Rust program, and PoCL by an assertion. So large ones are asked for before. The limit is the
//! one that a shell or a batch system sets on the addresses of a process (`ulimit -v`).

/// What is left alone for stacks of threads, compilers and everything that is small.
const RESERVE: u64 = 1 << 26;

/// Smaller pieces are not worth the question.
const WORTH_ASKING: u64 = 1 << 22;

/// There is less memory than is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} bytes of memory are needed, which this process may not have")]
pub struct NoRoom {
    /// Bytes wanted.
    pub wanted: u64,
}

/// Makes sure that `wanted` bytes can be had, and some more for what is small.
///
/// # Errors
/// [`NoRoom`].
pub fn expect_room(wanted: u64) -> Result<(), NoRoom> {
    if wanted < WORTH_ASKING { Ok(()) } else { within(wanted, address_space_left()) }
}

/// Reserves memory for `count` elements in an empty vector.
///
/// # Errors
/// [`NoRoom`].
pub fn reserve<T>(values: &mut Vec<T>, count: usize) -> Result<(), NoRoom> {
    let wanted = count.checked_mul(size_of::<T>()).map_or(u64::MAX, |bytes| bytes as u64);
    expect_room(wanted)?;
    values.try_reserve_exact(count).map_err(|_| NoRoom { wanted })
}

fn within(wanted: u64, left: Option<u64>) -> Result<(), NoRoom> {
    match left {
        Some(left) if wanted.saturating_add(RESERVE) > left => Err(NoRoom { wanted }),
        _ => Ok(()),
    }
}

/// Bytes of addresses that this process may still take; `None` where there is no limit, or the system does not tell.
#[cfg(target_os = "linux")]
fn address_space_left() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    // In pages: the whole size comes first.
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
}

#[cfg(not(target_os = "linux"))]
fn address_space_left() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(within(1 << 30, None), Ok(()));
        assert_eq!(within(1 << 30, Some(1 << 31)), Ok(()));
        assert_eq!(within(1 << 30, Some((1 << 30) + RESERVE - 1)), Err(NoRoom { wanted: 1 << 30 }));
        assert_eq!(reserve::<u64>(&mut Vec::new(), usize::MAX), Err(NoRoom { wanted: u64::MAX }));
        let mut values = Vec::<u64>::new();
        assert_eq!(reserve(&mut values, 1000), Ok(()));
        assert!(values.capacity() >= 1000);
    }
}
