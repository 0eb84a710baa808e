//! Several results joined into one, for a page or table of different machines.

use super::machine::Machine;
use super::outcome::{ArithmeticCeiling, BenchmarkRun, MeasuredDevice};

/// One result with the rows of several.
pub struct Joined {
    /// The joined result; facts about a run, like its command, are from the first one.
    pub outcome: BenchmarkRun,
    /// Machine of each device; `None` if the result does not tell.
    pub machines: Vec<Option<Machine>>,
}

impl Joined {
    /// Joins results; `None` without results.
    ///
    /// Devices of different results become one if they have the same name and driver in the same
    /// machine.
    pub fn of(runs: &[BenchmarkRun]) -> Option<Self> {
        let (first, others) = runs.split_first()?;
        let mut outcome = first.clone();
        let mut machines = vec![first.machine.clone(); first.devices.len()];
        for run in others {
            let known = outcome.devices.len();
            let mut numbers = Vec::new();
            for device in &run.devices {
                // Devices of one run are different, whatever their names.
                let place = (0..known).find(|&number| {
                    !numbers.contains(&number)
                        && is_same(&outcome.devices[number], device)
                        && name(machines[number].as_ref()) == name(run.machine.as_ref())
                });
                numbers.push(place.unwrap_or(outcome.devices.len()));
                match place {
                    Some(number) => add_ceilings(&mut outcome.devices[number], device),
                    None => {
                        outcome.devices.push(device.clone());
                        machines.push(run.machine.clone());
                    }
                }
            }
            outcome.complete &= run.complete;
            for row in &run.rows {
                let mut row = row.clone();
                row.device = row.device.and_then(|number| numbers.get(number).copied());
                outcome.rows.push(row);
            }
        }
        Some(Self { outcome, machines })
    }
}

fn name(machine: Option<&Machine>) -> Option<&str> {
    machine.map(|machine| machine.name.as_str())
}

fn is_same(a: &MeasuredDevice, b: &MeasuredDevice) -> bool {
    let of = |device: &MeasuredDevice| {
        let texts = [&device.label, &device.kind, &device.platform, &device.driver].map(String::clone);
        (texts, device.compute_units)
    };
    of(a) == of(b)
}

/// Raises each ceiling of a device to the best one seen.
fn add_ceilings(device: &mut MeasuredDevice, other: &MeasuredDevice) {
    let best = |a: Option<ArithmeticCeiling>, b: Option<ArithmeticCeiling>| match (a, b) {
        (Some(a), Some(b)) => Some(ArithmeticCeiling {
            fma_gflops: a.fma_gflops.max(b.fma_gflops),
            matrix_gflops: a.matrix_gflops.into_iter().chain(b.matrix_gflops).reduce(f64::max),
        }),
        (a, b) => a.or(b),
    };
    device.triad_gb_s = device.triad_gb_s.max(other.triad_gb_s);
    device.memory_gb_s = device.memory_gb_s.max(other.memory_gb_s);
    device.single = best(device.single, other.single);
    device.double = best(device.double, other.double);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Benchmark, Row, Samples, Subject};

    fn run(machine: &str, labels: &[&str], triad: f64) -> BenchmarkRun {
        let device =
            |label: &&str| MeasuredDevice { label: (*label).to_owned(), ..MeasuredDevice::host(triad) };
        let row = |number| {
            let subject = Subject::new(Benchmark::Blas, "axpy").on(number).bytes(8);
            Row::new(subject, Samples { event: vec![], wall: vec![1.0] }).unwrap()
        };
        BenchmarkRun {
            machine: Some(Machine { name: machine.to_owned(), ..Machine::default() }),
            devices: labels.iter().map(device).collect(),
            rows: (0..labels.len()).map(row).collect(),
            ..BenchmarkRun::new(true)
        }
    }

    #[test]
    fn only_the_same_device_of_the_same_machine_is_one() {
        let runs = [run("one", &["a", "b"], 1.0), run("one", &["b", "c"], 2.0), run("two", &["a", "a"], 3.0)];
        let Joined { outcome, machines } = Joined::of(&runs).unwrap();
        let labels: Vec<&str> = outcome.devices.iter().map(|device| device.label.as_str()).collect();
        assert_eq!(labels, ["a", "b", "c", "a", "a"]);
        let triads: Vec<f64> = outcome.devices.iter().map(|device| device.triad_gb_s).collect();
        assert_eq!(triads, [1.0, 2.0, 2.0, 3.0, 3.0]);
        let devices: Vec<usize> = outcome.rows.iter().map(|row| row.device.unwrap()).collect();
        assert_eq!(devices, [0, 1, 1, 2, 3, 4]);
        assert_eq!(machines.iter().filter(|machine| name(machine.as_ref()) == Some("two")).count(), 2);
        assert!(Joined::of(&[]).is_none());
    }
}
