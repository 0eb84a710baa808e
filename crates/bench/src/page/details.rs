//! Plots of one device: its roofline, all streams, all products, its ladder.

use super::Seen;
use super::axis::{Axis, is_shown, plain};
use super::bars::{Bar, Group, bars};
use super::chart::{Chart, Limit, Point, Series};
use super::subjects::{Quantity, best_points, extents, point, rate, sizes};
use crate::outcome::{Benchmark, Row};
use crate::text::significant;
use serde_json::Value;

/// Returns the plots of one device.
pub fn html(device: &Seen<'_>) -> String {
    [roofline(device), bandwidth(device), gemm(device), ladder(device)].concat()
}

/// Plots the roofline: operations per second over operations per byte.
///
/// Memory and arithmetic limit the points from above.
fn roofline(device: &Seen<'_>) -> String {
    let mut series = Vec::new();
    for (style, benchmark) in
        [Benchmark::Blas, Benchmark::Gemm, Benchmark::Stencil, Benchmark::Ladder].into_iter().enumerate()
    {
        let rows =
            device.rows.iter().filter(|row| row.benchmark == benchmark && row.bytes > 0 && row.flops > 0);
        let points: Vec<Point> = rows
            .filter_map(|row| {
                Some(point(row.flops as f64 / row.bytes as f64, row.gflops?, Quantity::Flops, row))
            })
            .filter(|point| is_shown(point.x) && is_shown(point.y))
            .collect();
        if !points.is_empty() {
            series.push(Series { name: benchmark.to_string(), style, points, line: false });
        }
    }
    let intensities = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (low, high) = (intensities().fold(f64::MAX, f64::min), intensities().fold(0.0, f64::max));
    let memory = device.measured.memory_gb_s;
    let mut ceilings = Vec::new();
    for (name, ceiling) in [("single", device.measured.single), ("double", device.measured.double)] {
        let Some(ceiling) = ceiling else { continue };
        ceilings.push((name.to_owned(), ceiling.fma_gflops));
        ceilings.extend(ceiling.matrix_gflops.map(|units| (format!("{name}, matrix units"), units)));
    }
    ceilings.retain(|(_, most)| is_shown(*most) && is_shown(memory));
    let highest = ceilings.iter().map(|(_, most)| *most).fold(0.0, f64::max);
    let right = high.max(4.0 * highest / memory);
    let mut limits = Vec::new();
    for (name, most) in ceilings {
        let points = vec![((most / memory).max(low), most), (right, most)];
        limits.push(Limit { name: format!("{name}: {}", rate(most)), points, named_at_start: false });
    }
    if is_shown(memory) {
        let end = if highest > 0.0 { highest / memory } else { high };
        limits.push(Limit {
            name: format!("memory: {} GB/s", significant(memory)),
            points: vec![(low, low * memory), (end.max(low), end.max(low) * memory)],
            named_at_start: true,
        });
    }
    let heights = series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let y = Quantity::Flops.axis(heights.chain([highest]));
    let x = Axis { label: "flops per byte (least traffic)".to_owned(), format: plain, step: None };
    let title = "Roofline: what fits in a cache may lie above the line of the memory".to_owned();
    Chart { title, x, y, series, limits }.html()
}

/// Plots streams in double precision by the size of an array.
///
/// The width of vectors is the one that was tried at most sizes.
fn bandwidth(device: &Seen<'_>) -> String {
    let streams: Vec<&Row> = device
        .rows
        .iter()
        .copied()
        .filter(|row| {
            matches!(row.text("part"), Some("streams" | "host")) && row.text("precision") == Some("double")
        })
        .collect();
    let count = |variant: Option<&str>| streams.iter().filter(|row| row.text("variant") == variant).count();
    let variant =
        streams.iter().map(|row| row.text("variant")).max_by_key(|variant| count(*variant)).flatten();
    let mut kernels: Vec<&str> = Vec::new();
    for row in &streams {
        if !kernels.contains(&row.kernel.as_str()) {
            kernels.push(&row.kernel);
        }
    }
    let series: Vec<Series> = kernels
        .into_iter()
        .enumerate()
        .map(|(style, kernel)| {
            let rows = streams.iter().copied();
            let rows = rows.filter(|row| row.kernel == kernel && row.text("variant") == variant);
            let points = best_points(rows, Quantity::Bytes, |row| {
                Some((row.parameter("array_bytes")?.as_f64()?, row.gb_s?))
            });
            Series { name: kernel.to_owned(), style, points, line: true }
        })
        .collect();
    let y = Quantity::Bytes.axis(std::iter::empty());
    let title = format!("Streams in double precision, {}", variant.unwrap_or_default());
    Chart { title, x: sizes(), y, series, limits: Vec::new() }.html()
}

/// Plots the fastest kernel at each size, for each element type.
fn gemm(device: &Seen<'_>) -> String {
    let mut series = Vec::new();
    for (style, element) in ["s", "d", "c", "z"].into_iter().enumerate() {
        let rows = device.rows.iter().copied();
        let rows =
            rows.filter(|row| row.benchmark == Benchmark::Gemm && row.text("element") == Some(element));
        let points =
            best_points(rows, Quantity::Flops, |row| Some((row.parameter("n")?.as_f64()?, row.gflops?)));
        if !points.is_empty() {
            series.push(Series { name: format!("{element}gemm"), style, points, line: true });
        }
    }
    let heights = series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let y = Quantity::Flops.axis(heights);
    let title = "Products of n×n matrices in all types of elements".to_owned();
    Chart { title, x: extents(), y, series, limits: Vec::new() }.html()
}

fn ladder(device: &Seen<'_>) -> String {
    let of = |part: &'static str| {
        let rows = device.rows.iter();
        rows.filter(move |row| row.benchmark == Benchmark::Ladder && row.text("part") == Some(part))
    };
    let list: Vec<Bar> = of("iterations")
        .filter_map(|row| {
            let speed_up = row.details.get("speed_up")?.as_f64()?;
            let stencil = of("stencil").find(|other| other.kernel == row.kernel)?;
            let rate = stencil.gflops.map_or_else(String::new, |gflops| format!(", {}", rate(gflops)));
            let name = format!("{}: {}", row.kernel, row.text("idea").unwrap_or_default());
            let text = format!("{}×{rate}", significant(speed_up));
            Some(Bar { title: format!("{name}: {text}"), name, style: 0, value: speed_up, text })
        })
        .collect();
    let what = of("iterations").next().map_or_else(String::new, |row| {
        let iterations = row.parameter("iterations").map_or_else(String::new, Value::to_string);
        format!("{iterations} iterations of Conjugate Residual on {}", row.text("dims").unwrap_or_default())
    });
    let title =
        format!("Ladder: {what}, times as fast as one thread of the host, and the rate of the stencil");
    bars(&title, &[Group { name: String::new(), bars: list }])
}
