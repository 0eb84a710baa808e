//! Comparison of needed and available memory, before the work.

use crate::extents::Extents;
use crate::failure::{Failure, Status};
use lattice_compute::{Device, DeviceKind, available_memory};
use std::fmt::Display;

/// Bytes that some work takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Need {
    /// Bytes in the memory of the machine.
    pub on_host: u128,
    /// Bytes in the memory of a device.
    pub on_device: u128,
}

impl Need {
    /// Returns the need of the three matrices of a product, on host and device.
    ///
    /// The product is m x n by k with elements `T`.
    pub fn of_product<T>(Extents([m, n, k]): Extents) -> Self {
        let [m, n, k] = [m, n, k].map(|extent| extent as u128);
        let bytes = (m * k + k * n + m * n) * size_of::<T>() as u128;
        Self { on_host: bytes, on_device: bytes }
    }

    /// Refuses work that the machine, or the device, has no room for.
    ///
    /// `what` names what takes the memory, for example "random links and spinors of a 4x4x4x4
    /// lattice".
    ///
    /// # Errors
    /// When there is too little memory. Nothing is allocated.
    pub fn expect_room(self, what: impl Display, device: Option<&Device>) -> Result<(), Failure> {
        let info = device.map(Device::info);
        let shared = info.is_none_or(|info| info.kind == DeviceKind::Cpu);
        let (on_host, on_device) =
            if shared { (self.on_host + self.on_device, 0) } else { (self.on_host, self.on_device) };
        let too_much = |bytes: u128, owner: &str| {
            let message = format!("{what} take {bytes} bytes, which {owner} does not have");
            Failure::new(Status::Usage, anyhow::Error::msg(message))
        };
        if available_memory().is_some_and(|there| on_host > u128::from(there)) {
            return Err(too_much(on_host, "this machine"));
        }
        match info {
            Some(info) if on_device > u128::from(info.memory_bytes) => Err(too_much(on_device, &info.name)),
            _ => Ok(()),
        }
    }
}

/// Parses bytes, as `4G`, `500M` or `1000000`.
///
/// # Errors
/// A message that names the wanted forms.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.trim_end_matches(|c: char| c.is_ascii_alphabetic()) {
        number if number.len() + 1 >= text.len() => (number, &text[number.len()..]),
        number => (number, "?"),
    };
    let unit = match unit.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => 0,
    };
    let bytes =
        number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| "bytes are wanted, as 4G, 500M or 1000000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read() {
        assert_eq!((bytes("4G"), bytes("500m"), bytes("12")), (Ok(4 << 30), Ok(500 << 20), Ok(12)));
        for text in ["", "G", "-1", "1.5G", "4GB", "0", "99999999999999T"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        let need = Need { on_host: 1, on_device: 1 << 100 };
        let failure = need.expect_room("numbers", None).unwrap_err();
        let message = failure.error.to_string();
        assert!(message.contains("which this machine does not have"), "{message}");
        assert!(Need { on_host: 1, on_device: 1 }.expect_room("numbers", None).is_ok());
    }

    #[test]
    fn three_matrices_make_a_product() {
        let bytes = 8 * (2 * 7 + 7 * 3 + 2 * 3);
        let expected = Need { on_host: bytes, on_device: bytes };
        assert_eq!(Need::of_product::<f64>(Extents([2, 3, 7])), expected);
    }
}
