//! Plots of a function on a plane through a mesh.

use super::{Area, Plot, PlotError, TEXT, draw, titled};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Most patches along an axis; a finer mesh is shown with every second, third, … point.
const MOST_PATCHES: usize = 64;

/// Pixels of the plane, and of the scale beside it.
const PLANE: (f64, f64) = (380.0, 420.0);
const SCALE: (u32, u32) = (110, 400);

/// Colours of the lowest, the middle and the highest value.
const COLOURS: [[f64; 3]; 3] = [[0.0, 114.0, 178.0], [255.0, 255.0, 255.0], [213.0, 94.0, 0.0]];

/// Values on a plane, in a parallelogram that repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The title of the plot.
    pub title: String,
    /// The unit of the values.
    pub unit: &'static str,
    /// The two sides of the parallelogram, in bohr.
    pub sides: [[f64; 3]; 2],
    /// Rows along the first side, each along the second.
    pub values: Vec<Vec<f64>>,
}

fn colour(share: f64) -> RGBColor {
    let share = share.clamp(-1.0, 1.0);
    let end = COLOURS[if share < 0.0 { 0 } else { 2 }];
    let part = |k: usize| (COLOURS[1][k] + (end[k] - COLOURS[1][k]) * share.abs()).round() as u8;
    RGBColor(part(0), part(1), part(2))
}

/// Returns the sides in coordinates of their plane, the first one along x.
fn flattened([a, b]: [[f64; 3]; 2]) -> [(f64, f64); 2] {
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
    let length = dot(a, a).sqrt();
    let along = dot(a, b) / length;
    [(length, 0.0), (along, (dot(b, b) - along * along).max(0.0).sqrt())]
}

/// Draws values in colours: blue below zero, white at zero, vermilion above.
///
/// # Errors
/// When no value is finite, or drawing fails.
pub fn slice(slice: &Slice) -> Result<Plot, PlotError> {
    let largest = slice.values.iter().flatten().map(|value| value.abs()).fold(0.0, f64::max);
    if !largest.is_finite() || slice.values.iter().all(Vec::is_empty) {
        return Err(PlotError::NothingToShow { title: slice.title.clone() });
    }
    let [a, b] = flattened(slice.sides);
    let (rows, columns) = (slice.values.len(), slice.values[0].len());
    let steps = [rows, columns].map(|n| n.div_ceil(MOST_PATCHES));
    let point = |i: f64, j: f64| {
        let (u, v) = (i / rows as f64, j / columns as f64);
        (u * a.0 + v * b.0, u * a.1 + v * b.1)
    };
    let mut patches = Vec::new();
    for i in (0..rows).step_by(steps[0]) {
        for j in (0..columns).step_by(steps[1]) {
            // A patch has its mesh point in the middle, and ends where the parallelogram does.
            let (i0, j0) = (i as f64, j as f64);
            let (i1, j1) =
                ((i0 + steps[0] as f64).min(rows as f64), (j0 + steps[1] as f64).min(columns as f64));
            let corners = vec![point(i0, j0), point(i1, j0), point(i1, j1), point(i0, j1)];
            let share = if largest > 0.0 { slice.values[i][j] / largest } else { 0.0 };
            patches.push(Polygon::new(corners, colour(share).filled()));
        }
    }
    let corners = [(0.0, 0.0), a, b, (a.0 + b.0, a.1 + b.1)];
    let span = |values: [f64; 4], pixels: f64| {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
        (0.5 * (low + high), (high - low) / pixels)
    };
    let ((x, dx), (y, dy)) = (span(corners.map(|c| c.0), PLANE.0), span(corners.map(|c| c.1), PLANE.1));
    // One scale in both directions.
    let half = 0.5 * dx.max(dy);
    draw(&slice.title, |area| {
        let area = titled(area, &slice.title)?;
        let (width, _) = area.dim_in_pixel();
        let (plane, beside) = area.split_horizontally(width - SCALE.0);
        let mut chart = ChartBuilder::on(&plane)
            .margin(12)
            .x_label_area_size(54)
            .y_label_area_size(80)
            .build_cartesian_2d(
                x - half * PLANE.0..x + half * PLANE.0,
                y - half * PLANE.1..y + half * PLANE.1,
            )?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_labels(5)
            .y_labels(6)
            .x_desc("along the first vector (bohr)")
            .y_desc("across it (bohr)")
            .label_style(TEXT)
            .draw()?;
        chart.draw_series(patches)?;
        scale(&beside, largest, slice.unit)
    })
}

/// Draws the colours of the values, from the lowest to the highest.
fn scale(area: &Area<'_>, largest: f64, unit: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    const STEPS: i32 = 50;
    let (top, step) = (40, SCALE.1 as i32 / STEPS);
    for k in 0..STEPS {
        let share = 1.0 - 2.0 * (f64::from(k) + 0.5) / f64::from(STEPS);
        let corners = [(0, top + k * step), (20, top + (k + 1) * step)];
        area.draw(&Rectangle::new(corners, colour(share).filled()))?;
    }
    let style = TextStyle::from(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
    for (row, value) in [(0, largest), (STEPS / 2, 0.0), (STEPS, -largest)] {
        area.draw(&Text::new(format!("{value:.3}"), (26, top + row * step), style.clone()))?;
    }
    area.draw(&Text::new(unit.to_owned(), (0, 16), style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_plane_keeps_its_angles() {
        let [a, b] = flattened([[0.0, 2.0, 0.0], [3.0, 3.0, 0.0]]);
        assert!((a.0 - 2.0).abs() < 1e-15 && a.1 == 0.0);
        assert!((b.0 - 3.0).abs() < 1e-15 && (b.1 - 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_slice_is_drawn_with_its_scale() {
        let values = (0..3).map(|i| (0..4).map(|j| f64::from(i * j) - 2.0).collect()).collect();
        let drawn = Slice {
            title: "potential of rho.cube".to_owned(),
            unit: "hartree/e",
            sides: [[4.0, 0.0, 0.0], [1.0, 3.0, 0.0]],
            values,
        };
        let plot = slice(&drawn).unwrap();
        let svg = plot.svg();
        let document = roxmltree::Document::parse(svg).unwrap();
        let named = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(named("polygon"), 12);
        assert!(svg.contains("4.000") && svg.contains("hartree/e"));
    }
}
