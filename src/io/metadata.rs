//! The XML records of ILDG and SciDAC files.
//!
//! Problems are returned as text. The caller knows the file and the record.

use super::checksum::{Sums, hexadecimal};
use super::xml::Elements;
use crate::geometry::{Dims, DimsError, NDIM};
use crate::scalar::Precision;
use lattice_files::number::real;

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

/// What the record `ildg-format` says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IldgFormat {
    /// The extents, unless the record lacks one of them.
    pub(super) dims: Option<Dims>,
    pub(super) precision: Option<Precision>,
}

/// Reads the record `ildg-format`.
///
/// Other records, and the size of the data, tell what it lacks.
pub(super) fn parse_ildg_format(text: &str) -> Result<IldgFormat, Problem> {
    let elements = Elements::parse(text)?;
    if elements.root() != "ildgFormat" {
        return Err(Problem::Text(format!("its element is <{}>, not <ildgFormat>", elements.root())));
    }
    if let Some(field) = elements.get("field").filter(|&field| field != "su3gauge") {
        return Err(Problem::Text(format!("the field is `{field}`, not `su3gauge`")));
    }
    let precision = match elements.number("precision")? {
        None => None,
        Some(32) => Some(Precision::Single),
        Some(64) => Some(Precision::Double),
        Some(other) => return Err(Problem::Text(format!("the precision is {other}, not 32 or 64"))),
    };
    let mut extents = [None; NDIM];
    for (extent, name) in extents.iter_mut().zip(["lx", "ly", "lz", "lt"]) {
        *extent = elements.number(name)?;
    }
    let dims = match extents {
        [Some(x), Some(y), Some(z), Some(t)] => Some(Dims::new([x, y, z, t]).map_err(Problem::Extents)?),
        _ => None,
    };
    Ok(IldgFormat { dims, precision })
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

/// Finds plaquette and link trace in the record `usqcdInfo` of a configuration.
///
/// The numbers are returned as printed in the record.
pub(super) fn usqcd_observables(text: &str) -> [Option<String>; 2] {
    match Elements::parse(text) {
        Ok(elements) if elements.root() == "usqcdInfo" => {
            ["plaq", "linktr"].map(|name| elements.get(name).map(str::to_owned))
        }
        _ => [None, None],
    }
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
    pub(super) const ALL: [Self; 3] = [Self::Gauge, Self::Spinor, Self::Propagator];

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
        let bytes = (size as u64).checked_mul(count as u64);
        counts && bytes.is_some_and(|bytes| self.precision_of(bytes).is_some())
    }

    /// Finds the precision of this content by the bytes of a site.
    pub(super) fn precision_of(self, bytes: u64) -> Option<Precision> {
        [Precision::Single, Precision::Double]
            .into_iter()
            .find(|&precision| bytes == self.site_bytes(precision) as u64)
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
    /// The data type, for example `QDP_F3_ColorMatrix`, or nothing.
    pub(super) datatype: String,
    /// The content, if the data type is one of the kinds read here.
    pub(super) content: Option<Content>,
    pub(super) precision: Option<Precision>,
    pub(super) date: Option<String>,
}

/// Reads the record `scidac-private-record-xml`.
///
/// `site_bytes` are the bytes of the data for each site, where they are known. They tell the content
/// if the record lacks the size or the number of its values.
pub(super) fn parse_scidac_record(text: &str, site_bytes: Option<u64>) -> Result<ScidacRecord, String> {
    let elements = Elements::parse(text)?;
    let datatype = elements.get("datatype").unwrap_or_default().to_owned();
    let [size, count] = ["typesize", "datacount"].map(|name| elements.number(name));
    let (size, count) = (size?, count?);
    // Files of the first version call the record type `globaldata`; 0 is a field in both.
    let is_field =
        ["recordtype", "globaldata"].iter().all(|name| elements.get(name).is_none_or(|t| t == "0"));
    // Programs have names of their own for data types. The size tells, or else QDP's name.
    let told = |content: Content| match (size, count, site_bytes) {
        (Some(size), Some(count), _) => content.fits(size, count),
        (_, _, Some(bytes)) => content.precision_of(bytes).is_some(),
        (None, Some(count), None) => datatype.ends_with(content.name()) && count == content.count(),
        (_, None, None) => datatype.ends_with(content.name()),
    };
    let content = Content::ALL.into_iter().find(|&content| is_field && told(content));
    let bytes = size.zip(count).and_then(|(size, count)| (size as u64).checked_mul(count as u64));
    let by_size = content.zip(bytes.or(site_bytes)).and_then(|(content, bytes)| content.precision_of(bytes));
    let by_letter = match elements.get("precision") {
        Some("F") => Some(Precision::Single),
        Some("D") => Some(Precision::Double),
        _ => None,
    };
    let date = elements.get("date").map(str::to_owned);
    Ok(ScidacRecord { datatype, content, precision: by_size.or(by_letter), date })
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
    /// A source, of this spin and colour if the record says them.
    Source(Option<(usize, usize)>),
    /// Something else.
    Other,
}

/// Reads the kind of a field in a propagator from its `scidac-record-xml`.
pub(super) fn parse_propagator_info(text: &str) -> Result<PropagatorInfo, String> {
    let elements = Elements::parse(text)?;
    let below = |name, limit| match elements.number(name)? {
        Some(value) if value < limit => Ok(value),
        Some(value) => Err(format!("<{name}> is {value}, not below {limit}")),
        None => Err(format!("it has no element <{name}>")),
    };
    let told = ["spin", "color"].iter().any(|name| elements.get(name).is_some());
    let source = || -> Result<Option<(usize, usize)>, String> {
        told.then(|| Ok((below("spin", 4)?, below("color", 3)?))).transpose()
    };
    Ok(match elements.root() {
        // Older versions of QIO write the second name.
        "usqcdPropInfo" | "usqcdInfo" => match source()? {
            Some((spin, colour)) => PropagatorInfo::Solution(spin, colour),
            None => PropagatorInfo::SolutionOfLastSource,
        },
        "usqcdSourceInfo" => PropagatorInfo::Source(source()?),
        _ => PropagatorInfo::Other,
    })
}

/// Makes the `scidac-record-xml` of one solution of a propagator.
pub(super) fn propagator_info(spin: usize, colour: usize) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><usqcdPropInfo><version>1.0</version>\
         <spin>{spin}</spin><color>{colour}</color><info></info></usqcdPropInfo>"
    )
}

/// Makes the `scidac-file-xml` of a propagator with so many solutions.
///
/// The file holds solutions without their sources. The number has the same width in all files.
pub(super) fn propagator_file(info: &str, solutions: usize) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><usqcdPropFile><version>1.0</version>\
         <type>DiracFermion_Sink</type><solutions>{solutions:20}</solutions><info>{}</info></usqcdPropFile>",
        escaped(info)
    )
}

/// The number of solutions that the `scidac-file-xml` of a propagator states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SolutionCount {
    Exactly(usize),
    /// Any number, because solutions are kept one by one.
    Any,
    NotStated,
}

/// Reads how many solutions a propagator has from its `scidac-file-xml`.
///
/// The types of USQCD and tmLQCD tell twelve solutions from single ones.
pub(super) fn solutions_of_file(text: &str) -> SolutionCount {
    let Ok(elements) = Elements::parse(text) else { return SolutionCount::NotStated };
    let kind = elements.get("type").filter(|_| elements.root() == "usqcdPropFile").unwrap_or_default();
    match elements.number("solutions") {
        Ok(Some(solutions)) => SolutionCount::Exactly(solutions),
        _ if kind.ends_with("TwelveSink") => SolutionCount::Exactly(12),
        _ if kind.ends_with("_Sink") || kind.ends_with("_Sink_Pairs") => SolutionCount::Any,
        _ => SolutionCount::NotStated,
    }
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
    match Elements::parse(text) {
        Ok(elements) if elements.all().len() == 1 => words(elements.text()),
        _ => words(text),
    }
}

/// Returns the words of a propagator's `scidac-file-xml`.
///
/// The words are those of its element `info`, or all its text.
pub(super) fn described(text: &str) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match Elements::parse(text) {
        Ok(elements) => words(elements.get("info").unwrap_or(elements.text())),
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
    for element in elements.all() {
        let (name, value) = (element.name.to_ascii_lowercase(), element.text());
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
            let read = parse_ildg_format(&ildg_format(dims(), precision));
            assert_eq!(read, Ok(IldgFormat { dims: Some(dims()), precision: Some(precision) }));
            for content in [Content::Gauge, Content::Spinor, Content::Propagator] {
                let record = parse_scidac_record(&scidac_record(content, precision), None).unwrap();
                assert_eq!((record.content, record.precision), (Some(content), Some(precision)));
            }
        }
        assert_eq!(parse_scidac_file(&scidac_file(dims())), Ok(dims()));
        assert_eq!(parse_scidac_checksum(&scidac_checksum([0x1, 0xdead_beef])), Ok([0x1, 0xdead_beef]));
        assert_eq!(parse_propagator_info(&propagator_info(3, 2)), Ok(PropagatorInfo::Solution(3, 2)));
        assert_eq!(parse_propagator_info(&note("usqcdSourceInfo", "")), Ok(PropagatorInfo::Source(None)));
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
            let read = parse_scidac_record(&named, None).unwrap();
            assert_eq!((read.content, read.precision), (Some(Content::Gauge), Some(Precision::Double)));
            for (from, to) in [
                ("<typesize>144<", "<typesize>192<"),
                ("<typesize>144</typesize>", ""),
                ("<datacount>4<", "<datacount>1<"),
            ] {
                let other = named.replace(from, to);
                assert_ne!(other, named);
                assert_eq!(parse_scidac_record(&other, None).unwrap().content, None, "{other}");
            }
        }
        let other = record.replace("QDP_D3_ColorMatrix", "QUDA_DNc4_GaugeField").replace(">144<", ">256<");
        assert_eq!(parse_scidac_record(&other, None).unwrap().content, None);
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

    /// Early versions of QIO left out elements, quotation marks and declarations of prefixes.
    #[test]
    fn what_a_record_lacks_is_left_to_others() {
        let good = ildg_format(dims(), Precision::Double);
        let bare = good.replace('"', "").replace("xmlns:xsi=http://www.w3.org/2001/XMLSchema-instance", "");
        assert_eq!(parse_ildg_format(&bare), parse_ildg_format(&good));
        for element in ["<version>1.0</version>", "<field>su3gauge</field>"] {
            assert!(good.contains(element));
            assert_eq!(parse_ildg_format(&good.replace(element, "")), parse_ildg_format(&good));
        }
        let read = |removed| parse_ildg_format(&good.replace(removed, "")).unwrap();
        assert_eq!(read("<precision>64</precision>"), IldgFormat { dims: Some(dims()), precision: None });
        let precision = Some(Precision::Double);
        assert_eq!(read("<ly>4</ly>"), IldgFormat { dims: None, precision });

        let good = scidac_record(Content::Spinor, Precision::Single);
        let whole = parse_scidac_record(&good, Some(96)).unwrap();
        assert_eq!((whole.content, whole.precision), (Some(Content::Spinor), Some(Precision::Single)));
        for element in [
            "<version>1.1</version>",
            "<recordtype>0</recordtype>",
            "<precision>F</precision>",
            "<colors>3</colors>",
            "<spins>4</spins>",
            "<typesize>96</typesize>",
            "<datacount>1</datacount>",
        ] {
            assert!(good.contains(element), "{element}");
            assert_eq!(parse_scidac_record(&good.replace(element, ""), Some(96)), Ok(whole.clone()));
        }
        let nameless = good.replace("<datatype>QDP_F3_DiracFermion</datatype>", "");
        assert_eq!(parse_scidac_record(&nameless, None).unwrap().content, Some(Content::Spinor));
        // The size decides, where it is known.
        let without = good.replace("<typesize>96</typesize>", "");
        assert_eq!(parse_scidac_record(&without, Some(576)).unwrap().content, Some(Content::Gauge));
        assert_eq!(parse_scidac_record(&without, Some(100)).unwrap().content, None);
    }

    #[test]
    fn files_of_propagators_tell_their_solutions() {
        assert_eq!(solutions_of_file(&propagator_file("of <x>", 11)), SolutionCount::Exactly(11));
        assert_eq!(propagator_file("", 0).len(), propagator_file("", usize::MAX).len());
        let of_type = |kind: &str| {
            solutions_of_file(&format!("<usqcdPropFile><type>{kind}</type><info/></usqcdPropFile>"))
        };
        assert_eq!(of_type("USQCD_DiracFermion_ScalarSource_TwelveSink"), SolutionCount::Exactly(12));
        for kind in ["DiracFermion_Sink", "USQCD_DiracFermion_Source_Sink_Pairs"] {
            assert_eq!(of_type(kind), SolutionCount::Any);
        }
        for text in ["", "words", "<propagator><note>a</note></propagator>"] {
            assert_eq!(solutions_of_file(text), SolutionCount::NotStated);
        }
    }
}
