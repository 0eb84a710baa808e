//! What memory the machine has left, as far as the system tells.

use std::path::Path;

/// Bytes that this process may still allocate without others having to leave the memory; `None` where the system does not tell.
///
/// On Linux it is `MemAvailable` of `/proc/meminfo`, or what is left of the memory of the process's control group (cgroup v2) if that
/// is less.
pub fn available_memory() -> Option<u64> {
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text));
    [of_machine, of_group(Path::new("/sys/fs/cgroup"))].into_iter().flatten().min()
}

fn of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// `None` where there is no limit.
fn of_group(folder: &Path) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let cached = std::fs::read_to_string(folder.join("memory.stat")).ok().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse::<u64>().ok()
    });
    // Files that are cached make room.
    let used = number("memory.current")?.saturating_sub(cached.unwrap_or(0));
    Some(number("memory.max")?.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_machine_and_group_counts() {
        let text = "MemTotal:       32768 kB\nMemFree:  10 kB\nMemAvailable:   20000 kB\n";
        assert_eq!(of_meminfo(text), Some(20000 * 1024));
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
