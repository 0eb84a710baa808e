//! The machine that ran the measurements, as its system names it.

use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// A machine, described for later readers of its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name in the network; empty if the system does not tell, like the other texts.
    pub name: String,
    pub processor: String,
    /// Hardware threads that this process may use.
    pub threads: usize,
    /// The operating system with its version.
    pub system: String,
}

impl Machine {
    /// Describes the machine that runs this program.
    pub fn here() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let name = match read("/proc/sys/kernel/hostname").trim() {
            "" => std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).unwrap_or_default(),
            name => name.to_owned(),
        };
        let distribution = os_release_name(&read("/etc/os-release"));
        let kernel = read("/proc/sys/kernel/osrelease");
        let system = match (distribution, kernel.trim()) {
            (None, "") => format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            (None, kernel) => format!("{} {kernel} {}", std::env::consts::OS, std::env::consts::ARCH),
            (Some(name), kernel) => format!("{name}, {} {kernel}", std::env::consts::OS),
        };
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        Self { name, processor: processor_name(&read("/proc/cpuinfo")), threads, system }
    }
}

/// Returns `PRETTY_NAME` of os-release(5).
fn os_release_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|name| !name.is_empty())
}

/// Returns the first processor of Linux's `/proc/cpuinfo`.
fn processor_name(text: &str) -> String {
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map(|(_, name)| name.trim().to_owned()).unwrap_or_default()
}

/// Returns the time of day in Greenwich, `14:03:22`.
pub fn time_of_day() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_from_what_linux_tells() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t: a b\nprocessor\t: 1\nmodel name\t: other\n";
        assert_eq!(processor_name(cpuinfo), "AMD EPYC 9R14");
        assert_eq!(processor_name(""), "");
        let release = "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(os_release_name(release).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(os_release_name("NAME=Debian\n"), None);
        let time = time_of_day();
        assert!(time.len() == 8 && time.split(':').all(|part| part.parse::<u32>().unwrap() < 60), "{time}");
    }
}
