//! Plots with logarithmic axes and bars, as SVG elements of a page.

use std::fmt::Write;

/// A plot of some series over logarithmic axes.
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

pub struct Axis {
    pub label: String,
    /// How a number on the axis is written.
    pub format: fn(f64) -> String,
    /// The ratio of one tick to the next, if decades and their halves and fifths do not suit.
    pub step: Option<f64>,
}

pub struct Series {
    pub name: String,
    pub points: Vec<Point>,
    /// Joined by lines.
    pub line: bool,
    /// With a mark at each point.
    pub marks: bool,
}

pub struct Point {
    pub x: f64,
    pub y: f64,
    /// What is shown when one points at it.
    pub title: String,
}

/// The drawing in units of its own: it is as wide as the page allows.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 48.0;

/// Colours of series, in the style sheet of the page.
const COLOURS: usize = 8;

/// From the logarithm of a number to a place on the drawing.
struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Around all numbers, with some room on both sides.
    fn covering(numbers: impl Iterator<Item = f64>, start: f64, end: f64) -> Option<Self> {
        let logarithms = numbers.filter(|number| *number > 0.0 && number.is_finite()).map(f64::ln);
        let (low, high) = logarithms.fold(None, |range: Option<(f64, f64)>, number| {
            Some(range.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
        })?;
        let room = (0.05 * (high - low)).max(0.1);
        Some(Self { low: low - room, high: high + room, start, end })
    }

    fn place(&self, number: f64) -> f64 {
        self.start + (number.ln() - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    fn ticks(&self, step: Option<f64>) -> Vec<f64> {
        let inside = |number: &f64| (self.low..=self.high).contains(&number.ln());
        if let Some(step) = step {
            let (first, last) =
                ((self.low / step.ln()).ceil() as i32, (self.high / step.ln()).floor() as i32);
            return (first..=last).map(|power| step.powi(power)).collect();
        }
        let ten = std::f64::consts::LN_10;
        let decades = (self.low / ten).floor() as i32..=(self.high / ten).ceil() as i32;
        let parts: &[f64] = if self.high - self.low < 2.5 * ten { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = decades.flat_map(|decade| parts.iter().map(move |part| part * 10_f64.powi(decade)));
        all.filter(inside).collect()
    }
}

impl Chart {
    /// The plot with its legend; nothing if there is no point.
    pub fn html(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::covering(points().map(|point| point.x), LEFT, WIDTH - RIGHT);
        let y = Scale::covering(points().map(|point| point.y), HEIGHT - BOTTOM, TOP);
        let Some((x, y)) = x.zip(y) else { return String::new() };
        let title = escaped(&self.title);
        let mut svg = format!(
            "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n"
        );
        for tick in x.ticks(self.x.step) {
            let (place, bottom) = (x.place(tick), HEIGHT - BOTTOM);
            let text = escaped(&(self.x.format)(tick));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{place:.1}\" y1=\"{TOP}\" x2=\"{place:.1}\" y2=\"{bottom}\"/>\
                 <text x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 16.0
            );
        }
        for tick in y.ticks(self.y.step) {
            let (place, right) = (y.place(tick), WIDTH - RIGHT);
            let text = escaped(&(self.y.format)(tick));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{place:.1}\" x2=\"{right}\" y2=\"{place:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                LEFT - 6.0,
                place + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escaped(&self.x.label),
            (TOP + HEIGHT - BOTTOM) / 2.0,
            escaped(&self.y.label)
        );
        for (number, series) in self.series.iter().enumerate() {
            let places: Vec<(f64, f64, &Point)> =
                series.points.iter().map(|point| (x.place(point.x), y.place(point.y), point)).collect();
            let colour = number % COLOURS;
            if series.line {
                let path: Vec<String> = places.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
                let _ = writeln!(svg, "<polyline class=\"line c{colour}\" points=\"{}\"/>", path.join(" "));
            }
            for (x, y, point) in places.iter().filter(|_| series.marks) {
                let title = escaped(&point.title);
                let _ = writeln!(
                    svg,
                    "<circle class=\"mark c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{title}</title></circle>"
                );
            }
        }
        svg += "</svg>\n<ul class=\"legend\">";
        for (number, series) in self.series.iter().enumerate() {
            let name = escaped(&series.name);
            let _ = write!(svg, "<li><span class=\"key k{}\"></span>{name}</li>", number % COLOURS);
        }
        svg + "</ul></figure>\n"
    }
}

/// One horizontal bar.
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// What is written at its end.
    pub text: String,
}

/// Bars below each other, from 0 on.
pub fn bars(title: &str, bars: &[Bar]) -> String {
    const ROW: f64 = 26.0;
    const NAMES: f64 = 330.0;
    const TEXTS: f64 = 150.0;
    let longest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    if longest.is_nan() || longest <= 0.0 {
        return String::new();
    }
    let title = escaped(title);
    let mut svg = format!(
        "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{title}\">\n",
        ROW * bars.len() as f64
    );
    for (row, bar) in bars.iter().enumerate() {
        let (top, length) = (ROW * row as f64, (WIDTH - NAMES - TEXTS) * bar.value / longest);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            top + 17.0,
            escaped(&bar.name),
            top + 3.0,
            ROW - 6.0,
            NAMES + length + 6.0,
            top + 17.0,
            escaped(&bar.text)
        );
    }
    svg + "</svg></figure>\n"
}

/// A text that is safe inside of elements and attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis() -> Axis {
        Axis { label: "x".to_owned(), format: |number| number.to_string(), step: None }
    }

    fn chart(points: &[(f64, f64)]) -> Chart {
        let points = points.iter().map(|&(x, y)| Point { x, y, title: "a < b".to_owned() }).collect();
        let series = Series { name: "one & all".to_owned(), points, line: true, marks: true };
        Chart { title: "plot".to_owned(), x: axis(), y: axis(), series: vec![series] }
    }

    #[test]
    fn a_plot_is_well_formed_and_stays_inside() {
        let html = chart(&[(1.0, 10.0), (1000.0, 0.5), (30.0, 7.0)]).html();
        let document = roxmltree::Document::parse(&html).unwrap();
        let circles: Vec<_> = document.descendants().filter(|node| node.has_tag_name("circle")).collect();
        assert_eq!(circles.len(), 3);
        for circle in circles {
            let number = |name| circle.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!((LEFT..=WIDTH - RIGHT).contains(&number("cx")));
            assert!((TOP..=HEIGHT - BOTTOM).contains(&number("cy")));
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(chart(&[]).html(), "");
        assert_eq!(chart(&[(0.0, f64::NAN)]).html(), "");
        assert_eq!(bars("none", &[]), "");
    }

    #[test]
    fn ticks_are_round_numbers_in_range() {
        let scale = Scale { low: 0.9_f64.ln(), high: 110_f64.ln(), start: 0.0, end: 1.0 };
        assert_eq!(scale.ticks(None), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let ticks = scale.ticks(Some(4.0));
        assert_eq!(ticks, [1.0, 4.0, 16.0, 64.0]);
        assert_eq!((scale.place(0.9), scale.place(110.0)), (0.0, 1.0));
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bar = |value| Bar { name: "<b>".to_owned(), value, text: String::new() };
        let html = bars("bars", &[bar(1.0), bar(4.0)]);
        let document = roxmltree::Document::parse(&html).unwrap();
        let widths: Vec<f64> = document
            .descendants()
            .filter(|node| node.has_tag_name("rect"))
            .map(|node| node.attribute("width").unwrap().parse().unwrap())
            .collect();
        assert_eq!(widths[1], 4.0 * widths[0]);
    }
}
