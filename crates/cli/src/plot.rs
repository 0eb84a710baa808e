//! Plots as SVG.
//!
//! The viewer's fonts draw the text, so the machine that computes needs no fonts. A file appears
//! under its name only when the file is complete.

mod lines;
mod slice;

pub use lines::{lines, powers};
pub use slice::{Slice, slice};

use crate::failure::{Failure, Status};
use crate::report::Report;
use lattice_cl::io;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Reasons why there is no plot.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// No value is left to show.
    ///
    /// Every value is missing, not finite, or not positive on a logarithmic axis.
    #[error("there is nothing to plot for `{title}`: no value is finite and positive")]
    NothingToShow {
        /// The title of the plot.
        title: String,
    },
    /// The drawing library failed.
    #[error("`{title}` cannot be drawn")]
    Drawing {
        /// The title of the plot.
        title: String,
        /// Error of the drawing library.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file cannot be written.
    #[error("the plot {path} cannot be written", path = path.display())]
    Write {
        /// The file asked for.
        path: PathBuf,
        /// Error of the system.
        source: Box<io::Error>,
    },
}

/// A plot, as SVG.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    svg: String,
}

impl Plot {
    /// Returns the text of the SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Writes the plot to a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        io::write_file(path, self.svg.as_bytes())
            .map_err(|source| PlotError::Write { path: path.to_owned(), source: Box::new(source) })
    }
}

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points (x, y), from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Marks in a plot of residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marks {
    /// A line at the wanted residual.
    pub tolerance: Option<f64>,
    /// A point for ‖b − M x‖ / ‖b‖ of the solution, at the last iteration.
    pub true_residual: Option<f64>,
}

/// Size of a plot: half as wide as a page.
///
/// Text can still be read if a plot is shown 400 pixels wide.
const SIZE: (u32, u32) = (600, 560);
const TEXT: (&str, u32) = ("sans-serif", 21);
const HEADING: (&str, u32) = ("sans-serif", 22);
/// Height of a row of text.
const ROW: i32 = 24;
/// Most letters of a title that fit in a row.
const MOST_LETTERS: usize = 56;
/// Colours that stay apart for colour-blind eyes and in grey.
///
/// Source: M. Okabe and K. Ito, 2008.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Draws relative residuals ‖r‖/‖b‖ against the iteration, on a logarithmic axis.
///
/// Points that a logarithmic axis cannot show (zero, negative, not finite) are left out.
///
/// # Errors
/// When no point is left, or drawing fails.
pub fn residual_history(title: &str, series: &[Series], marks: Marks) -> Result<Plot, PlotError> {
    let lines: Vec<_> = series.iter().map(|line| (line.name.as_str(), logarithms(&line.points))).collect();
    let all: Vec<_> = lines.iter().flat_map(|(_, points)| points.iter().copied()).collect();
    let mark = |value: Option<f64>| value.map(f64::log10).filter(|value| value.is_finite());
    let (tolerance, true_residual) = (mark(marks.tolerance), mark(marks.true_residual));
    let heights = all.iter().map(|p| p.1).chain(tolerance).chain(true_residual);
    let (Some(iterations), Some(decades)) = (range(all.iter().map(|p| p.0)), range(heights)) else {
        return Err(PlotError::NothingToShow { title: title.to_owned() });
    };
    draw(title, |area| {
        let area = &titled(area, title)?;
        // The legend stands above the plot, because a curve may be anywhere within the plot.
        let rows = lines.len() + usize::from(tolerance.is_some()) + usize::from(true_residual.is_some());
        let (legend, area) = area.split_vertically(ROW * rows as i32);
        let mut rows = (0..).map(|row| ROW * row + ROW / 2);
        let mut named = |name: &str| {
            let y = rows.next().unwrap_or_default();
            let style = TextStyle::from(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
            legend.draw(&Text::new(name.to_owned(), (56, y), style)).map(|()| y)
        };
        let (left, right) = (0f64.min(iterations.0), iterations.1.max(1.0));
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(54)
            .y_label_area_size(92)
            .build_cartesian_2d(left..right, Decades::covering(decades))?;
        chart
            .configure_mesh()
            .x_desc("iteration")
            .y_desc("relative residual ‖r‖ / ‖b‖")
            .x_labels(6)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_max_light_lines(1)
            .x_max_light_lines(1)
            .label_style(TEXT)
            .draw()?;
        for (k, (name, points)) in lines.iter().enumerate() {
            let style = COLOURS[k % COLOURS.len()].stroke_width(2);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            let y = named(name)?;
            legend.draw(&PathElement::new([(16, y), (44, y)], style))?;
        }
        if let Some(level) = tolerance {
            let style = BLACK.mix(0.6).stroke_width(1);
            chart.draw_series(DashedLineSeries::new([(left, level), (right, level)], 6, 4, style))?;
            let y = named("tolerance")?;
            for from in [16, 26, 36] {
                legend.draw(&PathElement::new([(from, y), (from + 6, y)], style))?;
            }
        }
        if let Some(level) = true_residual {
            let style = COLOURS[1].stroke_width(2);
            chart.draw_series([Cross::new((iterations.1, level), 6, style)])?;
            let y = named("true residual of the solution")?;
            legend.draw(&Cross::new((30, y), 6, style))?;
        }
        Ok(())
    })
}

/// Draws a correlator C(n) on a logarithmic axis, and the effective mass below.
///
/// The effective mass a·m(n) is drawn where it is known. C(n) and a·m(n) are indexed by the
/// separation n in units of the lattice spacing a. Values that cannot be shown, and effective
/// masses that are NaN, are left out.
///
/// # Errors
/// When no value of the correlator is left, or drawing fails.
pub fn correlator(title: &str, values: &[f64], effective_mass: &[f64]) -> Result<Plot, PlotError> {
    correlator_with_errors(title, values, effective_mass, &[], None)
}

/// A mass that was fitted, in units of the inverse lattice spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassBand {
    /// The first separation of the fit.
    pub first: usize,
    /// The last separation of the fit.
    pub last: usize,
    /// The mass.
    pub mass: f64,
    /// Its error.
    pub error: f64,
}

/// Draws a correlator like [`correlator`], with errors of the effective masses and a fitted mass.
///
/// The fit is a band of its error over its range.
///
/// # Errors
/// Fails like [`correlator`].
pub fn correlator_with_errors(
    title: &str,
    values: &[f64],
    effective_mass: &[f64],
    errors: &[f64],
    band: Option<MassBand>,
) -> Result<Plot, PlotError> {
    let points = logarithms(&by_index(values));
    let masses: Vec<_> = by_index(effective_mass).into_iter().filter(|p| p.1.is_finite()).collect();
    let Some(decades) = range(points.iter().map(|p| p.1)) else {
        return Err(PlotError::NothingToShow { title: title.to_owned() });
    };
    let separations = -0.5..values.len().max(effective_mass.len()) as f64 - 0.5;
    draw(title, |area| {
        let area = titled(area, title)?;
        let missing = without_mass(effective_mass);
        let (_, height) = area.dim_in_pixel();
        let note = if missing.is_some() { ROW } else { 0 };
        let (area, foot) = area.split_vertically(height as i32 - note);
        let (upper, lower) = area.split_vertically((height as i32 - note) * 11 / 20);

        let mut chart = ChartBuilder::on(&upper)
            .margin(12)
            .x_label_area_size(30)
            .y_label_area_size(86)
            .build_cartesian_2d(separations.clone(), Decades::covering(decades))?;
        chart
            .configure_mesh()
            .x_labels(values.len().clamp(2, 12))
            .x_label_formatter(&|n| format!("{n:.0}"))
            .y_desc("correlator C(n)")
            .y_max_light_lines(1)
            .x_max_light_lines(1)
            .label_style(TEXT)
            .draw()?;
        chart.draw_series(LineSeries::new(points.iter().copied(), COLOURS[0].stroke_width(1)))?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, COLOURS[0].filled())))?;

        let bars: Vec<[(f64, f64); 2]> = by_index(effective_mass)
            .into_iter()
            .zip(errors)
            .map(|((n, mass), error)| [(n, mass - error), (n, mass + error)])
            .filter(|bar| bar.iter().all(|end| end.1.is_finite()))
            .collect();
        let band = band.map(|MassBand { first, last, mass, error }| {
            [(first as f64, mass - error), (last as f64, mass + error)]
        });
        let shown = masses.iter().chain(bars.iter().flatten()).chain(band.iter().flatten()).map(|p| p.1);
        let (low, high) = range(shown).unwrap_or((0.0, 1.0));
        let room = 0.1 * (high - low).max(0.1 * high.abs()).max(1e-3);
        let mut chart = ChartBuilder::on(&lower)
            .margin(12)
            .x_label_area_size(54)
            .y_label_area_size(86)
            .build_cartesian_2d(separations, low - room..high + room)?;
        chart
            .configure_mesh()
            .x_labels(values.len().clamp(2, 12))
            .x_label_formatter(&|n| format!("{n:.0}"))
            .x_desc("separation n (lattice spacings)")
            .y_desc("effective mass a·m(n)")
            .y_labels(6)
            .y_max_light_lines(1)
            .x_max_light_lines(1)
            .label_style(TEXT)
            .draw()?;
        if let Some([low, high]) = band {
            let middle = 0.5 * (low.1 + high.1);
            chart.draw_series([Rectangle::new([low, high], COLOURS[2].mix(0.35).filled())])?;
            chart.draw_series(LineSeries::new(
                [(low.0, middle), (high.0, middle)],
                COLOURS[2].stroke_width(2),
            ))?;
        }
        chart
            .draw_series(bars.iter().map(|bar| PathElement::new(bar.to_vec(), COLOURS[1].stroke_width(2))))?;
        chart.draw_series(masses.iter().map(|&point| Circle::new(point, 4, COLOURS[1].filled())))?;
        if let Some(text) = missing {
            let style = TextStyle::from(TEXT).pos(Pos::new(HPos::Right, VPos::Center));
            foot.draw(&Text::new(text, (SIZE.0 as i32 - 16, ROW / 2 - 4), style))?;
        }
        Ok(())
    })
}

/// Draws the title and returns the area below it.
///
/// A long title is broken after commas.
fn titled<'a>(area: &Area<'a>, title: &str) -> Result<Area<'a>, Box<dyn Error + Send + Sync>> {
    let rows = rows_of(title);
    let (head, rest) = area.split_vertically(ROW * rows.len() as i32 + 12);
    for (row, text) in (0..).zip(rows) {
        let style = TextStyle::from(HEADING).pos(Pos::new(HPos::Center, VPos::Center));
        head.draw(&Text::new(text, (SIZE.0 as i32 / 2, ROW * row + ROW / 2 + 8), style))?;
    }
    Ok(rest)
}

fn rows_of(title: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in title.split_inclusive(", ") {
        let letters = part.trim_end().chars().count();
        match rows.last_mut() {
            Some(row) if row.chars().count() + letters <= MOST_LETTERS => row.push_str(part),
            _ => rows.push(part.to_owned()),
        }
    }
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

/// Says in words where the effective mass is missing.
fn without_mass(masses: &[f64]) -> Option<String> {
    let missing: Vec<usize> = (0..masses.len()).filter(|&n| !masses[n].is_finite()).collect();
    if missing.is_empty() {
        return None;
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for n in missing {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => ranges.push((n, n)),
        }
    }
    let text =
        |&(from, to): &(usize, usize)| if from == to { from.to_string() } else { format!("{from}–{to}") };
    let ranges: Vec<String> = ranges.iter().map(text).collect();
    Some(format!("no effective mass at n = {}", ranges.join(", ")))
}

/// Returns the name of a file without its folders.
///
/// A long name is shortened in the middle.
pub fn short_name(path: &Path) -> String {
    const LONGEST: usize = 40;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.into_owned();
    }
    let half = (LONGEST - 1) / 2;
    let (start, end) = (&letters[..half], &letters[letters.len() - half..]);
    format!("{}…{}", start.iter().collect::<String>(), end.iter().collect::<String>())
}

fn by_index(values: &[f64]) -> Vec<(f64, f64)> {
    values.iter().enumerate().map(|(n, &value)| (n as f64, value)).collect()
}

/// Returns the points with the decimal logarithm of y, if both numbers are finite.
fn logarithms(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|&(x, y)| (x, y.log10())).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// Returns the smallest and the largest value, if there are any.
fn range(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    Some((values.clone().reduce(f64::min)?, values.reduce(f64::max)?))
}

/// A logarithmic axis over whole decades, at least one.
///
/// The values on the axis are decimal logarithms.
#[derive(Clone, Debug, PartialEq)]
struct Decades {
    low: f64,
    high: f64,
}

impl Decades {
    fn covering((low, high): (f64, f64)) -> Self {
        let low = low.floor();
        Self { low, high: high.ceil().max(low + 1.0) }
    }
}

impl Ranged for Decades {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, &decade: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (decade - self.low) / (self.high - self.low);
        start + (share * f64::from(end - start)).round() as i32
    }

    /// Returns every decade, or every second, third, … one if there are many.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.max_num_points().clamp(2, 13) as f64;
        let step = ((self.high - self.low) / (most - 1.0)).ceil().max(1.0);
        let first = (self.low / step).ceil() * step;
        let count = ((self.high - first) / step).floor() as usize;
        (0..=count).map(|k| first + step * k as f64).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Decades {
    fn format(&decade: &f64) -> String {
        if decade == 0.0 { "1".to_owned() } else { format!("1e{decade:.0}") }
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws on white and writes the file.
///
/// The file has a temporary name until it is complete.
fn draw(
    title: &str,
    paint: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error + Send + Sync>>,
) -> Result<Plot, PlotError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let painted = (|| {
            area.fill(&WHITE)?;
            paint(&area)?;
            Ok(area.present()?)
        })();
        painted.map_err(|source| PlotError::Drawing { title: title.to_owned(), source })?;
    }
    Ok(Plot { svg })
}

/// Returns a plot that was drawn, or warns that there is nothing to show.
///
/// # Errors
/// When the plot could not be drawn.
pub fn shown(plot: Result<Plot, PlotError>, report: &Report) -> Result<Option<Plot>, Failure> {
    match plot {
        Ok(plot) => Ok(Some(plot)),
        Err(error @ PlotError::NothingToShow { .. }) => {
            report.warning(error);
            Ok(None)
        }
        Err(error) => Err(Failure::new(Status::File, error)),
    }
}

/// Writes a plot that was drawn to a file, or warns that there is nothing to show.
///
/// # Errors
/// When the plot could not be drawn or written.
pub fn drawn(path: &Path, plot: Result<Plot, PlotError>, report: &Report) -> Result<(), Failure> {
    match shown(plot, report)? {
        Some(plot) => plot.save(path).map_err(|error| Failure::new(Status::File, error)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residuals(rate: f64, count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|k| (k as f64, (-rate * k as f64).exp() * (1.0 + 0.3 * (k as f64).sin()))).collect()
    }

    /// Returns the texts of an SVG, which must parse.
    fn texts(plot: &Plot) -> Vec<String> {
        let document = roxmltree::Document::parse(plot.svg()).unwrap();
        let text = document.descendants().filter(|node| node.has_tag_name("text"));
        text.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
    }

    #[test]
    fn a_residual_history_has_axes_and_a_legend() {
        let series = [
            Series { name: "conjugate residual".into(), points: residuals(0.11, 260) },
            Series { name: "conjugate gradient".into(), points: residuals(0.09, 310) },
        ];
        let marks = Marks { tolerance: Some(1e-13), true_residual: Some(3e-12) };
        let plot = residual_history("β = 6.0 <8³×16> & κ = 0.150", &series, marks).unwrap();
        let texts = texts(&plot);
        for wanted in [
            "iteration",
            "relative residual ‖r‖ / ‖b‖",
            "conjugate residual",
            "conjugate gradient",
            "β = 6.0 <8³×16> & κ = 0.150",
            "1e-12",
            "tolerance",
            "true residual of the solution",
        ] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.svg");
        plot.save(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), plot.svg());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    }

    #[test]
    fn a_correlator_has_two_panels() {
        let (mass, extent) = (0.71f64, 16);
        let cosh = |n: usize| (mass * (n as f64 - extent as f64 / 2.0)).cosh();
        let values: Vec<f64> = (0..extent).map(|n| 3e-4 * cosh(n)).collect();
        let mut masses: Vec<f64> =
            (0..extent).map(|n| mass + 0.4 * (-(n.min(extent - n) as f64)).exp()).collect();
        masses[8] = f64::NAN;
        let plot = correlator("pion, 8³×16", &values, &masses).unwrap();
        let texts = texts(&plot);
        for wanted in [
            "no effective mass at n = 8",
            "correlator C(n)",
            "effective mass a·m(n)",
            "separation n (lattice spacings)",
            "pion, 8³×16",
        ] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not among {texts:?}");
        }
        assert_eq!(plot.svg().matches("<circle").count(), 31);
    }

    #[test]
    fn a_fitted_mass_is_a_band() {
        let rectangles = |band| {
            let plot =
                correlator_with_errors("pion", &[1.0, 0.5, 0.3], &[f64::NAN, 0.4, 0.3], &[], band).unwrap();
            plot.svg().matches("<rect").count()
        };
        let band = MassBand { first: 1, last: 2, mass: 0.35, error: 0.02 };
        assert_eq!(rectangles(Some(band)), rectangles(None) + 1);
    }

    #[test]
    fn odd_data_is_drawn_or_refused_but_never_a_panic() {
        let history = |points: &[(f64, f64)]| {
            let series = [Series { name: "r".into(), points: points.to_vec() }];
            residual_history("odd", &series, Marks { tolerance: Some(0.0), true_residual: Some(f64::NAN) })
        };
        for points in
            [&[(0.0, 1.0)][..], &[(0.0, 1.0), (1.0, 0.0), (2.0, f64::NAN)], &[(5.0, 1e-300), (6.0, 1e300)]]
        {
            history(points).unwrap();
        }
        assert!(matches!(history(&[]), Err(PlotError::NothingToShow { .. })));
        assert!(matches!(history(&[(0.0, f64::NAN)]), Err(PlotError::NothingToShow { .. })));
        assert!(matches!(correlator("odd", &[-1.0, 0.0], &[]), Err(PlotError::NothingToShow { .. })));
        correlator("odd", &[1.0], &[]).unwrap();
        correlator("odd", &[1.0, 1.0], &[0.0, 0.0]).unwrap();
    }

    #[test]
    fn titles_keep_what_matters_of_a_long_name() {
        assert_eq!(short_name(Path::new("/very/deep/folder/b6.0.ildg")), "b6.0.ildg");
        let long = format!("{}κ{}.ildg", "a".repeat(60), "b".repeat(60));
        let short = short_name(Path::new(&long));
        assert_eq!(short.chars().count(), 39);
        assert!(short.starts_with("aaaa") && short.contains('…') && short.ends_with("bbbb.ildg"), "{short}");
    }

    #[test]
    fn long_titles_are_broken_after_commas() {
        assert_eq!(rows_of("b6.0.ildg, κ = 0.15, 8x8x8x16"), ["b6.0.ildg, κ = 0.15, 8x8x8x16"]);
        let name = "a".repeat(40);
        let title = format!("{name}, κ = 0.12345678901234567, 48x48x48x96");
        assert_eq!(rows_of(&title), [format!("{name},"), "κ = 0.12345678901234567, 48x48x48x96".to_owned()]);
        assert_eq!(rows_of(""), Vec::<String>::new());
    }

    #[test]
    fn text_is_readable_in_a_plot_of_400_pixels() {
        let series = [Series { name: "cg".into(), points: residuals(0.1, 90) }];
        let marks = Marks { tolerance: Some(1e-3), true_residual: Some(1e-4) };
        let title = format!("{}, κ = 0.12345678901234567, 4x4x4x8", "a".repeat(40));
        for correlated in [false, true] {
            let plot = match correlated {
                false => residual_history(&title, &series, marks).unwrap(),
                true => correlator(&title, &[1.0, 0.5, 0.3], &[f64::NAN, 0.4, 0.3]).unwrap(),
            };
            let document = roxmltree::Document::parse(plot.svg()).unwrap();
            let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
            assert!(texts.len() > 10);
            for text in texts {
                let size: f64 = text.attribute("font-size").unwrap().trim_end_matches("px").parse().unwrap();
                assert!(size * 400.0 / f64::from(SIZE.0) >= 11.0, "{text:?}");
            }
        }
    }

    #[test]
    fn missing_masses_are_named_in_ranges() {
        let nan = f64::NAN;
        assert_eq!(without_mass(&[0.5, 0.5]), None);
        let text = without_mass(&[nan, 0.5, 0.5, nan, nan, nan]);
        assert_eq!(text.as_deref(), Some("no effective mass at n = 0, 3–5"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let plot = correlator("pion", &[1.0], &[]).unwrap();
        let error = plot.save(Path::new("/no/such/folder/pion.svg")).unwrap_err();
        assert!(matches!(error, PlotError::Write { .. }));
        assert!(error.to_string().contains("/no/such/folder/pion.svg"));
    }

    #[test]
    fn ticks_are_whole_decades() {
        assert_eq!(Decades::covering((-10.3, 0.2)), Decades { low: -11.0, high: 1.0 });
        assert_eq!(Decades::covering((0.0, 0.0)), Decades { low: 0.0, high: 1.0 });
        let decades = Decades { low: -3.0, high: 1.0 };
        assert_eq!(decades.key_points(20), [-3.0, -2.0, -1.0, 0.0, 1.0]);
        assert_eq!([1.0, 0.0, -12.0].map(|decade| Decades::format(&decade)), ["1e1", "1", "1e-12"]);
        assert!(Decades { low: -300.0, high: 300.0 }.key_points(1000).len() <= 13);
    }
}
