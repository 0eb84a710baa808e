//! Plots over logarithmic axes, as SVG elements of a page.

use super::axis::{Axis, Scale, is_shown};
use lattice_cli::page::escaped;
use std::fmt::Write;

/// A plot of some series over logarithmic axes.
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Lines that no point can be above.
    pub limits: Vec<Limit>,
}

/// Points with marks of their own shape and colour.
pub struct Series {
    pub name: String,
    /// Number of the mark, colour and dashes.
    ///
    /// Series with different numbers look different.
    pub style: usize,
    pub points: Vec<Point>,
    /// `true` if lines join the points.
    pub line: bool,
}

pub struct Point {
    pub x: f64,
    pub y: f64,
    /// Text that is shown when the pointer is on the point.
    pub title: String,
}

/// A dashed line with its name, or a letter that the legend explains.
pub struct Limit {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// `true` if the name fits at the first point; else a letter marks the last point.
    pub named_at_start: bool,
}

/// Fewest points of a plot.
const FEWEST_POINTS: usize = 2;

/// Colours and dashes in the style sheet of the page, and shapes of marks.
///
/// Pairs repeat late, because seven and five have no common divisor.
pub const COLOURS: usize = 7;
const DASHES: usize = 5;
const SHAPES: usize = 5;

/// A drawing in units of its own, for a range of window widths.
///
/// Text must not shrink with the window.
struct Drawing {
    class: &'static str,
    width: f64,
    height: f64,
}

const DRAWINGS: [Drawing; 2] = [
    Drawing { class: "broad", width: 760.0, height: 380.0 },
    Drawing { class: "narrow", width: 350.0, height: 320.0 },
];

const RIGHT: f64 = 20.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 48.0;
/// Line height of an axis's text, then largest width and height of a letter.
const LINE: f64 = 24.0;
const LETTER: f64 = 7.2;
const LETTER_HEIGHT: f64 = 13.0;

impl Chart {
    /// Returns the plot with its legend; empty if there are fewer than two points.
    pub fn html(&self) -> String {
        let points = self.series.iter().flat_map(|series| &series.points);
        if points.filter(|point| is_shown(point.x) && is_shown(point.y)).count() < FEWEST_POINTS {
            return String::new();
        }
        let drawings: String = DRAWINGS.iter().map(|drawing| self.svg(drawing)).collect();
        let mut html = format!("<figure><figcaption>{}</figcaption>\n{drawings}", escaped(&self.title));
        html += "<ul class=\"legend\">";
        for series in &self.series {
            let (style, name) = (series.style, escaped(&series.name));
            let line = if series.line { line(style, "0,7 34,7") } else { String::new() };
            let mark = mark(style, 17.0, 7.0, "");
            let _ =
                write!(html, "<li><svg class=\"key\" viewBox=\"0 0 34 14\">{line}{mark}</svg>{name}</li>");
        }
        for (number, limit) in self.limits.iter().enumerate() {
            let line = limit_line(number, "0,7 34,7");
            let letter =
                if limit.named_at_start { String::new() } else { format!("<b>{}</b> ", letter(number)) };
            let name = escaped(&limit.name);
            let _ =
                write!(html, "<li><svg class=\"key\" viewBox=\"0 0 34 14\">{line}</svg>{letter}{name}</li>");
        }
        html + "</ul></figure>\n"
    }

    fn svg(&self, drawing: &Drawing) -> String {
        let Drawing { class, width, height } = *drawing;
        let limits = || self.limits.iter().flat_map(|limit| limit.points.iter().copied());
        let points = self.series.iter().flat_map(|series| &series.points).map(|point| (point.x, point.y));
        let all: Vec<(f64, f64)> =
            points.chain(limits()).filter(|&(x, y)| is_shown(x) && is_shown(y)).collect();
        let bottom = height - BOTTOM;
        let heights = all.iter().map(|point| point.1);
        let Some(y) = Scale::covering(heights, self.y.step, bottom, TOP) else { return String::new() };
        let rows = y.ticks(self.y.step, |_| LINE);
        let letters = |text: &str| text.chars().count() as f64;
        let longest = rows.iter().map(|&tick| letters(&(self.y.format)(tick))).fold(0.0, f64::max);
        let (left, right) = (32.0 + LETTER * longest, width - RIGHT);
        let along = all.iter().map(|point| point.0);
        let Some(x) = Scale::covering(along, self.x.step, left, right) else { return String::new() };
        let columns = x.ticks(self.x.step, |tick| LETTER * letters(&(self.x.format)(tick)) + 14.0);

        let title = escaped(&self.title);
        let mut svg = format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n"
        );
        for tick in columns {
            let (place, text) = (x.place(tick), escaped(&(self.x.format)(tick)));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{place:.1}\" y1=\"{TOP}\" x2=\"{place:.1}\" y2=\"{bottom}\"/>\
                 <text class=\"tick x\" x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 16.0
            );
        }
        for tick in rows {
            let (place, text) = (y.place(tick), escaped(&(self.y.format)(tick)));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{left:.1}\" y1=\"{place:.1}\" x2=\"{right}\" y2=\"{place:.1}\"/>\
                 <text class=\"tick y\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 6.0,
                place + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}, log scale</text>\
             <text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}, log scale</text>",
            (left + right) / 2.0,
            height - 8.0,
            escaped(&self.x.label),
            (TOP + bottom) / 2.0,
            escaped(&self.y.label)
        );
        let places = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            let shown = points.filter(|&(x, y)| is_shown(x) && is_shown(y));
            shown.map(|(a, b)| (x.place(a), y.place(b))).collect::<Vec<(f64, f64)>>()
        };
        let path = |places: &[(f64, f64)]| {
            let pairs: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            pairs.join(" ")
        };
        let mut names = Vec::new();
        for (number, limit) in self.limits.iter().enumerate() {
            let places = places(&mut limit.points.iter().copied());
            svg += &limit_line(number, &path(&places));
            let end = if limit.named_at_start { places.first() } else { places.last() };
            if let Some(&(x, y)) = end {
                names.push((number, limit, x, y));
            }
        }
        for Series { style, points, line, .. } in &self.series {
            if *line {
                let places = places(&mut points.iter().map(|point| (point.x, point.y)));
                svg += &self::line(*style, &path(&places));
            }
            for point in points.iter().filter(|point| is_shown(point.x) && is_shown(point.y)) {
                let title = format!("<title>{}</title>", escaped(&point.title));
                svg += &mark(*style, x.place(point.x), y.place(point.y), &title);
                svg.push('\n');
            }
        }
        // Letters of lines that are close to each other stand below each other, in their order.
        names.sort_by(|a, b| a.3.total_cmp(&b.3));
        let mut free = f64::MIN;
        for (number, limit, x, y) in names {
            let (x, y, name) = match limit.named_at_start {
                true => (x + 10.0, y + 16.0, escaped(&limit.name)),
                false => (x + 5.0, (y + 4.0).max(free), letter(number)),
            };
            if !limit.named_at_start {
                free = y + LETTER_HEIGHT;
            }
            let _ = writeln!(
                svg,
                "<text class=\"limit-name\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"start\">{name}</text>"
            );
        }
        svg + "</svg>\n"
    }
}

/// Returns the letter of a limit in the drawing: `A` for the first one.
fn letter(number: usize) -> String {
    char::from_u32('A' as u32 + number as u32).filter(char::is_ascii_uppercase).unwrap_or('*').to_string()
}

fn line(style: usize, points: &str) -> String {
    let (colour, dashes) = (style % COLOURS, style % DASHES);
    format!("<polyline class=\"line c{colour} d{dashes}\" points=\"{points}\"/>\n")
}

fn limit_line(number: usize, points: &str) -> String {
    // The first line of limits is dashed too: whole lines join measured points.
    format!("<polyline class=\"limit d{}\" points=\"{points}\"/>\n", 1 + number % DASHES)
}

/// Draws a mark around a place; `title` is an element.
fn mark(style: usize, x: f64, y: f64, title: &str) -> String {
    let path = match style % SHAPES {
        0 => format!("M{:.1},{y:.1}a4.2,4.2 0 1,0 8.4,0a4.2,4.2 0 1,0 -8.4,0z", x - 4.2),
        1 => format!("M{:.1},{:.1}h7.6v7.6h-7.6z", x - 3.8, y - 3.8),
        2 => format!("M{x:.1},{:.1}l5,8.6h-10z", y - 5.4),
        3 => format!("M{x:.1},{:.1}l5.4,5.4l-5.4,5.4l-5.4,-5.4z", y - 5.4),
        _ => format!("M{x:.1},{:.1}l-5,-8.6h10z", y + 5.4),
    };
    format!("<path class=\"mark c{}\" d=\"{path}\">{title}</path>", style % COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::axis::plain;

    fn axis(label: &str) -> Axis {
        Axis { label: label.to_owned(), format: plain, step: None }
    }

    fn series(style: usize, points: &[(f64, f64)]) -> Series {
        let points = points.iter().map(|&(x, y)| Point { x, y, title: "a < b".to_owned() }).collect();
        Series { name: "one & all".to_owned(), style, points, line: true }
    }

    fn chart(series: Vec<Series>) -> Chart {
        let limit =
            Limit { name: "memory".to_owned(), points: vec![(1.0, 1.0), (1e3, 1e4)], named_at_start: true };
        let (x, y) = (axis("x"), axis("y"));
        Chart { title: "plot".to_owned(), x, y, series, limits: vec![limit] }
    }

    #[test]
    fn both_drawings_are_well_formed_and_stay_inside() {
        let html = chart(vec![series(0, &[(1.0, 10.0), (1000.0, 123_456.0), (30.0, 7.0)])]).html();
        let document = roxmltree::Document::parse(&html).unwrap();
        let mut marks = 0;
        for drawing in DRAWINGS {
            let is_it = |node: &roxmltree::Node| node.attribute("class") == Some(drawing.class);
            let svg = document.descendants().find(is_it).unwrap();
            for text in svg.descendants().filter(|node| node.has_tag_name("text")) {
                let number = |name| text.attribute(name).map(|value| value.parse::<f64>().unwrap());
                let Some((x, y)) = number("x").zip(number("y")) else { continue };
                // A letter may be as wide as the drawing allows for.
                let width = LETTER * text.text().unwrap().chars().count() as f64;
                let before = match text.attribute("text-anchor").unwrap() {
                    "end" => width,
                    "middle" => width / 2.0,
                    _ => 0.0,
                };
                assert!(x - before >= 14.0, "{text:?} begins at {}", x - before);
                assert!(x - before + width <= drawing.width + 12.0, "{text:?}");
                assert!((0.0..=drawing.height).contains(&y), "{text:?}");
            }
            marks += svg.descendants().filter(|node| node.has_tag_name("title")).count();
        }
        assert_eq!(marks, 2 * 3);
        assert_eq!(html.matches("log scale").count(), 2 * 2);
    }

    #[test]
    fn nothing_is_drawn_of_fewer_than_two_points() {
        assert_eq!(chart(vec![]).html(), "");
        assert_eq!(chart(vec![series(0, &[(0.0, f64::NAN), (1.0, f64::INFINITY), (2.0, 3.0)])]).html(), "");
        assert_ne!(chart(vec![series(0, &[(1.0, 2.0)]), series(1, &[(1.0, 2.0)])]).html(), "");
    }

    #[test]
    fn series_differ_in_more_than_colour() {
        let looks: std::collections::BTreeSet<(usize, usize)> =
            (0..COLOURS * SHAPES).map(|style| (style % COLOURS, style % SHAPES)).collect();
        assert_eq!(looks.len(), COLOURS * SHAPES);
        let shape = |style| mark(style, 0.0, 0.0, "").split_once(" d=").unwrap().1.to_owned();
        assert!((1..SHAPES).all(|style| shape(style) != shape(style - 1)));
    }
}
