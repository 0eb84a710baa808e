//! Which rows of a result are drawn, and how.

use super::chart::{Axis, Bar, Chart, Point, Series, bars};
use crate::bench::outcome::{Benchmark, MeasuredDevice, Outcome, Row};
use crate::bench::text::{parameter_values, significant, size};
use serde_json::Value;

/// The plots of one device.
pub fn of_device(outcome: &Outcome, number: usize) -> String {
    let device = &outcome.devices[number];
    let rows: Vec<&Row> = outcome.rows.iter().filter(|row| row.device == Some(number)).collect();
    [roofline(device, &rows), bandwidth(device, &rows), gemm(device, &rows), ladder(device, &rows)].concat()
}

fn point(x: f64, y: f64, row: &Row) -> Point {
    let title = format!("{} {}: {}", row.kernel, parameter_values(&row.parameters), significant(y));
    Point { x, y, title }
}

/// Floating-point operations per byte, and per second: below what memory and arithmetic allow.
fn roofline(device: &MeasuredDevice, rows: &[&Row]) -> String {
    let mut series = Vec::new();
    for benchmark in [Benchmark::Blas, Benchmark::Gemm, Benchmark::Stencil, Benchmark::Ladder] {
        let points: Vec<Point> = rows
            .iter()
            .filter(|row| row.benchmark == benchmark && row.bytes > 0 && row.flops > 0)
            .filter_map(|row| Some(point(row.flops as f64 / row.bytes as f64, row.gflops?, row)))
            .collect();
        if !points.is_empty() {
            series.push(Series { name: benchmark.to_string(), points, line: false, marks: true });
        }
    }
    let intensities = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (low, high) = (intensities().fold(f64::MAX, f64::min), intensities().fold(0.0, f64::max));
    if series.is_empty() {
        return String::new();
    }
    for (name, ceiling) in [("single", device.single), ("double", device.double)] {
        let Some(ceiling) = ceiling else { continue };
        let mut ceilings = vec![(format!("{name} precision"), ceiling.fma_gflops)];
        if let Some(units) = ceiling.matrix_gflops {
            ceilings.push((format!("{name} precision, matrix units"), units));
        }
        for (name, most) in ceilings {
            let ridge = most / device.memory_gb_s;
            let corners = [low, ridge, high.max(2.0 * ridge)];
            let points = corners
                .into_iter()
                .filter(|&x| x >= low)
                .map(|x| Point { x, y: most.min(x * device.memory_gb_s), title: String::new() })
                .collect();
            let name = format!(
                "ceiling: {} GB/s, {} GFLOP/s in {name}",
                significant(device.memory_gb_s),
                significant(most)
            );
            series.push(Series { name, points, line: true, marks: false });
        }
    }
    let x = Axis { label: "flops per byte (least traffic)".to_owned(), format: plain, step: None };
    let y = Axis { label: "GFLOP/s".to_owned(), format: plain, step: None };
    let title = "Roofline: what fits in a cache may lie above the line of the memory".to_owned();
    Chart { title, x, y, series }.html()
}

/// Streams in double precision by the size of an array, at the width of vectors that was tried at most sizes.
fn bandwidth(device: &MeasuredDevice, rows: &[&Row]) -> String {
    let streams: Vec<&&Row> = rows
        .iter()
        .filter(|row| {
            matches!(row.text("part"), Some("streams" | "host")) && row.text("precision") == Some("double")
        })
        .collect();
    let count = |variant: Option<&str>| streams.iter().filter(|row| row.text("variant") == variant).count();
    let variant =
        streams.iter().map(|row| row.text("variant")).max_by_key(|variant| count(*variant)).flatten();
    let mut series: Vec<Series> = Vec::new();
    for row in streams.iter().filter(|row| row.text("variant") == variant) {
        let Some((bytes, rate)) = row.parameter("array_bytes").and_then(Value::as_f64).zip(row.gb_s) else {
            continue;
        };
        let point = point(bytes, rate, row);
        match series.iter_mut().find(|series| series.name == row.kernel) {
            Some(series) => series.points.push(point),
            None => {
                series.push(Series { name: row.kernel.clone(), points: vec![point], line: true, marks: true })
            }
        }
    }
    let label = format!("bytes of one array; memory gives {} GB/s", significant(device.memory_gb_s));
    let x = Axis { label, format: |bytes| size(bytes.round() as u64), step: Some(16.0) };
    let y = Axis { label: "GB/s".to_owned(), format: plain, step: None };
    let title = format!("Bandwidth against size, double precision, {}", variant.unwrap_or_default());
    Chart { title, x, y, series }.html()
}

/// The fastest kernel at each size, for each element type.
fn gemm(device: &MeasuredDevice, rows: &[&Row]) -> String {
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(|row| row.benchmark == Benchmark::Gemm) {
        let n = row.parameter("n").and_then(Value::as_f64);
        let (Some(n), Some(rate), Some(element)) = (n, row.gflops, row.text("element")) else { continue };
        let place = series.iter().position(|series| series.name == element).unwrap_or_else(|| {
            series.push(Series { name: element.to_owned(), points: Vec::new(), line: true, marks: true });
            series.len() - 1
        });
        let points = &mut series[place].points;
        match points.iter_mut().find(|point| point.x == n) {
            Some(point) if point.y < rate => *point = self::point(n, rate, row),
            Some(_) => {}
            None => points.push(point(n, rate, row)),
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        series.name = format!("{}gemm", series.name);
    }
    let x = Axis { label: "n".to_owned(), format: |n| n.round().to_string(), step: Some(2.0) };
    let y = Axis { label: "GFLOP/s".to_owned(), format: plain, step: None };
    let title = format!("Products of n×n matrices on {}", device.label);
    Chart { title, x, y, series }.html()
}

fn ladder(device: &MeasuredDevice, rows: &[&Row]) -> String {
    let of = |part: &'static str| {
        rows.iter().filter(move |row| row.benchmark == Benchmark::Ladder && row.text("part") == Some(part))
    };
    let list: Vec<Bar> = of("iterations")
        .filter_map(|row| {
            let speed_up = row.details.get("speed_up")?.as_f64()?;
            let stencil = of("stencil").find(|other| other.kernel == row.kernel)?;
            let rate =
                stencil.gflops.map_or_else(String::new, |rate| format!(", {} GFLOP/s", significant(rate)));
            Some(Bar {
                name: format!("{}: {}", row.kernel, row.text("idea").unwrap_or_default()),
                value: speed_up,
                text: format!("{}×{rate}", significant(speed_up)),
            })
        })
        .collect();
    let what = of("iterations").next().map_or_else(String::new, |row| {
        let iterations = row.parameter("iterations").map_or_else(String::new, Value::to_string);
        format!("{iterations} iterations of Conjugate Residual on {}", row.text("dims").unwrap_or_default())
    });
    bars(
        &format!("Ladder: {what} on {}, over one thread of the host; GFLOP/s of the stencil", device.label),
        &list,
    )
}

/// A number on an axis.
fn plain(number: f64) -> String {
    if (1e-3..1e6).contains(&number) { number.to_string() } else { format!("{number:.0e}") }
}
