//! Contexts and memory of other programs: one device plays the other program.

use lattice_compute::{
    Buffer, Device, DeviceError, DeviceOptions, DiscoveredDevice, ForeignHandle, discover,
};

/// The devices that compute in double, or a loud line.
fn found() -> Vec<DiscoveredDevice> {
    let found: Vec<_> = discover().devices.into_iter().filter(|device| device.info.fp64).collect();
    if found.is_empty() {
        eprintln!("SKIPPED: there is no OpenCL device");
    }
    found
}

/// Opens a device again in the context of another.
fn opened_in_context_of(owner: &Device) -> Device {
    let context = ForeignHandle::trusting(owner.context_handle(), owner.clone());
    Device::open_in_foreign(&context, &DeviceOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Takes the memory of a buffer for a buffer of another device.
fn taken<T: bytemuck::Pod>(
    device: &Device,
    buffer: &Buffer<f64>,
    len: usize,
) -> Result<Buffer<T>, DeviceError> {
    // The buffer lives during the call, and afterwards a reference keeps its memory.
    Buffer::of_foreign(device, &ForeignHandle::trusting(buffer.lend()?, ()), len)
}

#[test]
fn memory_of_another_program_is_shared_and_kept() -> Result<(), DeviceError> {
    for found in found() {
        let owner = Device::open(&found, &DeviceOptions::default())?;
        let device = opened_in_context_of(&owner);
        assert_ne!(device, owner);
        assert_ne!(device.queue_handle(), owner.queue_handle());
        let numbers: Vec<f64> = (0..37).map(f64::from).collect();
        let mut theirs = Buffer::from_slice(&owner, &numbers)?;
        let mut ours = taken::<f64>(&device, &theirs, 37)?;
        assert_eq!(ours.to_vec()?, numbers);
        theirs.slice_mut(3..5)?.fill(-1.0)?;
        owner.finish()?;
        assert_eq!(ours.to_vec()?[2..6], [2.0, -1.0, -1.0, 5.0]);
        ours.fill(4.0)?;
        device.finish()?;
        assert_eq!(theirs.to_vec()?, [4.0; 37]);

        // Their reference goes, ours stays. Memory that was lent serves no other buffer.
        drop(theirs);
        drop(owner);
        let others = Buffer::<f64>::zeroed(&device, 37)?;
        assert_eq!(ours.to_vec()?, [4.0; 37]);
        assert_eq!(others.to_vec()?, [0.0; 37]);
    }
    Ok(())
}

#[test]
fn what_cannot_be_shared_is_told() -> Result<(), DeviceError> {
    let options = DeviceOptions::default();
    let null = ForeignHandle::trusting(0, ());
    let none = Device::open_in_foreign(&null, &options);
    assert!(matches!(none, Err(DeviceError::Foreign { what: "context", .. })), "{none:?}");
    for found in found() {
        let (one, other) = (Device::open(&found, &options)?, Device::open(&found, &options)?);
        let buffer = Buffer::from_slice(&one, &[1.0, 2.0, 3.0])?;
        let words = |result: Result<Buffer<f64>, DeviceError>| result.map(drop).unwrap_err().to_string();
        assert!(words(taken(&other, &buffer, 3)).contains("another context"));
        assert!(words(taken(&one, &buffer, 4)).contains("24 bytes, and 32 are wanted"));
        assert!(words(taken(&one, &buffer, usize::MAX)).contains("are wanted"));
        let none = Buffer::of_foreign(&one, &null, 1);
        assert!(words(none).contains("null"));
        // The same memory as numbers of another size.
        assert_eq!(taken::<f32>(&one, &buffer, 6)?.len(), 6);
    }
    Ok(())
}
