//! Results as a page for a browser.
//!
//! A page has no scripts and loads nothing. It is HTML that is well-formed XML too.

use crate::failure::{Failure, Status};
use crate::plot::Plot;
use lattice_cl::io;
use std::fmt::Display;
use std::path::Path;

const STYLE: &str = include_str!("page/style.css");

/// The end of every page.
pub const END: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of a page of this title.
pub fn beginning(title: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    )
}

/// Makes a text safe inside elements and attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A page that is being made.
#[derive(Clone, Debug)]
pub struct Page {
    html: String,
}

impl Page {
    /// Begins a page of this title.
    pub fn new(title: &str) -> Self {
        Self { html: beginning(title) }
    }

    /// Adds names and values, of which empty ones are left out.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        let lines = facts.iter().filter(|(_, value)| !value.is_empty());
        let lines =
            lines.map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value)));
        self.html += &format!("<dl class=\"facts\">\n{}</dl>\n", lines.collect::<String>());
    }

    /// Adds a table, folded up under its title.
    ///
    /// The first cell of a row is a text, the others are numbers.
    pub fn table(&mut self, title: &str, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.enumerate().map(|(column, cell)| {
                let class = if column > 0 { " class=\"n\"" } else { "" };
                format!("<{tag}{class}>{}</{tag}>", escaped(cell))
            });
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let head = row("th", &mut header.iter().copied());
        let body: String =
            rows.into_iter().map(|cells| row("td", &mut cells.iter().map(String::as_str))).collect();
        self.html += &format!(
            "<details><summary>{}</summary>\n<div class=\"wide\"><table><thead>\n{head}</thead><tbody>\n\
             {body}</tbody></table></div>\n</details>\n",
            escaped(title)
        );
    }

    /// Adds plots beside each other, as many as the window has room for.
    pub fn plots<'a>(&mut self, plots: impl IntoIterator<Item = &'a Plot>) {
        let image = |plot: &Plot| {
            format!("<img alt=\"plot\" src=\"data:image/svg+xml,{}\"/>\n", in_address(plot.svg()))
        };
        let images: String = plots.into_iter().map(image).collect();
        self.html += &format!("<div class=\"plots\">\n{images}</div>\n");
    }

    /// Adds a sentence at the end, and writes the page.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(self, end: impl Display, path: &Path) -> Result<(), Failure> {
        let html = format!("{}<footer>{}</footer>\n{END}", self.html, escaped(&end.to_string()));
        io::write_file(path, html.as_bytes()).map_err(|error| {
            let what = format!("the report {} cannot be written", path.display());
            Failure::new(Status::File, anyhow::Error::new(error).context(what))
        })
    }
}

/// Returns a text as an address holds it: bytes that would end the address are replaced.
fn in_address(text: &str) -> String {
    let mut address = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        match byte {
            b'%' | b'#' | b'<' | b'>' | b'"' | b'&' | b'\n' | 0x80.. => address += &format!("%{byte:02X}"),
            plain => address.push(char::from(plain)),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Series, lines};

    #[test]
    fn a_page_is_well_formed_whatever_its_texts_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let mut page = Page::new("a <b> & \"c\"");
        page.facts(&[("κ < 0.15 & more", "<x>.h5".to_owned()), ("empty", String::new())]);
        page.table("n & C(n)", &["n", "C(n)"], [vec!["0".to_owned(), "1.5".to_owned()]]);
        let series = [Series { name: "100 % & <κ>".to_owned(), points: vec![(0.0, 1.0), (1.0, 2.0)] }];
        let plot = lines("a \"title\" # 1", ["across", "up"], &series).unwrap();
        page.plots([&plot, &plot]);
        page.save("the end", &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(text.trim_start_matches("<!DOCTYPE html>\n")).unwrap();
        let named = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!((named("img"), named("td"), named("dt"), named("footer")), (2, 2, 1, 1));
        // The address holds the very plot.
        let image = document.descendants().find(|node| node.has_tag_name("img")).unwrap();
        let address = image.attribute("src").unwrap().strip_prefix("data:image/svg+xml,").unwrap();
        assert_eq!(undone(address), plot.svg());
    }

    fn undone(address: &str) -> String {
        let mut parts = address.split('%');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(part[2..].bytes());
        }
        String::from_utf8(bytes).unwrap()
    }
}
