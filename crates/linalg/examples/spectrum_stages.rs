//! Time in the stages of eigenvalue problems and of singular values.
//!
//! `cargo run --release -p lattice-linalg --example spectrum_stages -- [DEVICE] [heevd|values|gesvd] [N …]`,
//! for example `1.0 heevd 4096 8192`. Elements are double. The first call compiles the kernels or loads
//! them, the second does not. A third call is recorded: the spans of its stages, and its kernels by
//! the time that they take.

mod common;

use common::{Arguments, Devices, ExampleResult, list_kernels};
use lattice_compute::philox::Philox;
use lattice_compute::{Buffer, CompileClock, Device, DeviceOptions, Recorder, TuningMode};
use lattice_linalg::factor::{Eigenvectors, SingularVectors, gesvd, heevd};
use lattice_linalg::{MatMut, MatRef, MatrixLayout, Triangle};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn main() -> ExampleResult<()> {
    let Arguments { selector, routine, sizes } = Arguments::read("heevd")?;
    let compiling = CompileClock::new(|_| {});
    let options = DeviceOptions::default().with_tuning(TuningMode::Shipped).with_compiling(compiling.clone());
    let Devices { plain: device, recorded, recorder } = Devices::open(selector, options)?;
    println!("{} {routine}", device.label());
    for n in sizes {
        let a = matrix(n);
        for call in ["first", "second"] {
            let before = compiling.time();
            let solution = solve(&device, &routine, &a, n)?;
            let (time, compiled) = (solution.time.as_secs_f64(), (compiling.time() - before).as_secs_f64());
            println!("{n} {call}: {time:.4} s, {compiled:.4} s of it compiling");
            if call == "first" && routine != "values" {
                println!("{n} test ratio {:.2e}", solution.ratio(&a, n)?);
            }
        }
        solve(&recorded, &routine, &a, n)?;
        recorder.take()?;
        let solution = solve(&recorded, &routine, &a, n)?;
        println!("{n} recorded: {:.4} s", solution.time.as_secs_f64());
        report(&recorder)?;
    }
    Ok(())
}

/// A symmetric matrix of numbers without a pattern.
fn matrix(n: usize) -> Vec<f64> {
    let mut random = Philox::new(1, 1, 0);
    let mut a = vec![0.0; n * n];
    for column in 0..n {
        for row in column..n {
            let number = f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
            (a[row + column * n], a[column + row * n]) = (number, number);
        }
    }
    a
}

/// What a call has found.
struct Solution {
    /// Time until the device was done, transfers of the matrix left out.
    time: Duration,
    values: Buffer<f64>,
    /// U with A = U Σ Vᵀ by columns. For eigenvectors, U and V are the same.
    u: Buffer<f64>,
    vt: Option<Buffer<f64>>,
}

impl Solution {
    /// Returns the largest element of A v − σ u of some columns, over n ε ‖A‖₁.
    fn ratio(&self, a: &[f64], n: usize) -> ExampleResult<f64> {
        let (values, u) = (self.values.to_vec()?, self.u.to_vec()?);
        let vt = self.vt.as_ref().map(Buffer::to_vec).transpose()?;
        let norm = a.chunks(n).map(|column| column.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        let mut worst = 0.0_f64;
        for k in [0, n / 3, n / 2, n - 1] {
            let u = &u[k * n..(k + 1) * n];
            let mut rest: Vec<f64> = u.iter().map(|x| -values[k] * x).collect();
            for j in 0..n {
                let v = vt.as_ref().map_or(u[j], |vt| vt[k + j * n]);
                rest.iter_mut().zip(&a[j * n..(j + 1) * n]).for_each(|(rest, a)| *rest += a * v);
            }
            worst = rest.into_iter().fold(worst, |worst, x| worst.max(x.abs()));
        }
        Ok(worst / (n as f64 * f64::EPSILON * norm))
    }
}

fn solve(device: &Device, routine: &str, a: &[f64], n: usize) -> ExampleResult<Solution> {
    let layout = MatrixLayout::column_major(n, n);
    let mut a = Buffer::from_slice(device, a)?;
    let mut values = Buffer::<f64>::zeroed(device, n)?;
    let [mut u, mut vt] = [Buffer::<f64>::zeroed(device, n * n)?, Buffer::<f64>::zeroed(device, n * n)?];
    device.finish()?;
    let start = Instant::now();
    let info = match routine {
        "heevd" => heevd(Triangle::Lower, Eigenvectors::With, MatMut::new(&mut a, layout)?, &mut values)?,
        "values" => heevd(Triangle::Lower, Eigenvectors::Without, MatMut::new(&mut a, layout)?, &mut values)?,
        "gesvd" => {
            let vectors =
                SingularVectors { u: MatMut::new(&mut u, layout)?, vt: MatMut::new(&mut vt, layout)? };
            gesvd(MatRef::new(&a, layout)?, &mut values, Some(vectors))?
        }
        _ => return Err(format!("{routine} is none of heevd, values, gesvd").into()),
    };
    let info = info.wait()?;
    device.finish()?;
    let time = start.elapsed();
    if info != 0 {
        return Err(format!("{routine} returned {info}").into());
    }
    let (u, vt) = if routine == "gesvd" { (u, Some(vt)) } else { (a, None) };
    Ok(Solution { time, values, u, vt })
}

/// Prints the stages and the kernels of what was recorded.
fn report(recorder: &Recorder) -> ExampleResult<()> {
    for record in recorder.take()? {
        let Some(first) = record.commands.first() else { continue };
        let begin = first.span.start;
        let ends = |names: &[&str]| {
            let of_name = || record.commands.iter().filter(|command| names.contains(&&*command.span.name));
            let start = of_name().map(|command| command.span.start).min();
            let end = of_name().map(|command| command.span.start + command.span.duration).max();
            start.zip(end)
        };
        let last = record.commands.iter().map(|command| command.span.start + command.span.duration).max();
        if let (Some((reduced_from, reduced)), Some((solved, _)), Some(last)) =
            (ends(&["reduce_panel", "update_column"]), ends(&["to_elements"]), last)
        {
            let stages = [
                ("before the reduction", begin, reduced_from),
                ("reduction", reduced_from, reduced),
                ("divide and conquer", reduced, solved),
                ("turning back and the rest", solved, last),
            ];
            for (name, from, to) in stages {
                let inside = |start: Duration| start >= from && start < to;
                let busy: Duration = record
                    .commands
                    .iter()
                    .filter(|command| inside(command.span.start))
                    .map(|command| command.span.duration)
                    .sum();
                let (span, busy) = (to.saturating_sub(from).as_secs_f64(), busy.as_secs_f64());
                println!("  {:9.3} ms, device busy {:9.3} ms: {name}", 1e3 * span, 1e3 * busy);
            }
        }
        list_kernels(&record);
        let mut waits = BTreeMap::<&str, (usize, Duration)>::new();
        for wait in &record.waits {
            let (count, time) = waits.entry(&wait.name).or_default();
            *count += 1;
            *time += wait.duration;
        }
        for (name, (count, time)) in waits {
            println!("  {:9.3} ms in {count:6} waits of the host: {name}", 1e3 * time.as_secs_f64());
        }
    }
    Ok(())
}
