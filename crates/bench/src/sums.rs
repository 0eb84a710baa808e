//! `cr-solve bench sums`: several sums in one pass, in two orders of local memory.

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::{Buffer, Device, MOST_SUMS, Number, PowerSums, SumsLayout};
use lattice_cli::failure::Failure;

/// Numbers that are summed up; they stay in the second cache of a GPU.
const NUMBERS: usize = 1 << 20;

/// The command line of `bench sums`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Numbers of sums in one pass, 1 to 8
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "1,3,4,7")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=MOST_SUMS as i64))]
    count: Vec<u8>,
    /// Numbers that are summed up [default: 1048576; with --quick 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    numbers: Option<u32>,
    #[command(flatten)]
    pub how: How,
}

/// Checks and times power sums of an array on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let default = if arguments.how.quick { 1 << 16 } else { NUMBERS };
    let count = arguments.numbers.map_or(default, |numbers| numbers as usize);
    let numbers: Vec<f64> = (0..count).map(|i| (i * 7919 % 1013) as f64 / 1013.0 - 0.4).collect();
    for (number, device) in session.opencl_devices("sums")?.iter().enumerate() {
        let on_device = Buffer::from_slice(device, &numbers)?;
        for &sums in &arguments.count {
            for (name, layout) in [("apart", SumsLayout::Apart), ("beside", SumsLayout::Beside)] {
                if session.interrupted() {
                    return Ok(());
                }
                let kernel = PowerSums::new(device, sums.into(), layout)?;
                check(device, &kernel, &on_device, &numbers)?;
                let subject = Subject::new(Benchmark::Sums, name)
                    .on(number)
                    .with("sums", sums)
                    .with("numbers", count)
                    .bytes((size_of::<f64>() * count) as u64);
                session.time(subject, |_| Ok(kernel.launch(&on_device)?.0.duration()?))?;
            }
        }
    }
    Ok(())
}

fn check(
    device: &Device,
    kernel: &PowerSums,
    on_device: &Buffer<f64>,
    numbers: &[f64],
) -> Result<(), Failure> {
    let sums = kernel.launch(on_device)?.1.numbers();
    let found = Number::values(&sums.iter().collect::<Vec<_>>())?;
    for (power, found) in (1..).zip(found) {
        let expected: f64 = numbers.iter().map(|x| x.powi(power)).sum();
        let size: f64 = numbers.iter().map(|x| x.powi(power).abs()).sum();
        if (found.re - expected).abs() > 1e-12 * size || found.im != 0.0 {
            return Err(wrong(format_args!("{}: sum of powers {power}", device.label()), expected, found));
        }
    }
    Ok(())
}
