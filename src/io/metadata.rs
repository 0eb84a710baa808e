//! The XML records of ILDG and SciDAC files.
//!
//! Problems are returned as text. The caller knows the file and the record.

use super::checksum::{Sums, hexadecimal};
use crate::geometry::{Dims, DimsError, NDIM};
use crate::scalar::Precision;
use lattice_files::number::real;
use roxmltree::Document;

/// A problem of a record of metadata.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The record cannot be understood.
    Text(String),
    /// The record is well formed, but its extents are not those of a lattice.
    Extents(DimsError),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Text(text) => f.write_str(text),
            Problem::Extents(error) => error.fmt(f),
        }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Problem::Text(text)
    }
}

/// Most bytes of a record that is parsed as XML.
///
/// Known programs write less than two thousand.
const LONGEST_XML: usize = 64 << 10;

/// Most tags of a record that is parsed as XML.
///
/// Chroma keeps its whole input in such a record, which has some hundreds of tags.
const MOST_TAGS: usize = 8 << 10;

/// Most attributes and namespaces of a record that is parsed as XML.
///
/// The parser compares each attribute with all others.
const MOST_ATTRIBUTES: usize = 64;

/// Parses a record whose size and counts bound the work of the parser.
fn parse_xml(text: &str) -> Result<Document<'_>, String> {
    if text.len() > LONGEST_XML {
        return Err(format!("it has {} bytes, and XML records at most {LONGEST_XML}", text.len()));
    }
    let tags = text.bytes().filter(|&byte| byte == b'<').count();
    if tags > MOST_TAGS {
        return Err(format!("it has {tags} tags, and records at most {MOST_TAGS}"));
    }
    let attributes = attributes(text);
    if attributes > MOST_ATTRIBUTES {
        return Err(format!("it has {attributes} attributes, and records at most {MOST_ATTRIBUTES}"));
    }
    Document::parse(text).map_err(|error| format!("it is not valid XML: {error}"))
}

/// Returns an upper bound for the number of attributes.
///
/// The bound is the number of signs = before a quotation mark.
fn attributes(text: &str) -> usize {
    let quoted = |rest: &str| rest.trim_start().starts_with(['"', '\'']);
    text.match_indices('=').filter(|(at, _)| quoted(&text[at + 1..])).count()
}

/// A parsed record: the text of its elements by their names.
struct Elements<'a>(Document<'a>);

impl<'a> Elements<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        parse_xml(text).map(Self)
    }

    fn root(&self) -> &str {
        self.0.root_element().tag_name().name()
    }

    fn get(&self, name: &str) -> Option<&str> {
        let element =
            self.0.descendants().find(|node| node.is_element() && node.tag_name().name() == name)?;
        Some(element.text().unwrap_or_default().trim())
    }

    fn require(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("it has no element <{name}>"))
    }

    fn number(&self, name: &str) -> Result<usize, String> {
        let text = self.require(name)?;
        text.parse().map_err(|_| format!("<{name}> is `{text}`, not a whole number"))
    }
}

/// Reads the extents and the precision in the record `ildg-format`.
pub(super) fn parse_ildg_format(text: &str) -> Result<(Dims, Precision), Problem> {
    let elements = Elements::parse(text)?;
    let field = elements.require("field")?;
    if field != "su3gauge" {
        return Err(Problem::Text(format!("the field is `{field}`, not `su3gauge`")));
    }
    let precision = match elements.number("precision")? {
        32 => Precision::Single,
        64 => Precision::Double,
        other => return Err(Problem::Text(format!("the precision is {other}, not 32 or 64"))),
    };
    let mut extents = [0; NDIM];
    for (extent, name) in extents.iter_mut().zip(["lx", "ly", "lz", "lt"]) {
        *extent = elements.number(name)?;
    }
    Ok((Dims::new(extents).map_err(Problem::Extents)?, precision))
}

/// Makes the record `ildg-format`.
pub(super) fn ildg_format(dims: Dims, precision: Precision) -> String {
    let [x, y, z, t] = dims.extents();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <ildgFormat xmlns=\"http://www.lqcd.org/ildg\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\">\
         <version>1.0</version><field>su3gauge</field><precision>{}</precision>\
         <lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>",
        precision.bits()
    )
}

/// Reads the extents in a record `ildg-format` that is not valid XML.
///
/// The result is `None` unless the record names all four extents.
pub(super) fn salvaged_extents(text: &str) -> Option<Dims> {
    let mut extents = [0; NDIM];
    for (extent, name) in extents.iter_mut().zip(["<lx>", "<ly>", "<lz>", "<lt>"]) {
        let (_, after) = text.split_once(name)?;
        *extent = after.split('<').next()?.trim().parse().ok()?;
    }
    Dims::new(extents).ok()
}

/// Finds the plaquette in tmLQCD's record `xlf-info` (`plaquette = 0.5876…`).
///
/// The number is returned as printed in the record.
pub(super) fn noted_plaquette(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("plaquette")?;
    let number = after.trim_start().strip_prefix('=')?.split_whitespace().next()?;
    let number = number.trim_end_matches([',', ';']);
    real(number.as_bytes()).is_some().then_some(number)
}

/// Reads the extents in the record `scidac-private-file-xml`.
pub(super) fn parse_scidac_file(text: &str) -> Result<Dims, Problem> {
    let elements = Elements::parse(text)?;
    let volume_format = elements.get("volfmt").unwrap_or("0");
    if volume_format != "0" {
        return Err(Problem::Text(format!(
            "the volume format is {volume_format}: the field is spread over several files; join them first"
        )));
    }
    let dims = elements.require("dims")?;
    let extents = dims.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>();
    let extents = extents.ok().and_then(|extents| <[usize; NDIM]>::try_from(extents).ok());
    let extents = extents.ok_or_else(|| format!("<dims> is `{dims}`, not four extents"))?;
    Dims::new(extents).map_err(Problem::Extents)
}

/// Makes the record `scidac-private-file-xml`.
pub(super) fn scidac_file(dims: Dims) -> String {
    let [x, y, z, t] = dims.extents();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacFile><version>1.1</version><spacetime>4</spacetime>\
         <dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt></scidacFile>"
    )
}

/// The content of a SciDAC record at each site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Four colour matrices: a gauge field.
    Gauge,
    /// A Dirac spinor with colour.
    Spinor,
    /// Twelve Dirac spinors: a matrix in spin and colour.
    Propagator,
}

impl Content {
    /// Returns the name of the data type in QDP, without library and precision.
    fn name(self) -> &'static str {
        match self {
            Content::Gauge => "ColorMatrix",
            Content::Spinor => "DiracFermion",
            Content::Propagator => "DiracPropagator",
        }
    }

    /// Tells whether so many values, each of so many bytes, are this content.
    ///
    /// The values are those of QDP, or there is one value that has the whole site. The sizes of all
    /// kinds of content differ, in both precisions.
    fn fits(self, size: usize, count: usize) -> bool {
        let counts = count == 1 || count == self.count();
        counts && self.precision_of(size, count).is_some()
    }

    fn precision_of(self, size: usize, count: usize) -> Option<Precision> {
        let bytes = size.checked_mul(count)?;
        [Precision::Single, Precision::Double]
            .into_iter()
            .find(|&precision| bytes == self.site_bytes(precision))
    }

    /// Returns the number of values of the data type at a site.
    fn count(self) -> usize {
        match self {
            Content::Gauge => NDIM,
            Content::Spinor | Content::Propagator => 1,
        }
    }

    /// Returns the number of reals in one value of the data type.
    fn reals(self) -> usize {
        match self {
            Content::Gauge => 18,
            Content::Spinor => 24,
            Content::Propagator => 288,
        }
    }

    /// Returns the bytes of one site.
    pub(super) fn site_bytes(self, precision: Precision) -> usize {
        self.count() * self.reals() * precision.bytes()
    }

    /// Returns the name of the content in messages.
    pub(super) fn description(self) -> &'static str {
        match self {
            Content::Gauge => "the links",
            Content::Spinor | Content::Propagator => "the spinors",
        }
    }

    fn spins(self) -> usize {
        match self {
            Content::Gauge => 1,
            Content::Spinor | Content::Propagator => 4,
        }
    }
}

/// The description of the following data in the record `scidac-private-record-xml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScidacRecord {
    /// The data type, for example `QDP_F3_ColorMatrix`.
    pub(super) datatype: String,
    /// The content, if the data type is one of the kinds read here.
    pub(super) content: Option<Content>,
    pub(super) precision: Option<Precision>,
    pub(super) date: Option<String>,
}

/// Reads the record `scidac-private-record-xml`.
pub(super) fn parse_scidac_record(text: &str) -> Result<ScidacRecord, String> {
    let elements = Elements::parse(text)?;
    let datatype = elements.require("datatype")?.to_owned();
    let count = elements.number("datacount")?;
    // Files of the first version call the record type `globaldata`; 0 is a field in both.
    let is_field =
        ["recordtype", "globaldata"].iter().all(|name| elements.get(name).is_none_or(|t| t == "0"));
    let size = elements.number("typesize").ok();
    // Programs have names of their own for data types. The size tells, or else QDP's name.
    let content = [Content::Gauge, Content::Spinor, Content::Propagator].into_iter().find(|content| {
        let told = match size {
            Some(size) => content.fits(size, count),
            None => datatype.ends_with(content.name()) && count == content.count(),
        };
        is_field && told
    });
    let by_size = |content: Content| size.and_then(|size| content.precision_of(size, count));
    let by_letter = match elements.get("precision") {
        Some("F") => Some(Precision::Single),
        Some("D") => Some(Precision::Double),
        _ => None,
    };
    let precision = content.and_then(by_size).or(by_letter);
    Ok(ScidacRecord { datatype, content, precision, date: elements.get("date").map(str::to_owned) })
}

/// Makes the record `scidac-private-record-xml`.
pub(super) fn scidac_record(content: Content, precision: Precision) -> String {
    let letter = match precision {
        Precision::Single => 'F',
        Precision::Double => 'D',
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacRecord><version>1.1</version><recordtype>0</recordtype>\
         <datatype>QDP_{letter}3_{}</datatype><precision>{letter}</precision><colors>3</colors>\
         <spins>{}</spins><typesize>{}</typesize><datacount>{}</datacount></scidacRecord>",
        content.name(),
        content.spins(),
        content.reals() * precision.bytes(),
        content.count()
    )
}

/// Reads the sums in the record `scidac-checksum`.
pub(super) fn parse_scidac_checksum(text: &str) -> Result<Sums, String> {
    let elements = Elements::parse(text)?;
    let sum = |name| {
        let text = elements.require(name)?;
        hexadecimal(text).ok_or_else(|| format!("<{name}> is `{text}`, not a hexadecimal number of 32 bits"))
    };
    Ok([sum("suma")?, sum("sumb")?])
}

/// Makes the record `scidac-checksum`.
pub(super) fn scidac_checksum([a, b]: Sums) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacChecksum><version>1.0</version>\
         <suma>{a:x}</suma><sumb>{b:x}</sumb></scidacChecksum>"
    )
}

/// The kind of a field in a propagator, by its `scidac-record-xml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PropagatorInfo {
    /// A solution for a source of this spin and colour.
    Solution(usize, usize),
    /// A solution for the source before it in the file.
    ///
    /// The record of the source has spin and colour.
    SolutionOfLastSource,
    /// A source of this spin and colour.
    Source(usize, usize),
    /// Something else.
    Other,
}

/// Reads the kind of a field in a propagator from its `scidac-record-xml`.
pub(super) fn parse_propagator_info(text: &str) -> Result<PropagatorInfo, String> {
    let elements = Elements::parse(text)?;
    let below = |name, limit| {
        let value = elements.number(name)?;
        if value < limit { Ok(value) } else { Err(format!("<{name}> is {value}, not below {limit}")) }
    };
    let told = ["spin", "color"].iter().any(|name| elements.get(name).is_some());
    match elements.root() {
        // Older versions of QIO write the second name.
        "usqcdPropInfo" | "usqcdInfo" if told => {
            Ok(PropagatorInfo::Solution(below("spin", 4)?, below("color", 3)?))
        }
        "usqcdPropInfo" | "usqcdInfo" => Ok(PropagatorInfo::SolutionOfLastSource),
        "usqcdSourceInfo" if told => Ok(PropagatorInfo::Source(below("spin", 4)?, below("color", 3)?)),
        _ => Ok(PropagatorInfo::Other),
    }
}

/// Makes the `scidac-record-xml` of one solution of a propagator.
pub(super) fn propagator_info(spin: usize, colour: usize) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><usqcdPropInfo><version>1.0</version>\
         <spin>{spin}</spin><color>{colour}</color><info></info></usqcdPropInfo>"
    )
}

/// Makes the `scidac-file-xml` of a propagator.
///
/// The file holds solutions without their sources.
pub(super) fn propagator_file(info: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><usqcdPropFile><version>1.0</version>\
         <type>DiracFermion_Sink</type><info>{}</info></usqcdPropFile>",
        escaped(info)
    )
}

/// Makes a record of free text as an XML document.
pub(super) fn note(element: &str, text: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><{element}>{}</{element}>", escaped(text))
}

/// Returns the text of a record of free text.
///
/// A document that is nothing but a note gives its text. Another document is returned whole.
pub(super) fn noted(text: &str) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match parse_xml(text) {
        Ok(document) if !document.root_element().children().any(|node| node.is_element()) => {
            words(document.root_element().text().unwrap_or_default())
        }
        _ => words(text),
    }
}

/// Returns the words of a propagator's `scidac-file-xml`.
///
/// The words are those of its element `info`, or all its text.
pub(super) fn described(text: &str) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match Elements::parse(text) {
        Ok(elements) => match elements.get("info") {
            Some(info) => words(info),
            None => {
                let all =
                    elements.0.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
                words(&all.collect::<Vec<_>>().join(" "))
            }
        },
        Err(_) => words(text),
    }
}

/// Returns the parameters of a propagator that have elements of their own.
///
/// Chroma writes such elements.
pub(super) fn parameters(text: &str) -> Vec<(String, String)> {
    const NAMES: [&str; 5] = ["kappa", "mass", "boundary", "t_srce", "t_source"];
    let Ok(elements) = Elements::parse(text) else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    for node in elements.0.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name().to_ascii_lowercase();
        let value = node.text().unwrap_or_default().trim();
        let is_new = NAMES.contains(&name.as_str()) && !found.iter().any(|(other, _)| *other == name);
        if is_new && !value.is_empty() {
            found.push((name, value.to_owned()));
        }
    }
    found
}

/// Escapes text as the content of an element.
///
/// Characters that XML does not know are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims() -> Dims {
        Dims::new([2, 4, 6, 8]).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        for precision in [Precision::Single, Precision::Double] {
            assert_eq!(parse_ildg_format(&ildg_format(dims(), precision)), Ok((dims(), precision)));
            for content in [Content::Gauge, Content::Spinor, Content::Propagator] {
                let record = parse_scidac_record(&scidac_record(content, precision)).unwrap();
                assert_eq!((record.content, record.precision), (Some(content), Some(precision)));
            }
        }
        assert_eq!(parse_scidac_file(&scidac_file(dims())), Ok(dims()));
        assert_eq!(parse_scidac_checksum(&scidac_checksum([0x1, 0xdead_beef])), Ok([0x1, 0xdead_beef]));
        assert_eq!(parse_propagator_info(&propagator_info(3, 2)), Ok(PropagatorInfo::Solution(3, 2)));
        assert_eq!(parse_propagator_info(&note("usqcdSourceInfo", "")), Ok(PropagatorInfo::Other));
        assert!(parse_propagator_info(&propagator_info(4, 0)).is_err());
    }

    #[test]
    fn notes_survive_any_text() {
        let text = "κ < 0.13 & \"c_sw\" > 1\n\u{7}";
        let note = note("note", text);
        assert_eq!(Elements::parse(&note).unwrap().get("note"), Some("κ < 0.13 & \"c_sw\" > 1"));
    }

    #[test]
    fn problems_are_told_apart() {
        let good = ildg_format(dims(), Precision::Double);
        let with = |from: &str, to: &str| parse_ildg_format(&good.replace(from, to)).unwrap_err();
        assert!(matches!(with("<lx>2</lx>", "<lx>0</lx>"), Problem::Extents(DimsError::NotEven { .. })));
        assert!(matches!(with("<lx>2</lx>", "<lx>7</lx>"), Problem::Extents(DimsError::NotEven { .. })));
        let huge = "<lx>1099511627776</lx>";
        assert!(matches!(with("<lx>2</lx>", huge), Problem::Extents(DimsError::TooLarge(_))));
        for (from, to, word) in [
            ("<lx>2</lx>", "<lx>-2</lx>", "<lx>"),
            ("<lx>2</lx>", "", "<lx>"),
            ("su3gauge", "u1gauge", "u1gauge"),
            (">64<", ">16<", "16"),
            ("</ildgFormat>", "", "XML"),
        ] {
            let problem = with(from, to).to_string();
            assert!(problem.contains(word), "{problem}");
        }
    }

    #[test]
    fn sums_may_have_a_prefix() {
        let record = scidac_checksum([0x1c23_1a18, 0x003c_553b]);
        for (from, to) in [("<suma>", "<suma>0x"), ("<suma>", "<suma>0X00"), ("<sumb>", "<sumb> ")] {
            assert_eq!(parse_scidac_checksum(&record.replace(from, to)), Ok([0x1c23_1a18, 0x003c_553b]));
        }
        for wrong in ["<suma>0x0x", "<suma>+", "<suma>-", "<suma>g", "<suma>1"] {
            assert!(parse_scidac_checksum(&record.replace("<suma>", wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn types_of_other_codes_need_their_size() {
        let record = scidac_record(Content::Gauge, Precision::Double);
        for name in ["Lattice", "QUDA_DNc3_GaugeField", "QUDA_FNc3_GaugeField"] {
            let named = record.replace("QDP_D3_ColorMatrix", name);
            let read = parse_scidac_record(&named).unwrap();
            assert_eq!((read.content, read.precision), (Some(Content::Gauge), Some(Precision::Double)));
            for (from, to) in [
                ("<typesize>144<", "<typesize>192<"),
                ("<typesize>144</typesize>", ""),
                ("<datacount>4<", "<datacount>1<"),
            ] {
                let other = named.replace(from, to);
                assert_ne!(other, named);
                assert_eq!(parse_scidac_record(&other).unwrap().content, None, "{other}");
            }
        }
        let other = record.replace("QDP_D3_ColorMatrix", "QUDA_DNc4_GaugeField").replace(">144<", ">256<");
        assert_eq!(parse_scidac_record(&other).unwrap().content, None);
    }

    #[test]
    fn extents_are_salvaged_from_broken_xml() {
        let good = ildg_format(dims(), Precision::Double);
        assert_eq!(salvaged_extents(&good.replace("</ildgFormat>", "")), Some(dims()));
        for (from, to) in [("<lt>", "<tl>"), ("<lx>2", "<lx>3"), ("<ly>4", "<ly>four")] {
            assert_eq!(salvaged_extents(&good.replace(from, to)), None);
        }
    }

    #[test]
    fn the_plaquette_in_a_note_is_found() {
        for (text, wanted) in [
            ("\n plaquette = 0.587654321012\n trajectory nr = 12\n beta = 3.9", Some("0.587654321012")),
            ("plaquette = 5.876543e-01", Some("5.876543e-01")),
            ("plaquette=0.5, beta = 6", Some("0.5")),
            ("plaquette = none", None),
            ("plaquettes were measured", None),
            ("", None),
        ] {
            assert_eq!(noted_plaquette(text), wanted);
        }
    }

    /// Each record is far below a megabyte, and would keep the parser busy for long.
    ///
    /// Parsing would take seconds to hours.
    #[test]
    fn records_that_are_much_work_are_refused_before_they_are_parsed() {
        let nested: String = (0..9000).map(|n| format!("<a xmlns:p{n}='u'>")).collect();
        let attributes: String = (0..60_000).map(|n| format!(" a{n} = \"\"")).collect();
        let hidden = "<a x='>' ".to_owned() + &"b= 'c' ".repeat(100) + "/>";
        for record in [
            "<a>".repeat(200_000),
            "<a>".repeat(9000),
            nested,
            format!("<a{attributes}/>"),
            hidden,
            format!("<a>{}</a>", " ".repeat(100_000)),
        ] {
            let problem = parse_xml(&record).unwrap_err();
            assert!(problem.contains("at most"), "{problem}");
            assert!(parse_ildg_format(&record).is_err() && parse_scidac_record(&record).is_err());
            assert!(parse_scidac_checksum(&record).is_err() && parse_propagator_info(&record).is_err());
            assert!(parse_scidac_file(&record).is_err());
            // Free text needs no parser.
            assert!(!noted(&record).is_empty());
        }
        // Records below the limits are little work, whether or not they are XML.
        assert!(parse_xml(&"<a>".repeat(8000)).is_err());
        assert!(parse_xml(&("<a>".repeat(4000) + &"</a>".repeat(4000))).is_ok());
        let flat = format!("<a>{}</a>", "<b>1</b>".repeat(4000));
        assert!(parse_xml(&flat).is_ok());
    }
}
