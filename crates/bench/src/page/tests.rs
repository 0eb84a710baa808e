//! Tests of the page, with results that are made here.

use super::*;
use crate::machine::Machine;
use crate::outcome::{Benchmark, Samples, Subject};
use roxmltree::{Document, Node};

/// Benchmarks that are shown by the times of their rows.
const TIMED: [Benchmark; 8] = [
    Benchmark::Factor,
    Benchmark::Sparse,
    Benchmark::Fft,
    Benchmark::Poisson,
    Benchmark::Sums,
    Benchmark::Md,
    Benchmark::Xc,
    Benchmark::Measure,
];

#[test]
fn a_result_of_each_benchmark_has_a_plot() {
    let whole = run("a machine", "a device", 1.0);
    let all: Vec<Benchmark> = whole.rows.iter().map(|row| row.benchmark).collect();
    assert!(TIMED.iter().all(|benchmark| all.contains(benchmark)));
    for benchmark in all {
        let rows = whole.rows.iter().filter(|row| row.benchmark == benchmark).cloned().collect();
        let html = page(&[BenchmarkRun { rows, ..whole.clone() }]);
        assert!(html.contains("<svg") || html.contains("class=\"bars"), "{benchmark}");
    }
}

fn row(subject: Subject, seconds: f64) -> Row {
    Row::new(subject, Samples { event: vec![seconds], wall: vec![seconds] }).unwrap()
}

/// Makes a result with a little of everything.
///
/// The device is `speed` times as fast as the slowest.
fn run(machine: &str, label: &str, speed: f64) -> BenchmarkRun {
    let subject = |benchmark, kernel: &str| Subject::new(benchmark, kernel).on(0);
    let mut rows = Vec::new();
    for (power, size) in [1u64 << 14, 1 << 20, 1 << 26].into_iter().enumerate() {
        for kernel in ["copy", "triad"] {
            let stream = subject(Benchmark::Bandwidth, kernel).bytes(3 * size).with("part", "streams");
            let stream = stream.with("variant", "vectors of 2").with("precision", "double");
            rows.push(row(stream.with("array_bytes", size), size as f64 / (10.0 * speed * 1e9)));
        }
        let n = 256 << power;
        for element in ["s", "d"] {
            let product = subject(Benchmark::Gemm, "registers").bytes(24 * n * n).flops(2 * n * n * n);
            let product = product.with("element", element).with("n", n).with("ops", "NN");
            rows.push(row(product, (2 * n * n * n) as f64 / (100.0 * speed * (1 + power) as f64 * 1e9)));
        }
    }
    for precision in ["double", "half"] {
        let hop = subject(Benchmark::Stencil, "hop").bytes(1 << 20).flops(1 << 20);
        let hop =
            hop.with("dims", "16x16x16x32").with("precision", precision).with("links", 12).with("rhs", 1);
        rows.push(row(hop, (1u64 << 20) as f64 / (5.0 * speed * 1e9)));
    }
    for method in ["cg", "bicgstab"] {
        let solve = subject(Benchmark::Solver, method).bytes(1).flops(1).by_the_wall();
        let solve = solve.with("dims", "16x16x16x32").with("precision", "double");
        rows.push(row(solve.with("preconditioning", "even-odd"), 1234e-6 / speed));
    }
    for benchmark in TIMED {
        for kernel in ["work", "other work"] {
            let subject = subject(benchmark, kernel).bytes(1 << 20).with("extents", "64x64x64");
            rows.push(row(subject, 1e-3 / speed));
        }
    }
    let launch =
        subject(Benchmark::Bandwidth, "launch").with("part", "latency").with("variant", "200 in a row");
    rows.push(row(launch.unlimited(), 7.5e-6));
    let arithmetic = ArithmeticCeiling { fma_gflops: 600.0 * speed, matrix_gflops: Some(610.0 * speed) };
    BenchmarkRun {
        date: "2026-11-21".to_owned(),
        time: Some("14:03:22".to_owned()),
        machine: Some(Machine {
            name: machine.to_owned(),
            processor: "a processor".to_owned(),
            threads: 2,
            system: "a system".to_owned(),
        }),
        devices: vec![MeasuredDevice {
            label: format!("0.0 {label} (a platform)"),
            kind: "gpu".to_owned(),
            platform: "a platform".to_owned(),
            double: Some(arithmetic),
            single: Some(arithmetic),
            ..MeasuredDevice::host(25.0 * speed)
        }],
        rows,
        ..BenchmarkRun::new(true)
    }
}

fn parsed(page: &str) -> Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    Document::parse_with_options(page, options).unwrap()
}

fn of_class<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|name| name == class))
    };
    node.descendants().filter(has).collect()
}

fn text(node: Node) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

fn figures<'a>(node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|node| node.has_tag_name("figure")).collect()
}

#[test]
fn a_page_is_well_formed_whatever_is_in_it() {
    let subject =
        |kernel: &str| Subject::new(Benchmark::Blas, kernel).bytes(1000).flops(1000).with("n", "<>&\"");
    let of_host = |kernel: &str, seconds| row(subject(kernel).on(0), seconds);
    let rows = vec![of_host("axpy <&>", 1e-3), of_host("\"", 1e-4), row(subject("all"), 1e-3)];
    let mut outcome = BenchmarkRun {
        command: vec!["bench".to_owned(), "<all>".to_owned()],
        machine: Some(Machine { name: "<node>".to_owned(), ..Machine::here() }),
        complete: false,
        devices: vec![MeasuredDevice::host(10.0)],
        rows,
        ..BenchmarkRun::new(true)
    };
    for rows in [3, 2, 1, 0] {
        outcome.rows.truncate(rows);
        let page = page(&[outcome.clone()]);
        let document = parsed(&page);
        // A single dot does not make a roofline.
        assert_eq!(figures(document.root()).len(), usize::from(rows >= 2));
        assert!(page.contains("Interrupted"));
    }
    parsed(&page(&[]));
}

#[test]
fn two_devices_are_beside_each_other_in_one_plot_a_subject() {
    let page = page(&[run("one", "slow", 1.0), run("two", "fast", 100.0)]);
    let document = parsed(&page);
    let boxes: Vec<String> = of_class(document.root(), "headline").into_iter().map(text).collect();
    assert_eq!(boxes.len(), 2);
    let wanted = [
        ["0.0 slow", "25.0 GB/s", "300 GFLOP/s", "5.00 GFLOP/s", "1234 µs", "7.50 µs"],
        ["0.0 fast", "2500 GB/s", "30.0 TFLOP/s", "500 GFLOP/s", "12.3 µs", "7.50 µs"],
    ];
    for (found, wanted) in boxes.iter().zip(wanted) {
        assert!(wanted.iter().all(|words| found.contains(words)), "{wanted:?} are not all in {found}");
    }
    let subjects = figures(of_class(document.root(), "subjects")[0]);
    // Triad, dgemm and sgemm; hops in two precisions, iterations and launches; times.
    assert_eq!(subjects.len(), 3 + 4 + TIMED.len());
    for figure in &subjects {
        let words = text(*figure);
        assert!(words.contains("0.0 slow") && words.contains("0.0 fast"), "{words}");
        for svg in [of_class(*figure, "broad"), of_class(*figure, "narrow")].concat() {
            let looks: Vec<&str> =
                of_class(svg, "line").iter().map(|line| line.attribute("class").unwrap()).collect();
            assert_eq!(looks, ["line c0 d0", "line c1 d1"], "colours and dashes differ");
        }
    }
    assert_eq!(of_class(document.root(), "device").len(), 2);
    for known in ["one", "two", "a processor (2 threads)", "a system", "14:03:22 UTC"] {
        assert!(text(document.root()).contains(known), "{known}");
    }
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href="));
}

#[test]
fn axes_have_three_ticks_and_high_rates_are_in_tflops() {
    for speed in [1.0, 100.0, 3000.0] {
        let page = page(&[run("one", "device", speed)]);
        let document = parsed(&page);
        let mut drawings = 0;
        for figure in figures(document.root()) {
            for svg in [of_class(figure, "broad"), of_class(figure, "narrow")].concat() {
                for axis in ["x", "y"] {
                    let ticks = of_class(svg, "tick");
                    let ticks = ticks.iter().filter(|tick| of_class(**tick, axis).first() == Some(*tick));
                    let texts: std::collections::BTreeSet<String> = ticks.map(|tick| text(*tick)).collect();
                    assert!(texts.len() >= axis::FEWEST_TICKS, "{axis}: {texts:?}");
                    // A rate on an axis has four digits at most.
                    assert!(axis == "x" || texts.iter().all(|tick| tick.len() <= 5), "{texts:?}");
                }
                assert!(of_class(svg, "mark").len() >= 2, "a plot of one point");
                assert_eq!(
                    of_class(svg, "label")
                        .iter()
                        .filter(|label| text(**label).ends_with(", log scale"))
                        .count(),
                    2
                );
                drawings += 1;
            }
        }
        assert_eq!(drawings, 2 * (3 + 3));
        assert_eq!(page.contains("TFLOP/s, log scale"), speed > 1.0);
    }
}

#[test]
fn ceilings_are_one_number_a_row_and_lines_that_differ() {
    let page = page(&[run("one", "device", 100.0)]);
    let document = parsed(&page);
    let table = of_class(document.root(), "ceilings")[0];
    let rows: Vec<String> = table.descendants().filter(|node| node.has_tag_name("tr")).map(text).collect();
    for row in
        ["Triad2500 GB/s", "Double precision60.0 TFLOP/s", "Double precision, matrix units61.0 TFLOP/s"]
    {
        assert!(rows.iter().any(|found| found == row), "{row} is not in {rows:?}");
    }
    let cells = |row: Node| row.children().filter(Node::is_element).count();
    assert!(table.descendants().filter(|node| node.has_tag_name("tr")).all(|row| cells(row) <= 2));
    // There are a memory limit and two ceilings in each of two precisions. Every name stands alone,
    // and its line has dashes of its own.
    for class in ["broad", "narrow"] {
        let svg =
            of_class(document.root(), class).into_iter().find(|svg| !of_class(*svg, "limit").is_empty());
        let svg = svg.unwrap();
        assert_eq!(of_class(svg, "limit").len(), 5);
        let number = |node: &Node, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let mut heights: Vec<f64> =
            of_class(svg, "limit-name").iter().map(|name| number(name, "y")).collect();
        assert_eq!(heights.len(), 5);
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= 12.0), "{heights:?}");
    }
}

#[test]
fn devices_with_one_name_are_told_apart() {
    let names = |runs: &[BenchmarkRun]| {
        let joined = Joined::of(runs).unwrap();
        seen(&joined).into_iter().map(|device| device.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[run("one", "a", 1.0), run("two", "b", 1.0)]), ["0.0 a", "0.0 b"]);
    assert_eq!(names(&[run("one", "a", 1.0), run("two", "a", 1.0)]), ["0.0 a, one", "0.0 a, two"]);
    let mut twice = run("", "a", 1.0);
    twice.devices.push(twice.devices[0].clone());
    assert_eq!(names(&[twice]), ["0.0 a, 1", "0.0 a, 2"]);
}
