//! The match between devices of OpenCL and devices of libcuda.

use crate::select::DeviceInfo;
use opencl3::device::Device as RawDevice;
use opencl3::types::cl_uint;

/// The mark that finds a device among the devices of libcuda.
///
/// The order of the devices in libcuda may be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Uuid([u8; 16]),
    /// Bus and slot.
    ///
    /// The domain is asked for if the driver knows it.
    Pci {
        bus: u32,
        slot: u32,
        domain: Option<u32>,
    },
}

/// CL_DEVICE_PCI_DOMAIN_ID_NV, which the wrappers do not know.
const PCI_DOMAIN_NV: cl_uint = 0x400A;

impl Identity {
    pub fn of(info: &DeviceInfo, raw: RawDevice) -> Result<Self, String> {
        if info.extensions.iter().any(|extension| extension == "cl_khr_device_uuid")
            && let Ok(uuid) = raw.uuid_khr()
        {
            return Ok(Self::Uuid(uuid));
        }
        let domain = opencl3::device::get_device_data(raw.id(), PCI_DOMAIN_NV);
        let domain = domain.ok().and_then(|bytes| Some(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?)));
        match (raw.pci_bus_id_nv(), raw.pci_slot_id_nv()) {
            (Ok(bus), Ok(slot)) => Ok(Self::Pci { bus, slot, domain }),
            _ => Err("the driver tells neither UUID nor PCI bus".to_owned()),
        }
    }
}
