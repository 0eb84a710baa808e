//! Bars below each other, as HTML elements with text that keeps its size.

use super::chart::COLOURS;
use lattice_cli::page::escaped;
use std::fmt::Write;

/// One horizontal bar.
pub struct Bar {
    pub name: String,
    /// Bars with different numbers have different colours.
    pub style: usize,
    pub value: f64,
    /// Text at the end of the bar.
    pub text: String,
    /// Text that is shown when the pointer is on the bar.
    pub title: String,
}

/// Bars of one subject, below its name.
pub struct Group {
    pub name: String,
    pub bars: Vec<Bar>,
}

/// Draws groups of bars that begin at 0.
///
/// The result is empty if there are fewer than two bars, or if no bar has a length.
pub fn bars(title: &str, groups: &[Group]) -> String {
    let all = || groups.iter().flat_map(|group| &group.bars);
    let longest = all().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    if all().count() < 2 || longest <= 0.0 {
        return String::new();
    }
    let mut html = format!("<figure class=\"bars\"><figcaption>{}</figcaption>\n", escaped(title));
    for group in groups.iter().filter(|group| !group.bars.is_empty()) {
        html += "<div class=\"group\">";
        if !group.name.is_empty() {
            let _ = write!(html, "<p>{}</p>", escaped(&group.name));
        }
        for bar in &group.bars {
            let share = (100.0 * bar.value / longest).clamp(0.0, 100.0);
            let _ = write!(
                html,
                "<div class=\"bar\" title=\"{}\"><span class=\"name\">{}</span><span class=\"track\">\
                 <span class=\"fill b{}\" style=\"width: {:.2}%\"></span></span><span class=\"value\">{}</span></div>",
                escaped(&bar.title),
                escaped(&bar.name),
                bar.style % COLOURS,
                if share.is_finite() { share } else { 0.0 },
                escaped(&bar.text)
            );
        }
        html += "</div>\n";
    }
    html + "</figure>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(values: &[f64]) -> Group {
        let bar = |&value: &f64| Bar {
            name: "<b>".to_owned(),
            style: 0,
            value,
            text: String::new(),
            title: "\"".to_owned(),
        };
        Group { name: "a & b".to_owned(), bars: values.iter().map(bar).collect() }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let html = bars("bars", &[group(&[1.0, 4.0]), group(&[]), group(&[2.0, f64::NAN])]);
        let document = roxmltree::Document::parse(&html).unwrap();
        let widths: Vec<&str> = document.descendants().filter_map(|node| node.attribute("style")).collect();
        assert_eq!(widths, ["width: 25.00%", "width: 100.00%", "width: 50.00%", "width: 0.00%"]);
    }

    #[test]
    fn one_bar_is_no_plot() {
        for groups in [vec![], vec![group(&[])], vec![group(&[3.0])], vec![group(&[0.0, f64::NAN])]] {
            assert_eq!(bars("none", &groups), "");
        }
    }
}
