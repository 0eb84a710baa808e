//! Devices as a user of the library sees them: selection, memory, programs, kernels, and every refusal.

use crate::common;

use common::{devices, opened};
use lattice_cl::compute::{
    Absence, Argument, Buffer, CacheMode, Device, DeviceError, DeviceKind, DeviceOptions, KernelFamily,
    KernelKey, PinnedBuffer, Profiling, REDUCTION_SOURCE, Range, Remark, Selector, Team, build_programs,
    discover, triad_bandwidth,
};
use lattice_cl::scalar::Precision;
use num_complex::Complex;
use std::sync::Arc;

/// Kernels that stay inside of their arguments, as all of these do.
const fn family(name: &'static str, sources: &'static [&'static str]) -> KernelFamily {
    // SAFETY: each of them compares its number with a count, or is launched with as many items as there are elements.
    #[allow(unsafe_code)]
    unsafe {
        KernelFamily::trusted(name, sources)
    }
}

const ADD: KernelFamily = family(
    "add",
    &["
__kernel void add(__global const real *x, ulong x_offset, __global real *y, real a, ulong count) {
    const size_t i = get_global_id(0);
    if (i < count) {
        y[i] += a * x[x_offset + i];
    }
}

__kernel void reverse_in_groups(__global uint *y, __local uint *scratch) {
    const size_t item = get_local_id(0), size = get_local_size(0);
    scratch[item] = y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = scratch[size - 1 - item];
}
"],
);

fn key() -> KernelKey {
    KernelKey::new(ADD, Precision::Double)
}

#[test]
fn auto_takes_a_device_or_says_why_there_is_none() {
    let team = Team::select(Selector::Auto).unwrap();
    assert_eq!(team.is_host(), team.absence().is_some());
    assert_eq!(team.is_host(), !discover().devices.iter().any(|d| d.info.fp64));
    let host = Team::select(Selector::Host).unwrap();
    assert!(host.is_host() && host.absence().is_none());
    assert_eq!(host.device().unwrap_err(), DeviceError::Absent(Absence::HostChosen));
    assert_eq!(team.device().ok(), team.devices().first());
}

/// Runs in a process of its own: the loader is asked once, with the environment it has then.
#[test]
fn a_loader_without_platforms_leaves_the_host_with_the_reason() {
    const CHILD: &str = "LATTICE_CL_TEST_NO_PLATFORM";
    if std::env::var_os(CHILD).is_some() {
        if !discover().devices.is_empty() {
            // Some loaders look in further places, whatever the variable says.
            eprintln!("SKIPPED: this loader finds platforms that OCL_ICD_VENDORS does not name");
            return;
        }
        let team = Team::select(Selector::Auto).unwrap();
        assert!(team.is_host());
        let absence = team.absence().unwrap();
        assert!(matches!(absence, Absence::NoPlatform | Absence::NoLoader), "{absence:?}");
        let message = absence.to_string();
        let begins = message.starts_with("there is no OpenCL device: ");
        assert!(begins && message.contains("install") && message.contains("pocl-opencl-icd"), "{message}");
        let error = Team::select(Selector::Name("anything".into())).unwrap_err();
        assert_eq!(error, DeviceError::Absent(absence.clone()));
        assert_eq!(team.device().unwrap_err(), error, "one error for all who need a device");
        let all = Team::select(Selector::All).unwrap();
        assert!(all.is_host() && all.absence() == Some(absence));
        return;
    }
    let empty = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "device::a_loader_without_platforms_leaves_the_host_with_the_reason"])
        .env(CHILD, "1")
        // Some loaders take the name of a folder only with a slash at its end.
        .env("OCL_ICD_VENDORS", empty.path().join(""))
        .env_remove("OPENCL_DYLIB_PATH")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn several_selectors_make_a_team_in_their_order() {
    let count = devices().len();
    if count == 0 {
        return;
    }
    let last = discover().devices.iter().rfind(|d| d.info.fp64).unwrap().index;
    let first = discover().devices.iter().find(|d| d.info.fp64).unwrap().index;
    let team = Team::select([last, first, first].map(Selector::Index)).unwrap();
    assert_eq!(team.devices().iter().map(|d| d.index()).collect::<Vec<_>>(), [last, first, first]);
    assert_ne!(team.devices()[1], team.devices()[2], "opened twice: two devices");
    assert!(team.remarks().iter().any(|remark| matches!(remark, Remark::Repeated { times: 2.., .. })));
    let all = Team::all(&DeviceOptions::default()).unwrap();
    assert_eq!(all.len(), count);
    let left_out = discover().devices.len() - count;
    assert_eq!(all.remarks().len(), left_out, "each that is left out is named");
    assert_eq!(Team::select(Selector::All).unwrap().len(), count);

    for alone in [Selector::Auto, Selector::All, Selector::Host] {
        let error = Team::select([alone.clone(), Selector::Index(first)]).unwrap_err();
        assert_eq!(error, DeviceError::NotCombinable { selector: alone.to_string() });
    }
    let error = Team::select(Selector::Name("no such device".into())).unwrap_err();
    assert!(matches!(error, DeviceError::UnknownDevice { .. }), "{error}");
}

#[test]
fn buffers_keep_what_was_written() {
    for device in devices() {
        for len in [0, 1, 7, 1000] {
            let data: Vec<Complex<f32>> = (0..len).map(|i| Complex::new(i as f32, -1.0)).collect();
            let mut buffer = Buffer::zeroed(&device, len).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), vec![Complex::new(0.0, 0.0); len]);
            buffer.write(&data).unwrap();
            let copy = {
                let mut copy = Buffer::zeroed(&device, len).unwrap();
                copy.copy_from(&buffer).unwrap();
                copy
            };
            assert_eq!(copy.to_vec().unwrap(), data);
            assert_eq!(copy.download().unwrap().wait().unwrap(), data);
            buffer.fill(Complex::new(3.0, 4.0)).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), vec![Complex::new(3.0, 4.0); len]);
            let returned = buffer.upload(data.clone()).unwrap().wait().unwrap();
            assert_eq!((returned, buffer.to_vec().unwrap()), (data.clone(), data));
        }
        // A size that OpenCL cannot fill with.
        let mut odd = Buffer::<[f64; 3]>::zeroed(&device, 5).unwrap();
        odd.slice_mut(1..4).unwrap().fill([1.0, 2.0, 3.0]).unwrap();
        let (edge, middle) = ([0.0; 3], [1.0, 2.0, 3.0]);
        assert_eq!(odd.to_vec().unwrap(), [edge, middle, middle, middle, edge]);
        // Beginnings and ends that are, and are not, where a wide pattern fits.
        for (begin, end) in [(0, 39), (1, 38), (4, 31), (8, 24), (4, 5)] {
            let mut buffer = Buffer::<f32>::zeroed(&device, 40).unwrap();
            buffer.slice_mut(begin..end).unwrap().fill(1.5).unwrap();
            let expected: Vec<f32> =
                (0..40).map(|i| if (begin..end).contains(&i) { 1.5 } else { 0.0 }).collect();
            assert_eq!(buffer.to_vec().unwrap(), expected, "{begin}..{end} on {device:?}");
        }
    }
}

#[test]
fn views_are_checked_and_stay_inside() {
    for device in devices() {
        let mut buffer = Buffer::from_slice(&device, &[0_u32, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        let view = buffer.slice(2..6).unwrap().slice(1..=2).unwrap();
        assert_eq!((view.offset(), view.len(), view.to_vec().unwrap()), (3, 2, vec![3, 4]));
        assert!(buffer.slice(8..).unwrap().is_empty());
        for bad in [buffer.slice(0..9), buffer.slice(9..), buffer.slice(..=usize::MAX)] {
            assert!(matches!(bad, Err(DeviceError::OutOfRange { buffer: 8, .. })));
        }
        let (mut left, right) = buffer.view_mut().split_at(4).unwrap();
        left.copy_from(right.as_view()).unwrap();
        left.slice_mut(1..3).unwrap().write(&[90, 91]).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [4, 90, 91, 7, 4, 5, 6, 7]);

        let error = buffer.write(&[1, 2]).unwrap_err();
        assert!(matches!(error, DeviceError::LengthMismatch { wanted: 8, found: 2, .. }), "{error}");
        assert!(matches!(
            buffer.read(&mut [0; 9]),
            Err(DeviceError::LengthMismatch { wanted: 8, found: 9, .. })
        ));
    }
}

#[test]
fn impossible_allocations_say_the_sizes() {
    for device in devices() {
        let memory = device.info().memory_bytes;
        for len in [usize::MAX, usize::MAX / 16, memory as usize] {
            let error = Buffer::<Complex<f64>>::zeroed(&device, len).unwrap_err();
            assert!(
                matches!(error, DeviceError::AllocationTooLarge { memory: m, .. } if m == memory),
                "{error}"
            );
        }
        assert!(matches!(
            PinnedBuffer::<f64>::zeroed(&device, usize::MAX),
            Err(DeviceError::AllocationTooLarge { wanted: u64::MAX, .. })
        ));
    }
}

#[test]
fn a_kernel_computes_on_a_view() {
    for device in devices() {
        let program = device.program(&key()).unwrap();
        let add = program.kernel("add").unwrap();
        let x = Buffer::from_slice(&device, &[9.0, 1.0, 2.0, 3.0, 9.0]).unwrap();
        let mut y = Buffer::from_slice(&device, &[0.5; 4]).unwrap();
        let arguments =
            [x.slice(1..4).unwrap().into(), (&mut y).into(), Argument::value(2.0), Argument::value(3_u64)];
        let event = add.launch(Range::covering(3, 2), &arguments).unwrap();
        assert_eq!(event.duration().unwrap(), None, "profiling is off");
        assert_eq!(y.to_vec().unwrap(), [2.5, 4.5, 6.5, 0.5]);

        let reverse = program.kernel("reverse_in_groups").unwrap();
        let mut y = Buffer::from_slice(&device, &[0_u32, 1, 2, 3, 4, 5]).unwrap();
        reverse.launch(Range::groups(2, 3), &[(&mut y).into(), Argument::local::<u32>(3)]).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2, 1, 0, 5, 4, 3]);
    }
}

#[test]
fn a_program_tells_its_kernels() {
    for device in devices() {
        let error = device.program(&key()).unwrap().kernel("subtract").unwrap_err();
        assert!(
            matches!(&error, DeviceError::UnknownKernel { available, .. } if available.len() == 2),
            "{error}"
        );
    }
}

#[test]
fn a_wrong_launch_is_refused_before_it_starts() {
    for device in devices() {
        let program = device.program(&key()).unwrap();
        let (add, reverse) = (program.kernel("add").unwrap(), program.kernel("reverse_in_groups").unwrap());
        let x = Buffer::from_slice(&device, &[1.0; 4]).unwrap();
        let complex = Buffer::from_slice(&device, &[Complex::new(1.0, 0.0); 4]).unwrap();
        let single = Buffer::from_slice(&device, &[1.0_f32; 4]).unwrap();
        let mut y = Buffer::from_slice(&device, &[0.0; 4]).unwrap();
        let mut words = Buffer::from_slice(&device, &[0_u32; 4]).unwrap();
        let (a, count) = (Argument::value(1.0), Argument::value(4_u64));
        let range = Range::groups(4, 1);

        for few_or_many in [&[(&x).into(), (&mut y).into(), a][..], &[a; 5]] {
            let error = add.launch(range, few_or_many).unwrap_err();
            let found = few_or_many.len();
            assert_eq!(error, DeviceError::ArgumentCount { kernel: "add".into(), wanted: 4, found });
        }
        let mut right: Vec<Argument<'_>> = vec![(&x).into(), (&mut y).into(), a, count];
        right[0] = (&complex).into();
        // Types of memory are compared by their scalar: a kernel of numbers takes pairs as well.
        add.launch(Range::groups(4, 1), &[right[0], right[1], right[2], Argument::value(0_u64)]).unwrap();
        right[0] = (&x).into();
        for (position, wrong, name, wanted) in [
            (0, (&single).into(), "x", "view of double to read"),
            (0, count, "x", "view of double to read"),
            (1, (&x).into(), "y", "buffer of double to write"),
            (1, right[1].skip(1), "y", "buffer of double to write"),
            (1, Argument::local::<f64>(4), "y", "buffer of double to write"),
            (1, (&mut words).into(), "y", "buffer of double to write"),
            (2, Argument::value(1.0_f32), "a", "value of double"),
            (2, Argument::value(Complex::new(1.0, 0.0)), "a", "value of double"),
            (2, Argument::value([1.0; 3]), "a", "value of double"),
            (2, (&x).into(), "a", "value of double"),
            (3, Argument::value(4_u32), "count", "value of ulong"),
        ] {
            let mut arguments = right.clone();
            arguments[position] = wrong;
            let error = add.launch(range, &arguments).unwrap_err();
            let found = wrong.to_string();
            let expected = DeviceError::ArgumentMismatch {
                kernel: "add".into(),
                position,
                name: name.into(),
                wanted: wanted.into(),
                found,
            };
            assert_eq!(error, expected);
        }
        for wrong in [Argument::local::<u32>(0), Argument::local::<f32>(1), Argument::value(1_u32)] {
            let error = reverse.launch(range, &[(&mut words).into(), wrong]).unwrap_err();
            assert!(
                matches!(&error, DeviceError::ArgumentMismatch { position: 1, wanted, .. } if wanted == "local memory of uint"),
                "{error}"
            );
        }

        for range in
            [Range::groups(0, 1), Range::groups(1, 0), Range::new([5, 1], [2, 1]), Range::groups(1, 1 << 30)]
        {
            let error = add.launch(range, &right).unwrap_err();
            assert!(matches!(error, DeviceError::InvalidRange { .. }), "{error}");
        }

        let stranger = Device::open(
            discover().devices.iter().find(|d| d.index == device.index()).unwrap(),
            &DeviceOptions::default(),
        )
        .unwrap();
        let foreign = Buffer::from_slice(&stranger, &[1.0; 4]).unwrap();
        right[0] = (&foreign).into();
        let error = add.launch(range, &right).unwrap_err();
        assert!(matches!(error, DeviceError::ForeignBuffer { .. }), "{error}");
        assert!(matches!(y.copy_from(&foreign), Err(DeviceError::ForeignBuffer { .. })));
        assert_eq!(y.to_vec().unwrap(), [0.0; 4], "nothing ran");
    }
}

#[test]
fn programs_may_be_built_before_they_are_asked_for() {
    let broken = family("broken", &["__kernel void k(__global real *x) { x[0] = nonsense; }"]);
    for device in devices() {
        // Another definition makes another program.
        let keys = [0, 1].map(|number| key().define("NUMBER", number));
        let mut wanted = vec![(device.clone(), KernelKey::new(broken, Precision::Double))];
        wanted.extend(keys.iter().map(|key| (device.clone(), key.clone())));
        let before = device.compilation();
        build_programs(&wanted);
        let built = device.program_count();
        assert_eq!(built, keys.len());
        let told = device.compilation() - before;
        assert_eq!(told.compiled + told.loaded, built, "{told:?}");
        assert!(!told.time.is_zero());
        for key in &keys {
            device.program(key).unwrap().kernel("add").unwrap();
        }
        assert_eq!(device.program_count(), built, "they were there");
        assert_eq!(device.compilation() - before, told, "nothing more was built");
        let broken = device.program(&wanted[0].1);
        assert!(matches!(broken, Err(DeviceError::Build(_))), "whoever asks is told");
    }
}

#[test]
fn a_build_failure_carries_log_and_options() {
    const BROKEN: KernelFamily =
        family("broken", &["__kernel void k(__global real *x) { x[0] = nonsense; }"]);
    for device in devices() {
        let key = KernelKey::new(BROKEN, Precision::Single).define("SOMETHING", 42);
        match device.program(&key).unwrap_err() {
            DeviceError::Build(failure) => {
                assert!(failure.log.contains("nonsense"), "{failure}");
                assert!(failure.options.contains("-D SOMETHING=42"), "{failure}");
                assert_eq!(failure.status, "CL_BUILD_PROGRAM_FAILURE");
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn programs_come_back_from_the_cache_and_a_damaged_cache_is_rebuilt() {
    let directory = tempfile::tempdir().unwrap();
    let options = DeviceOptions::default().with_cache(CacheMode::Directory(directory.path().to_owned()));
    let run = |device: &Device| {
        let add = device.program(&key()).unwrap().kernel("add").unwrap();
        let x = Buffer::from_slice(device, &[1.0, 2.0]).unwrap();
        let mut y = Buffer::from_slice(device, &[10.0, 20.0]).unwrap();
        let arguments = [(&x).into(), (&mut y).into(), Argument::value(3.0), Argument::value(2_u64)];
        add.launch(Range::groups(2, 1), &arguments).unwrap();
        assert_eq!(y.to_vec().unwrap(), [13.0, 26.0]);
    };
    let files = || -> Vec<_> {
        let mut files: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        files
    };
    // Anew each time: the programs in memory go with their device.
    opened(&options).iter().for_each(run);
    if files().is_empty() {
        assert!(opened(&options).is_empty(), "a device's programs are cached");
        return;
    }
    let stored = files();
    let contents = std::fs::read(&stored[0]).unwrap();
    opened(&options).iter().for_each(run);
    assert_eq!(files(), stored, "nothing was built again");

    for damage in [&contents[..contents.len() / 2], b"", b"lattice-cl program 2\nnot really"] {
        for file in &stored {
            std::fs::write(file, damage).unwrap();
        }
        opened(&options).iter().for_each(run);
        for file in &stored {
            assert!(std::fs::read(file).unwrap() != damage, "{} is written anew", file.display());
        }
    }
}

#[test]
fn pinned_memory_travels_beside_the_kernels() {
    for device in devices() {
        let len = 1000;
        let mut x = Buffer::<f64>::zeroed(&device, len).unwrap();
        let mut y = Buffer::<f64>::zeroed(&device, len + 2).unwrap();
        let mut pinned = PinnedBuffer::<f64>::zeroed(&device, len).unwrap();
        assert!(pinned.as_slice().iter().all(|&v| v == 0.0));
        for (i, value) in pinned.as_mut_slice().iter_mut().enumerate() {
            *value = i as f64;
        }
        let add = device.program(&key()).unwrap().kernel("add").unwrap();
        let written = pinned.write_to(&mut x, &[]).unwrap();
        let arguments = [(&x).into(), (&mut y).into(), Argument::value(2.0), Argument::value(len as u64)];
        let added = add.launch_after(Range::groups(len, 1), &arguments, &[written.event()]).unwrap();
        let pinned = written.wait().unwrap();
        let pinned = pinned.read_from(y.slice(..len).unwrap(), &[&added]).unwrap().wait().unwrap();
        let expected: Vec<f64> = (0..len).map(|i| 2.0 * i as f64).collect();
        assert_eq!(pinned.as_slice(), expected);
        assert!(matches!(pinned.write_to(&mut y, &[]), Err(DeviceError::LengthMismatch { .. })));
    }
}

#[test]
fn pinned_memory_of_one_device_is_sent_to_all() {
    // Two of each, so that there are several.
    let devices: Vec<Device> = devices().into_iter().chain(devices()).collect();
    for owner in &devices {
        let mut pinned = PinnedBuffer::<f64>::zeroed(owner, 1000).unwrap();
        for (i, value) in pinned.as_mut_slice().iter_mut().enumerate() {
            *value = i as f64;
        }
        let pinned = Arc::new(pinned);
        let mut buffers: Vec<_> =
            devices.iter().map(|device| Buffer::<f64>::zeroed(device, 1001).unwrap()).collect();
        let sent = buffers.iter_mut().zip(1..).map(|(buffer, length)| {
            let to = buffer.slice_mut(1..1000 - length).unwrap();
            pinned.share_start_to(to, &[]).unwrap()
        });
        // The transfers keep the memory alive.
        let sent: Vec<_> = sent.collect();
        drop(pinned);
        for ((buffer, sent), length) in buffers.iter_mut().zip(sent).zip(1..) {
            let whole = sent.wait().unwrap();
            let elements = buffer.to_vec().unwrap();
            assert_eq!(elements[1..1000 - length], whole.as_slice()[..999 - length]);
            assert!(elements[0] == 0.0 && elements[1000 - length..].iter().all(|&element| element == 0.0));
            assert!(matches!(whole.share_start_to(buffer, &[]), Err(DeviceError::OutOfRange { .. })));
        }
    }
}

#[test]
fn the_device_keeps_pinned_memory_that_is_given_back() {
    for device in devices() {
        let mut first = PinnedBuffer::<f64>::kept(&device, 100).unwrap();
        let address = first.as_slice().as_ptr().addr();
        first.as_mut_slice().fill(1.5);
        drop(first);
        let again = PinnedBuffer::<f32>::kept(&device, 120).unwrap();
        assert_eq!((again.len(), again.as_slice().as_ptr().addr()), (120, address));
        let other = PinnedBuffer::<f64>::kept(&device, 100).unwrap();
        assert_ne!(other.as_slice().as_ptr().addr(), address, "that one is in use");
    }
}

#[test]
fn the_bandwidth_is_measured() {
    if common::small() {
        return;
    }
    for device in devices() {
        let bandwidth = triad_bandwidth(&device).unwrap();
        println!("{}: {:.1} GB/s", device.label(), bandwidth / 1e9);
        assert!(bandwidth.is_finite() && bandwidth > 0.0);
    }
}

#[test]
fn profiling_times_commands() {
    for device in opened(&common::untuned().with_profiling(Profiling::On)) {
        let add = device.program(&key()).unwrap().kernel("add").unwrap();
        let x = Buffer::from_slice(&device, &[1.0; 4]).unwrap();
        let mut y = Buffer::from_slice(&device, &[1.0; 4]).unwrap();
        let arguments = [(&x).into(), (&mut y).into(), Argument::value(1.0), Argument::value(4_u64)];
        let event = add.launch(Range::groups(4, 1), &arguments).unwrap();
        assert!(event.duration().unwrap().is_some());
    }
}

#[test]
fn a_reduction_over_many_groups_is_exact_and_leaves_its_workspace_clean() {
    const SUMS: KernelFamily = family(
        "sums",
        &[
            REDUCTION_SOURCE,
            "__kernel void sums(ulong count, REDUCTION_PARAMETERS) {
                REDUCTION_LOCAL;
                const size_t i = get_global_id(0);
                const double x = i < count ? (double)i : 0.0;
                REDUCE(3, 1.0, x, x * x);
            }",
        ],
    );
    for device in devices() {
        for local in [1, 3, 8, 64] {
            let key = KernelKey::new(SUMS, Precision::Double).define("LOCAL_SIZE", local);
            let sums = device.program(&key).unwrap().kernel("sums").unwrap();
            for groups in [1, 2, 5, 33, 1500] {
                let items = groups * local;
                let count = items - items / 7;
                let mut reduction = device.reduction(groups).unwrap();
                assert!(reduction.max_groups() >= groups);
                let arguments = [&[Argument::value(count as u64)][..], &reduction.arguments()].concat();
                sums.launch(Range::groups(groups, local), &arguments).unwrap();
                let n = count as f64;
                let expected = [items as f64, n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0];
                assert_eq!(reduction.read().unwrap(), expected, "{groups} groups of {local}");
            }
        }
    }
}

/// Linux names the ranges of a process that huge pages are wanted for.
#[cfg(target_os = "linux")]
#[test]
fn large_buffers_of_processors_are_to_have_huge_pages() {
    const BYTES: usize = 64 << 20;
    let wanted = || {
        let ranges = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (mut size, mut sum) = (0, 0);
        for line in ranges.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("Size:") => size = words.next().unwrap().parse().unwrap(),
                Some("VmFlags:") if words.any(|flag| flag == "hg") => sum += size << 10,
                _ => {}
            }
        }
        sum
    };
    let system = std::path::Path::new("/sys/kernel/mm/transparent_hugepage");
    for device in opened(&DeviceOptions::default()) {
        let buffer = Buffer::<u8>::zeroed(&device, BYTES).unwrap();
        if device.info().kind == DeviceKind::Cpu && system.exists() {
            let wanted: usize = wanted();
            assert!(wanted > BYTES / 10 * 9, "{device:?}: {wanted} bytes");
        }
        assert_eq!(buffer.to_vec().unwrap(), vec![0; BYTES]);
    }
}
