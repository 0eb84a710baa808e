//! A user's choice of devices.

use super::discovery::{DeviceIndex, DiscoveredDevice, Discovery};
use crate::error::{DeviceError, Result};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A choice of devices, in words, by numbers or by name.
///
/// The text of a choice is `auto`, `all`, `host`, `PLATFORM.DEVICE`, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Selector {
    /// The best OpenCL device with double precision, else the host.
    #[default]
    Auto,
    /// Every OpenCL device with double precision, else the host.
    All,
    /// No OpenCL: the processor, through the host twins.
    Host,
    /// The device with these two numbers.
    Index(DeviceIndex),
    /// The device whose name or platform contains this text, in any case of letters.
    ///
    /// A text may fit several devices. If all of them have the same name and platform, the first is
    /// taken, with a remark: cards of one kind are interchangeable. Otherwise the text is an error
    /// that lists the devices.
    Name(String),
}

impl FromStr for Selector {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Selector::Auto);
        }
        if text.eq_ignore_ascii_case("all") {
            return Ok(Selector::All);
        }
        if text.eq_ignore_ascii_case("host") {
            return Ok(Selector::Host);
        }
        if let Some((platform, device)) = text.split_once('.')
            && let (Ok(platform), Ok(device)) = (platform.parse(), device.parse())
        {
            return Ok(Selector::Index(DeviceIndex { platform, device }));
        }
        Ok(Selector::Name(text.to_owned()))
    }
}

impl Selector {
    /// Reads several selectors with commas between them, such as `0.0,0.1`.
    ///
    /// An empty text is one empty name, which fits no device.
    pub fn list(text: &str) -> Vec<Self> {
        text.split(',')
            .map(|one| match one.parse() {
                Ok(selector) => selector,
                Err(impossible) => match impossible {},
            })
            .collect()
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Auto => f.write_str("auto"),
            Selector::All => f.write_str("all"),
            Selector::Host => f.write_str("host"),
            Selector::Index(index) => index.fmt(f),
            Selector::Name(name) => f.write_str(name),
        }
    }
}

impl Discovery {
    /// Finds the devices that an index or a name fits, the one to take first.
    ///
    /// The other devices are of the first one's kind.
    pub(crate) fn find(&self, selector: &Selector) -> Result<Vec<&DiscoveredDevice>> {
        let matches: Vec<&DiscoveredDevice> = match selector {
            Selector::Index(index) => self.devices.iter().filter(|d| d.index == *index).collect(),
            Selector::Name(name) if !name.is_empty() => {
                let name = name.to_lowercase();
                let fits = |text: &str| text.to_lowercase().contains(&name);
                self.devices.iter().filter(|d| fits(&d.info.name) || fits(&d.info.platform)).collect()
            }
            _ => Vec::new(),
        };
        let labels = |devices: &mut dyn Iterator<Item = &DiscoveredDevice>| {
            devices.map(DiscoveredDevice::label).collect()
        };
        let Some(first) = matches.first() else {
            return match &self.absence {
                Some(absence) => Err(absence.clone().into()),
                None => Err(DeviceError::UnknownDevice {
                    wanted: selector.to_string(),
                    available: labels(&mut self.devices.iter()),
                }),
            };
        };
        let alike =
            |d: &&DiscoveredDevice| d.info.name == first.info.name && d.info.platform == first.info.platform;
        if matches.iter().all(alike) {
            Ok(matches)
        } else {
            let matches = labels(&mut matches.iter().copied());
            Err(DeviceError::AmbiguousDevice { wanted: selector.to_string(), matches })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{DeviceInfo, DeviceKind};
    use opencl3::device::Device as RawDevice;

    fn found(platform: usize, device: usize, platform_name: &str, name: &str) -> DiscoveredDevice {
        DiscoveredDevice {
            index: DeviceIndex { platform, device },
            info: DeviceInfo {
                platform: platform_name.to_owned(),
                name: name.to_owned(),
                vendor: String::new(),
                driver_version: String::new(),
                opencl_version: String::new(),
                kind: DeviceKind::Gpu,
                fp64: true,
                memory_bytes: 1,
                max_allocation_bytes: 1,
                cache_bytes: 1,
                local_memory_bytes: 1,
                compute_units: 1,
                clock_mhz: 1,
                native_vector_width_float: 1,
                native_vector_width_double: 1,
                max_work_group_size: 1,
                mem_base_addr_align_bits: 8,
                compute_capability: None,
                extensions: Vec::new(),
            },
            raw: RawDevice::new(std::ptr::null_mut()),
        }
    }

    fn machine() -> Discovery {
        let devices = vec![
            found(0, 0, "NVIDIA CUDA", "NVIDIA H200"),
            found(0, 1, "NVIDIA CUDA", "NVIDIA H200"),
            found(1, 0, "Portable Computing Language", "pthread-Xeon"),
        ];
        Discovery { devices, absence: None }
    }

    fn index_of(text: &str) -> Result<String> {
        let Ok(selector) = text.parse::<Selector>();
        machine().find(&selector).map(|found| found[0].index.to_string())
    }

    #[test]
    fn selectors_parse_and_print() {
        for (text, selector) in [
            ("auto", Selector::Auto),
            ("HOST", Selector::Host),
            ("All", Selector::All),
            ("1.0", Selector::Index(DeviceIndex { platform: 1, device: 0 })),
            ("Xeon 2.4GHz", Selector::Name("Xeon 2.4GHz".into())),
        ] {
            assert_eq!(text.parse(), Ok(selector.clone()));
            assert_eq!(selector.to_string().parse(), Ok(selector));
        }
    }

    #[test]
    fn commas_separate_selectors() {
        let index = |platform, device| Selector::Index(DeviceIndex { platform, device });
        assert_eq!(Selector::list("0.0, 1.0"), [index(0, 0), index(1, 0)]);
        assert_eq!(Selector::list("host,Xeon"), [Selector::Host, Selector::Name("Xeon".into())]);
        assert_eq!(Selector::list(""), [Selector::Name(String::new())]);
    }

    #[test]
    fn names_match_device_or_platform_in_any_case() {
        assert_eq!(index_of("xeon").unwrap(), "1.0");
        assert_eq!(index_of("PORTABLE").unwrap(), "1.0");
        assert_eq!(index_of("0.1").unwrap(), "0.1");
        assert_eq!(index_of("h200").unwrap(), "0.0", "devices of one kind: the first");
    }

    #[test]
    fn unlike_matches_and_unknown_names_list_the_devices() {
        let error = index_of("n").unwrap_err();
        assert!(
            matches!(&error, DeviceError::AmbiguousDevice { matches, .. } if matches.len() == 3),
            "{error}"
        );
        let error = index_of("radeon").unwrap_err();
        assert!(matches!(&error, DeviceError::UnknownDevice { available, .. } if available.len() == 3));
        assert!(error.to_string().contains("1.0 pthread-Xeon (Portable Computing Language)"), "{error}");
        assert!(matches!(index_of("7.0"), Err(DeviceError::UnknownDevice { .. })));
        assert!(matches!(index_of(""), Err(DeviceError::UnknownDevice { .. })));
    }
}
