//! The most important figures, in a box for each device.

use super::Seen;
use super::subjects::{micro, rate};
use crate::outcome::{Benchmark, Row};
use crate::text::significant;
use lattice_cli::page::escaped;
use std::fmt::Write;

/// One figure with its name and subject.
struct Figure {
    name: &'static str,
    value: String,
    about: String,
}

/// Returns a box for each device.
pub fn html(devices: &[Seen<'_>]) -> String {
    let mut html = "<div class=\"boxes\">\n".to_owned();
    for device in devices {
        let _ = write!(html, "<section class=\"headline\"><h2>{}</h2><dl>", escaped(&device.name));
        for Figure { name, value, about } in figures(device) {
            let (value, about) = (escaped(&value), escaped(&about));
            let _ = write!(html, "<div><dt>{name}</dt><dd><b>{value}</b> <small>{about}</small></dd></div>");
        }
        html += "</dl></section>\n";
    }
    html + "</div>\n"
}

/// Returns the measured figures of the triad, dgemm, the hop, CG and the launch.
fn figures(device: &Seen<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let triad = device.measured.triad_gb_s;
    if triad > 0.0 && triad.is_finite() {
        let (value, about) = (format!("{} GB/s", significant(triad)), "not in a cache".to_owned());
        figures.push(Figure { name: "Triad", value, about });
    }
    let text = |row: &Row, name: &str| row.text(name).unwrap_or_default().to_owned();
    let rated = |is_it: fn(&Row) -> bool| {
        let rows = device.rows.iter().filter(|row| is_it(row));
        rows.filter_map(|row| Some((*row, row.gflops?))).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((row, gflops)) =
        rated(|row| row.benchmark == Benchmark::Gemm && row.text("element") == Some("d"))
    {
        let n = row.parameter("n").map(|n| format!("n = {n}"));
        let about = n.unwrap_or_else(|| text(row, "extents"));
        figures.push(Figure { name: "dgemm", value: rate(gflops), about });
    }
    if let Some((row, gflops)) = rated(|row| {
        let is_one = row.parameter("rhs").is_none_or(|rhs| rhs.as_u64() == Some(1));
        let is_double = row.text("precision") == Some("double");
        row.benchmark == Benchmark::Stencil && row.kernel == "hop" && is_double && is_one
    }) {
        figures.push(Figure { name: "Hop in double", value: rate(gflops), about: text(row, "dims") });
    }
    let timed = |is_it: fn(&Row) -> bool| {
        let rows = device.rows.iter().filter(|row| is_it(row));
        rows.filter_map(|row| Some((*row, row.seconds()?.median))).min_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((row, seconds)) = timed(|row| {
        row.benchmark == Benchmark::Solver && row.kernel == "cg" && row.text("precision") == Some("double")
    }) {
        let about = format!("{}, preconditioning: {}", text(row, "dims"), text(row, "preconditioning"));
        figures.push(Figure { name: "Iteration of CG", value: micro(seconds), about });
    }
    if let Some((row, seconds)) = timed(|row| row.text("part") == Some("latency") && row.kernel == "launch") {
        figures.push(Figure { name: "Launch", value: micro(seconds), about: text(row, "variant") });
    }
    figures
}
