//! Plots that show all devices beside each other, one for each subject.

use super::Seen;
use super::axis::{Axis, is_shown, plain};
use super::bars::{Bar, Group, bars};
use super::chart::{Chart, Point, Series};
use crate::outcome::{Benchmark, Row};
use crate::text::{parameter_values, significant, size};
use serde_json::Value;

/// Rates above so many GFLOP/s are written in TFLOP/s.
const MANY_GFLOPS: f64 = 1e4;

/// Returns the plots that compare all devices.
pub fn html(devices: &[Seen<'_>]) -> String {
    [
        curve(
            devices,
            "Triad in double precision, by the size of one array",
            Quantity::Bytes,
            sizes(),
            |row| {
                let is_triad = row.kernel == "triad" && row.text("precision") == Some("double");
                let is_stream = matches!(row.text("part"), Some("streams" | "host"));
                Some((row.parameter("array_bytes")?.as_f64()?, row.gb_s?)).filter(|_| is_triad && is_stream)
            },
        ),
        curve(
            devices,
            "Vectors: axpy in double precision, by their length",
            Quantity::Bytes,
            lengths(),
            |row| {
                let is_axpy = row.benchmark == Benchmark::Blas && row.kernel == "axpy";
                let n = row.parameter("n")?.as_f64()?;
                Some((n, row.gb_s?)).filter(|_| is_axpy && row.text("element") == Some("d"))
            },
        ),
        curve(devices, "Transfers to the device from pinned memory", Quantity::Bytes, sizes(), |row| {
            let is_it = row.kernel == "to device" && row.text("variant") == Some("pinned");
            Some((row.parameter("array_bytes")?.as_f64()?, row.gb_s?)).filter(|_| is_it)
        }),
        curve(
            devices,
            "dgemm: products of n×n matrices in double precision",
            Quantity::Flops,
            extents(),
            |row| gemm(row, "d"),
        ),
        curve(
            devices,
            "sgemm: products of n×n matrices in single precision",
            Quantity::Flops,
            extents(),
            |row| gemm(row, "s"),
        ),
        curve(devices, "Hop of the Wilson operator in double precision", Quantity::Flops, sites(), |row| {
            let is_hop = row.benchmark == Benchmark::Stencil && row.kernel == "hop";
            let is_it = is_hop && row.text("precision") == Some("double") && is_one(row, "rhs");
            Some((sites_of(row)?, row.gflops?)).filter(|_| is_it)
        }),
        compared(devices, "Hop of the Wilson operator: other precisions and several fields", false, |row| {
            let is_hop = row.benchmark == Benchmark::Stencil && row.kernel == "hop";
            let is_other = row.text("precision") != Some("double") || !is_one(row, "rhs");
            let name = [row.text("dims")?, row.text("precision")?, &many(row, "rhs", "right-hand sides")];
            Some((join(&name), row.gflops?, rate(row.gflops?))).filter(|_| is_hop && is_other)
        }),
        compared(devices, "Time of one iteration of each method, double precision", true, |row| {
            let is_double = row.text("precision") == Some("double");
            let time = row.seconds()?.median;
            let sources = many(row, "sources", "sources at once");
            let name = [&row.kernel, row.text("preconditioning")?, row.text("dims")?, &sources];
            let is_it = row.benchmark == Benchmark::Solver && is_double;
            Some((join(&name), time, micro(time))).filter(|_| is_it)
        }),
        compared(devices, "Time of a launch of a kernel that does next to nothing", true, |row| {
            let time = row.seconds()?.median;
            let is_latency = row.text("part") == Some("latency");
            Some((row.text("variant")?.to_owned(), time, micro(time))).filter(|_| is_latency)
        }),
    ]
    .concat()
        + &TIMED.map(|(benchmark, title)| times(devices, benchmark, title)).concat()
}

/// Benchmarks whose rows are shown by their times alone.
const TIMED: [(Benchmark, &str); 8] = [
    (Benchmark::Factor, "Factorisations, by their times"),
    (Benchmark::Sparse, "Products with sparse matrices and solves, by their times"),
    (Benchmark::Fft, "Fourier transforms, by their times"),
    (Benchmark::Poisson, "Potentials of charge densities, by their times"),
    (Benchmark::Sums, "Several sums in one pass, by their times"),
    (Benchmark::Md, "Steps of particles, by their times"),
    (Benchmark::Xc, "Stages of an exchange-correlation energy, by their times"),
    (Benchmark::Measure, "Measurements of configurations, by their times"),
];

/// Plots the time of each row of a benchmark.
fn times(devices: &[Seen<'_>], benchmark: Benchmark, title: &str) -> String {
    compared(devices, title, true, |row| {
        let time = row.seconds()?.median;
        let name = join(&[&row.kernel, &parameter_values(&row.parameters)]);
        Some((name, time, micro(time))).filter(|_| row.benchmark == benchmark)
    })
}

/// Returns n and rate of a product of square matrices with elements of one type.
fn gemm(row: &Row, element: &str) -> Option<(f64, f64)> {
    let is_it = row.benchmark == Benchmark::Gemm && row.text("element") == Some(element);
    Some((row.parameter("n")?.as_f64()?, row.gflops?)).filter(|_| is_it)
}

/// The quantity on the y axis, per second.
#[derive(Clone, Copy)]
pub enum Quantity {
    Bytes,
    Flops,
}

impl Quantity {
    /// Returns the axis for some values in 10⁹ a second.
    pub fn axis(self, values: impl Iterator<Item = f64>) -> Axis {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        match self {
            Self::Bytes => Axis { label: "GB/s".to_owned(), format: plain, step: None },
            Self::Flops if most > MANY_GFLOPS => {
                Axis { label: "TFLOP/s".to_owned(), format: |gflops| plain(gflops / 1e3), step: None }
            }
            Self::Flops => Axis { label: "GFLOP/s".to_owned(), format: plain, step: None },
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Self::Bytes => format!("{} GB/s", significant(value)),
            Self::Flops => rate(value),
        }
    }
}

/// Writes a rate with its unit.
pub fn rate(gflops: f64) -> String {
    match gflops > MANY_GFLOPS {
        true => format!("{} TFLOP/s", significant(gflops / 1e3)),
        false => format!("{} GFLOP/s", significant(gflops)),
    }
}

/// Writes a time in microseconds.
pub fn micro(seconds: f64) -> String {
    format!("{} µs", significant(seconds * 1e6))
}

/// Makes a point with the text that is shown when the pointer is on its mark.
pub fn point(x: f64, y: f64, quantity: Quantity, row: &Row) -> Point {
    let title = format!("{} {}: {}", row.kernel, parameter_values(&row.parameters), quantity.text(y));
    Point { x, y, title }
}

/// Returns the x axis for bytes of an array.
pub fn sizes() -> Axis {
    let format = |bytes: f64| size(bytes.round() as u64);
    Axis { label: "bytes of one array".to_owned(), format, step: Some(4.0) }
}

/// Returns the x axis for extents of matrices.
pub fn extents() -> Axis {
    Axis { label: "n".to_owned(), format: plain, step: Some(2.0) }
}

fn lengths() -> Axis {
    Axis { label: "elements".to_owned(), format: plain, step: None }
}

fn sites() -> Axis {
    Axis { label: "sites of the lattice".to_owned(), format: plain, step: None }
}

fn sites_of(row: &Row) -> Option<f64> {
    row.text("dims")?.split('x').map(|extent| extent.parse::<f64>().ok()).product()
}

fn is_one(row: &Row, name: &str) -> bool {
    row.parameter(name).is_none_or(|value| value.as_u64() == Some(1))
}

/// Writes the number of something, if it is more than one.
fn many(row: &Row, name: &str, what: &str) -> String {
    let number = row.parameter(name).and_then(Value::as_u64);
    number.filter(|&number| number > 1).map_or_else(String::new, |number| format!("{number} {what}"))
}

fn join(words: &[&str]) -> String {
    words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// Returns the best value of each x, in ascending order.
pub fn best_points<'r>(
    rows: impl Iterator<Item = &'r Row>,
    quantity: Quantity,
    value: impl Fn(&Row) -> Option<(f64, f64)>,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for row in rows {
        let Some((x, y)) = value(row).filter(|&(x, y)| is_shown(x) && is_shown(y)) else { continue };
        match points.iter_mut().find(|point| point.x == x) {
            Some(point) if point.y < y => *point = self::point(x, y, quantity, row),
            Some(_) => {}
            None => points.push(point(x, y, quantity, row)),
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

/// Plots one line for each device.
///
/// Devices measured at one place only are compared in bars instead.
fn curve(
    devices: &[Seen<'_>],
    title: &str,
    quantity: Quantity,
    x: Axis,
    value: impl Fn(&Row) -> Option<(f64, f64)>,
) -> String {
    let mut series = Vec::new();
    for (style, device) in devices.iter().enumerate() {
        let points = best_points(device.rows.iter().copied(), quantity, &value);
        if !points.is_empty() {
            series.push(Series { name: device.name.clone(), style, points, line: true });
        }
    }
    let points = || series.iter().flat_map(|series| &series.points);
    let Some(first) = points().next().map(|point| point.x) else { return String::new() };
    if points().all(|point| point.x == first) {
        let name = format!("{}: {}", x.label, (x.format)(first));
        let bar = |series: &Series| {
            let Point { y, title, .. } = series.points.first()?;
            let (name, text, title) = (series.name.clone(), quantity.text(*y), title.clone());
            Some(Bar { name, style: series.style, value: *y, text, title })
        };
        return bars(title, &[Group { name, bars: series.iter().filter_map(bar).collect() }]);
    }
    let y = quantity.axis(points().map(|point| point.y));
    Chart { title: title.to_owned(), x, y, series, limits: Vec::new() }.html()
}

/// Plots groups of bars, one bar for each device.
///
/// A bar shows the device's best value of all rows with one name.
fn compared(
    devices: &[Seen<'_>],
    title: &str,
    less_is_better: bool,
    value: impl Fn(&Row) -> Option<(String, f64, String)>,
) -> String {
    let mut groups: Vec<Group> = Vec::new();
    for (style, device) in devices.iter().enumerate() {
        for row in &device.rows {
            let Some((name, value, text)) = value(row).filter(|found| is_shown(found.1)) else { continue };
            let place = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
                groups.push(Group { name, bars: Vec::new() });
                groups.len() - 1
            });
            let title = format!("{} {}: {text}", row.kernel, parameter_values(&row.parameters));
            let bar = Bar { name: device.name.clone(), style, value, text, title };
            let group = &mut groups[place].bars;
            match group.iter_mut().find(|other| other.style == style) {
                Some(other) if (value < other.value) == less_is_better => *other = bar,
                Some(_) => {}
                None => group.push(bar),
            }
        }
    }
    let title = match less_is_better {
        true => format!("{title} (less is better)"),
        false => title.to_owned(),
    };
    bars(&title, &groups)
}
