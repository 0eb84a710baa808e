//! The check that this process may still have the memory that it wants.
//!
//! An allocation that fails ends a Rust program, and it ends PoCL by an assertion. Memory that the
//! system only promised ends the program later. So large allocations are checked first.

use std::path::Path;

/// Bytes left alone for stacks of threads, compilers and everything small.
const RESERVE: u64 = 1 << 26;

/// Bytes of the smallest allocation that is checked.
const WORTH_ASKING: u64 = 1 << 22;

/// The process may not have the memory that it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{wanted} bytes of memory are needed, more than this process may have; take fewer columns, a smaller problem or more processes, or raise its limit (ulimit -v, cgroup)"
)]
pub struct NoRoom {
    /// The wanted bytes.
    pub wanted: u64,
}

/// Returns the bytes that this process may still allocate.
///
/// The result is `None` if the system does not tell. On Linux it is the least of three amounts:
///
/// * memory and swap that others leave (`/proc/meminfo`);
/// * the rest for the process's control group (cgroup v2);
/// * the rest of the addresses that a shell or a batch system allows (`ulimit -v`).
pub fn available_memory() -> Option<u64> {
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text));
    [of_machine, of_group(Path::new("/sys/fs/cgroup")), of_addresses()].into_iter().flatten().min()
}

/// Checks that `wanted` bytes can be had, and some more for small needs.
///
/// # Errors
/// [`NoRoom`].
pub fn expect_room(wanted: u64) -> Result<(), NoRoom> {
    if wanted < WORTH_ASKING { Ok(()) } else { within(wanted, available_memory()) }
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

fn of_meminfo(text: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some((kib("MemAvailable:")? + kib("SwapFree:").unwrap_or(0)) * 1024)
}

/// Returns the rest for the control group; `None` if there is no limit.
fn of_group(folder: &Path) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let cached = std::fs::read_to_string(folder.join("memory.stat")).ok().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse::<u64>().ok()
    });
    // Cached files make room.
    let used = number("memory.current")?.saturating_sub(cached.unwrap_or(0));
    Some(number("memory.max")?.saturating_sub(used))
}

/// Returns the rest of the allowed addresses; `None` if there is no limit.
#[cfg(target_os = "linux")]
fn of_addresses() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    // The sizes are in pages, and the whole size comes first.
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
}

#[cfg(not(target_os = "linux"))]
fn of_addresses() -> Option<u64> {
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

    #[test]
    fn swap_counts_and_a_group_has_its_own_limit() {
        let text = "MemTotal:       32768 kB\nMemFree:  10 kB\nMemAvailable:   20000 kB\n";
        assert_eq!(of_meminfo(text), Some(20000 * 1024));
        assert_eq!(of_meminfo(&format!("{text}SwapFree:  5 kB\n")), Some(20005 * 1024));
        assert_eq!(of_meminfo("MemTotal: 5 kB\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(of_group(folder.path()), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 600\ninactive_file 100\n");
        assert_eq!(of_group(folder.path()), Some(400));
        write("memory.max", "max\n");
        assert_eq!(of_group(folder.path()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        assert!(available_memory().is_some_and(|bytes| bytes > 0));
    }
}
