//! Lines over plain and over logarithmic axes.

use super::{COLOURS, Decades, Plot, PlotError, ROW, Series, TEXT, draw, logarithms, range, titled};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;

/// Draws lines over plain axes, which are named.
///
/// # Errors
/// When no point is finite, or drawing fails.
pub fn lines(title: &str, axes: [&str; 2], series: &[Series]) -> Result<Plot, PlotError> {
    let finite = |line: &Series| {
        let points = line.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
        points.collect::<Vec<_>>()
    };
    let points: Vec<_> = series.iter().map(finite).collect();
    let (across, up) = ranges(title, &points)?;
    let wide = |(low, high): (f64, f64)| {
        let room = 0.05 * (high - low).max(1e-6 * high.abs()).max(1e-12);
        low - room..high + room
    };
    let names = names(series);
    paint(title, axes, &names, &points, wide(across), wide(up))
}

/// Draws lines over logarithmic axes, on which powers are straight.
///
/// # Errors
/// When no point is positive and finite, or drawing fails.
pub fn powers(title: &str, axes: [&str; 2], series: &[Series]) -> Result<Plot, PlotError> {
    let swapped = |points: &[(f64, f64)]| points.iter().map(|&(x, y)| (y, x)).collect::<Vec<_>>();
    let both = |line: &Series| swapped(&logarithms(&swapped(&logarithms(&line.points))));
    let points: Vec<_> = series.iter().map(both).collect();
    let (across, up) = ranges(title, &points)?;
    let names = names(series);
    paint(title, axes, &names, &points, Decades::covering(across), Decades::covering(up))
}

fn names(series: &[Series]) -> Vec<&str> {
    series.iter().map(|line| line.name.as_str()).collect()
}

type Ends = (f64, f64);

/// Returns the ranges of both coordinates.
fn ranges(title: &str, points: &[Vec<(f64, f64)>]) -> Result<(Ends, Ends), PlotError> {
    let all = || points.iter().flatten();
    match (range(all().map(|p| p.0)), range(all().map(|p| p.1))) {
        (Some(across), Some(up)) => Ok((across, up)),
        _ => Err(PlotError::NothingToShow { title: title.to_owned() }),
    }
}

/// Draws a legend above, and the lines below.
fn paint<X, Y>(
    title: &str,
    axes: [&str; 2],
    names: &[&str],
    points: &[Vec<(f64, f64)>],
    across: X,
    up: Y,
) -> Result<Plot, PlotError>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    draw(title, |area| -> Result<(), Box<dyn Error + Send + Sync>> {
        let area = &titled(area, title)?;
        let (legend, area) = area.split_vertically(ROW * names.len() as i32);
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(54)
            .y_label_area_size(92)
            .build_cartesian_2d(across, up)?;
        chart
            .configure_mesh()
            .x_desc(axes[0])
            .y_desc(axes[1])
            .x_labels(6)
            .y_max_light_lines(1)
            .x_max_light_lines(1)
            .label_style(TEXT)
            .draw()?;
        for (k, (name, points)) in names.iter().zip(points).enumerate() {
            let style = COLOURS[k % COLOURS.len()].stroke_width(2);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            let y = ROW * k as i32 + ROW / 2;
            let text = TextStyle::from(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
            legend.draw(&Text::new((*name).to_owned(), (56, y), text))?;
            legend.draw(&PathElement::new([(16, y), (44, y)], style))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_axes_have_names_and_a_legend() {
        let line = |name: &str, points| Series { name: name.to_owned(), points };
        let series = [line("one", vec![(1.0, 2.0), (10.0, 200.0)]), line("two", vec![(2.0, f64::NAN)])];
        for plot in [lines as fn(&str, [&str; 2], &[Series]) -> _, powers] {
            let drawn = plot("a title", ["across", "up"], &series).unwrap();
            let text = drawn.svg();
            roxmltree::Document::parse(text).unwrap();
            assert!(["a title", "across", "up", "one", "two"].iter().all(|wanted| text.contains(wanted)));
            let nothing = plot("a title", ["across", "up"], &series[1..]);
            assert!(matches!(nothing, Err(PlotError::NothingToShow { .. })));
        }
    }
}
