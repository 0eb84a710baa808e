//! XML in records, also in forms that are not quite XML.
//!
//! Early versions of QIO and other programs wrote attributes without quotation marks, or with one
//! of two, and prefixes that nothing declares. No attribute means anything to this crate. So
//! attributes are passed over in whatever form, and of a name only the part behind its prefix
//! counts. Elements must be closed in their order nevertheless: bits that flipped show there.

/// The elements of a document, in the order of their beginnings.
pub(super) struct Elements {
    all: Vec<Element>,
    /// The text of all elements.
    text: String,
}

/// An element, without its attributes.
pub(super) struct Element {
    /// The name without its prefix.
    pub(super) name: String,
    /// The text of the element itself, without that of elements in it.
    text: String,
}

impl Element {
    /// Returns the text without blanks around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }
}

impl Elements {
    /// Reads a document, whose text ends where its first element does.
    ///
    /// The work is proportional to the length of the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let invalid = |problem: String| format!("it is not valid XML: {problem}");
        let mut elements = Self { all: Vec::new(), text: String::new() };
        // The places of open elements, with their names as written.
        let mut open: Vec<(usize, &str)> = Vec::new();
        let mut rest = text.trim_start_matches('\u{feff}');
        loop {
            let Some(at) = rest.find('<') else {
                return Err(invalid(match open.last() {
                    Some((_, name)) => format!("<{name}> is not closed"),
                    None => "it has no element".to_owned(),
                }));
            };
            let (before, tag) = rest.split_at(at);
            match open.last() {
                Some(&(place, _)) => elements.add_text(place, &unescaped(before)),
                None if before.trim().is_empty() => {}
                None => return Err(invalid("text comes before the first element".to_owned())),
            }
            if let Some(inside) = tag.strip_prefix("<![CDATA[") {
                let (inside, after) = inside
                    .split_once("]]>")
                    .ok_or_else(|| invalid("a section CDATA has no end".to_owned()))?;
                if let Some(&(place, _)) = open.last() {
                    elements.add_text(place, inside);
                }
                rest = after;
                continue;
            }
            if let Some((inside, end)) = [("<!--", "-->"), ("<?", "?>")]
                .into_iter()
                .find_map(|(begin, end)| Some((tag.strip_prefix(begin)?, end)))
            {
                let ends = inside.split_once(end);
                (_, rest) = ends.ok_or_else(|| invalid(format!("`{end}` is missing")))?;
                continue;
            }
            if let Some(tag) = tag.strip_prefix("</") {
                let (name, after) =
                    tag.split_once('>').ok_or_else(|| invalid("`>` is missing at the end".to_owned()))?;
                match open.pop() {
                    Some((_, opened)) if opened == name.trim_end() => {}
                    Some((_, opened)) => {
                        return Err(invalid(format!("<{opened}> is closed by </{}>", name.trim_end())));
                    }
                    None => return Err(invalid(format!("</{}> closes nothing", name.trim_end()))),
                }
                if open.is_empty() {
                    return Ok(elements);
                }
                rest = after;
                continue;
            }
            let tag = &tag[1..];
            let name = &tag[..tag.find(ends_name).unwrap_or(tag.len())];
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if !is_name {
                return Err(invalid("`<` begins no element".to_owned()));
            }
            let (is_closed, after) = end_of_tag(&tag[name.len()..])
                .ok_or_else(|| invalid(format!("`>` is missing behind <{name}")))?;
            let own = name.rsplit(':').next().unwrap_or(name).to_owned();
            elements.all.push(Element { name: own, text: String::new() });
            if !is_closed {
                open.push((elements.all.len() - 1, name));
            } else if open.is_empty() {
                return Ok(elements);
            }
            rest = after;
        }
    }

    fn add_text(&mut self, place: usize, text: &str) {
        if text.is_empty() {
            return;
        }
        self.all[place].text.push_str(text);
        self.text.push_str(text);
        self.text.push(' ');
    }

    /// Returns the name of the outermost element.
    pub(super) fn root(&self) -> &str {
        self.all.first().map_or("", |element| &element.name)
    }

    /// Returns the text of the first element of a name, without blanks around it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all.iter().find(|element| element.name == name).map(Element::text)
    }

    /// Returns the text of the first element of a name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn require(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("it has no element <{name}>"))
    }

    /// Returns the number that the first element of a name holds; `None` without that element.
    ///
    /// # Errors
    /// When its text is not a whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let number =
            |text: &str| text.parse().map_err(|_| format!("<{name}> is `{text}`, not a whole number"));
        self.get(name).map(number).transpose()
    }

    /// Returns all elements.
    pub(super) fn all(&self) -> &[Element] {
        &self.all
    }

    /// Returns the text of all elements, in the order of the document.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Tells whether a character ends the name of an element.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || matches!(c, '/' | '>' | '<' | '=' | '"' | '\'')
}

/// Passes over attributes up to the `>` of a tag.
///
/// Returns whether the tag is an element without content, and the text behind the tag. The result is
/// `None` without a `>`.
fn end_of_tag(attributes: &str) -> Option<(bool, &str)> {
    let mut rest = attributes.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('>') {
            return Some((false, after));
        }
        if let Some(after) = rest.strip_prefix("/>") {
            return Some((true, after));
        }
        let next = rest.chars().next()?;
        match rest.strip_prefix('=').map(str::trim_start) {
            Some(value) => {
                let mark = value.chars().next().filter(|c| matches!(c, '"' | '\''));
                let quoted = mark.and_then(|mark| value[1..].split_once(mark));
                rest = match quoted {
                    // No value has a `<`. A mark behind one belongs to another tag.
                    Some((inside, after)) if !inside.contains('<') => after,
                    _ => &value[value.find(|c: char| c.is_whitespace() || matches!(c, '>' | '<'))?..],
                };
            }
            None if next == '<' => return None,
            None => rest = &rest[next.len_utf8()..],
        }
        rest = rest.trim_start();
    }
}

/// Most bytes of a reference.
const LONGEST_REFERENCE: usize = 12;

/// Replaces the references of XML by their characters.
///
/// Other references stay as they are.
fn unescaped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';');
        let name = end.map(|end| &rest[1..end]);
        match name.and_then(|name| Some((name.len() + 2, character(name)?))) {
            Some((length, character)) => {
                whole.push(character);
                rest = &rest[length..];
            }
            None => {
                whole.push('&');
                rest = &rest[1..];
            }
        }
    }
    whole + rest
}

/// Returns the character of a reference of this name.
fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_count_in_no_form() {
        for attributes in [
            "",
            " xmlns=\"http://www.lqcd.org/ildg\" xsi:schemaLocation=\"a b\"",
            " xmlns=http://www.lqcd.org/ildg xsi:schemaLocation=http://www.lqcd.org/ildg/filefmt.xsd",
            " xmlns=\"http://www.lqcd.org/ildg xmlns:xsi=\"http://b\"",
            " xmlns=http://www.lqcd.org/ildg\" b='c'",
            " a='x>y' b",
            " a=\"x",
            " = ",
            "\n  a = 'b'\n",
        ] {
            let text = format!("<?xml version=1.0?>\n<i:format{attributes}><lx> 4 </lx><p:ly/></i:format>");
            let elements = Elements::parse(&text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert_eq!((elements.root(), elements.all().len()), ("format", 3), "{text}");
            assert_eq!(elements.number("lx"), Ok(Some(4)), "{text}");
            assert_eq!((elements.get("ly"), elements.get("lz")), (Some(""), None), "{text}");
        }
    }

    #[test]
    fn text_is_that_of_the_document() {
        let text = "\u{feff} <!-- <no> --><a>1 &lt; &#x32; &#51; &amp;&none; &<b><![CDATA[<x> &lt;]]></b> 3</a> junk <";
        let elements = Elements::parse(text).unwrap();
        assert_eq!(elements.get("a"), Some("1 < 2 3 &&none; & 3"));
        assert_eq!(elements.get("b"), Some("<x> &lt;"));
        assert_eq!(elements.text(), "1 < 2 3 &&none; & <x> &lt;  3 ");
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for (text, wanted) in [
            ("", "no element"),
            ("words", "no element"),
            ("words <a></a>", "text comes before"),
            ("<a>", "<a> is not closed"),
            ("<a><b></a>", "<b> is closed by </a>"),
            ("<x:a></y:a>", "<x:a> is closed by </y:a>"),
            ("<a", "`>` is missing"),
            ("<a b=\"<c>", "`>` is missing"),
            ("<a></a", "`>` is missing"),
            ("</a>", "closes nothing"),
            ("<1></1>", "begins no element"),
            ("<a><</a>", "begins no element"),
            ("<!-- <a/>", "`-->` is missing"),
            ("<?xml <a/>", "`?>` is missing"),
            ("<a><![CDATA[</a>", "CDATA"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "begins no element"),
        ] {
            let problem = Elements::parse(text).err().unwrap_or_else(|| panic!("{text} was read"));
            assert!(problem.contains(wanted), "{text}: {problem}");
        }
    }

    /// A parser with a step for each pair of tags or attributes would not come to an end.
    #[test]
    fn long_records_are_little_work() {
        let count = 100_000;
        let deep = "<a>".repeat(count) + &"</a>".repeat(count);
        let flat = format!("<a>{}</a>", "<b>1</b>".repeat(count));
        let spaces: String = (0..count).map(|n| format!(" xmlns:p{n}='u' q{n}=\"")).collect();
        let nested: String = (0..count).map(|n| format!("<a xmlns:p{n}='u'>")).collect();
        assert_eq!(Elements::parse(&deep).unwrap().all().len(), count);
        assert_eq!(Elements::parse(&flat).unwrap().all().len(), count + 1);
        assert!(Elements::parse(&format!("<a{spaces}/>")).is_ok());
        assert!(Elements::parse(&nested).is_err());
        assert!(Elements::parse(&"&".repeat(count)).is_err());
    }
}
