//! The origin of a result: the program, the machine, the configuration.

use super::arguments::path_text;
use super::fingerprint::blake3_of_links;
use lattice_cl::compute::Team;
use lattice_cl::gauge::plaquette;
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::tuning::date;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The run that made a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Provenance {
    version: &'static str,
    /// The commit that the program was built from, `null` if unknown.
    commit: Option<&'static str>,
    /// The arguments of the program.
    command: Vec<String>,
    /// The start in UTC, for example 2026-11-21T09:30:05Z.
    started: String,
    /// The name of the machine, `null` if unknown.
    host: Option<String>,
    /// The devices of the run, empty for the host.
    devices: Vec<Driver>,
}

/// A device and its driver.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Driver {
    name: String,
    platform: String,
    driver: String,
}

impl Provenance {
    /// Describes this process, which computes on `team`.
    pub fn new(team: &Team, started: SystemTime) -> Self {
        let driver = |device: &lattice_cl::compute::Device| Driver {
            name: device.info().name.clone(),
            platform: device.info().platform.clone(),
            driver: device.info().driver_version.clone(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("LATTICE_CL_COMMIT"),
            command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            started: moment(started),
            host: host_name(),
            devices: team.devices().iter().map(driver).collect(),
        }
    }
}

impl Provenance {
    /// Returns program, version and moment in a few words.
    pub fn words(&self) -> String {
        let commit = self.commit.map_or_else(String::new, |commit| format!(" ({commit})"));
        format!("cr-solve {}{commit}, {}", self.version, self.started)
    }
}

/// Returns a moment in UTC, to the second.
fn moment(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    format!("{}T{:02}:{:02}:{:02}Z", date::date(day), second / 3600, second / 60 % 60, second % 60)
}

fn host_name() -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named =
        kernel.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The facts that tell a gauge configuration from all others.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Configuration {
    #[schemars(with = "String")]
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    /// The average of ⅓ Re tr P.
    plaquette: f64,
    /// The BLAKE3 sum of the links in memory.
    ///
    /// The links are in the order of ILDG and in the precision of the file.
    blake3: String,
}

impl Configuration {
    /// Sums up the links. Processes that have parts of the links all call this.
    pub fn new(file: &Path, configuration: &GaugeConfiguration) -> Self {
        let plaquette = plaquette(configuration).average;
        Self { file: file.to_owned(), plaquette, blake3: blake3_of_links(configuration) }
    }

    /// Returns a fingerprint for people: plaquette and the beginning of the sum.
    pub fn fingerprint(&self) -> String {
        format!("plaquette {:.12}, BLAKE3 {}", self.plaquette, &self.blake3[..16])
    }
}

/// Adds numbers to a sum, in the form that they have in memory.
pub fn add(sum: &mut blake3::Hasher, numbers: &impl bytemuck::NoUninit) {
    sum.update(bytemuck::bytes_of(numbers));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (1_793_853_005, "2026-11-05T04:30:05Z"),
        ] {
            assert_eq!(moment(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
