//! Sources of quarks: right-hand sides for every spin and colour.

use super::noise::{Noise, NoiseKind, interlaced_part};
use super::on_device::SmearingLinks;
use super::propagator::Column;
use super::sequential::{Sequential, SinkField};
use super::smearing::SpinorSmearing;
use crate::compute::Team;
use crate::compute::parallel::*;
use crate::field::SpinorField;
use crate::geometry::{Dims, Lattice, LatticeError, NDIM};
use crate::host::Spinor;
use crate::io::{self, Propagator};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// A source of quarks.
///
/// It has a number for each site, in the column of a spin and a colour. Its text is the same on the
/// command line and in job files.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// 1 on one site, 0 elsewhere. Text `point:x,y,z,t`.
    Point([usize; NDIM]),
    /// e^{ip·x} on one time slice, p_k = 2πn_k/L_k. Text `wall:T` or `wall:T,NX,NY,NZ`.
    Wall {
        /// The time slice.
        slice: usize,
        /// n_x, n_y and n_z.
        momentum: [i32; 3],
    },
    /// 1 on all sites. Text `volume`.
    Volume,
    /// Noise, the same number in all columns.
    ///
    /// Text `z4:SEED,HIT`, then `,t=T` and `,part=K/N`.
    Noise(NoiseSource),
    /// e^{−a rᵖ} on one time slice, r the shortest distance from a site.
    ///
    /// Text `exponential:x,y,z,t,A,P`. The source has no links and needs a fixed gauge.
    Exponential {
        /// The site.
        site: [usize; NDIM],
        /// a.
        decay: f64,
        /// p.
        power: f64,
    },
    /// The columns of a file of propagators. Text `file:PATH`.
    File(PathBuf),
    /// A quark that goes on from a hadron's sink. Text `sequential:HADRON,T`, see [`Sequential`].
    Sequential(Sequential),
}

/// The sites of a noise source.
///
/// A propagator has noise that is diluted in spin and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseSource {
    /// The noise.
    pub noise: Noise,
    /// The time slice of the noise; `None` for all of them.
    pub slice: Option<usize>,
    /// Part K of N: the sites with x + y + z + t = K modulo N.
    pub part: (usize, usize),
}

/// A source that a lattice does not have.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A coordinate of the source is outside of the lattice.
    #[error("the source {origin} lies outside the {dims} lattice: {direction} runs from 0 to {last}", last = dims[*mu] - 1, direction = Dims::direction_name(*mu))]
    Outside {
        /// The source.
        origin: Source,
        /// The lattice.
        dims: Dims,
        /// The direction.
        mu: usize,
    },
    /// A momentum is above the largest one of the lattice.
    #[error("the source {origin} has a momentum that the {dims} lattice does not have: n_{direction} runs from -{most} to {most}", most = dims[*mu] / 2, direction = Dims::direction_name(*mu))]
    Momentum {
        /// The source.
        origin: Source,
        /// The lattice.
        dims: Dims,
        /// The direction.
        mu: usize,
    },
    /// The file of a source cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file of a source is of another lattice.
    #[error("the source {origin} is of a lattice of {found}, not of {dims}; take a file of this lattice")]
    FileDims {
        /// The source.
        origin: Source,
        /// The lattice.
        dims: Dims,
        /// The lattice of the file.
        found: Dims,
    },
    /// The file of a source has no such column.
    #[error(
        "the source {origin} has no column of {column}; invert takes one that is there by spin and colour"
    )]
    NoColumn {
        /// The source.
        origin: Source,
        /// The column.
        column: Column,
    },
    /// The sink of a sequential source is as far away as the lattice is long.
    #[error("the source {origin} has its sink {distance} time slices away, and the {dims} lattice has {extent}; take fewer", extent = dims[NDIM - 1])]
    Sink {
        /// The source.
        origin: Source,
        /// The lattice.
        dims: Dims,
        /// The distance of the sink.
        distance: usize,
    },
    /// The propagators that end at a sequential source are missing.
    #[error("the source {0} goes on from propagators; give its field by SourceFields::at_sink")]
    NoPropagators(Source),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl Source {
    /// Checks that a lattice has the source.
    ///
    /// # Errors
    /// If the source or its sink lies outside the lattice, or has a momentum that the lattice does not have.
    pub fn check(&self, dims: Dims) -> Result<(), SourceError> {
        let site = self.origin();
        if let Some(mu) = (0..NDIM).find(|&mu| site[mu] >= dims[mu]) {
            return Err(SourceError::Outside { origin: self.clone(), dims, mu });
        }
        let momentum = match self {
            Source::Wall { momentum, .. } => momentum,
            &Source::Sequential(Sequential { distance, .. }) if distance >= dims[NDIM - 1] => {
                return Err(SourceError::Sink { origin: self.clone(), dims, distance });
            }
            Source::Sequential(Sequential { momentum, .. }) => momentum,
            _ => return Ok(()),
        };
        match (0..3).find(|&mu| momentum[mu].unsigned_abs() as usize > dims[mu] / 2) {
            Some(mu) => Err(SourceError::Momentum { origin: self.clone(), dims, mu }),
            None => Ok(()),
        }
    }

    /// Returns the site from which distances and phases of a correlator are counted.
    ///
    /// Walls and noise have the origin of space on their slice. Files have the origin. Sequential sources
    /// have that of the propagators which they go on from.
    pub fn origin(&self) -> [usize; NDIM] {
        match *self {
            Source::Point(site) | Source::Exponential { site, .. } => site,
            Source::Wall { slice, .. } | Source::Noise(NoiseSource { slice: Some(slice), .. }) => {
                [0, 0, 0, slice]
            }
            Source::Volume | Source::Noise(_) | Source::File(_) | Source::Sequential(_) => [0; NDIM],
        }
    }

    /// Returns the name of the source in labels of solves: `point 0.0.0.0`.
    pub fn label(&self) -> String {
        let text = self.to_string();
        match text.split_once(':') {
            Some(("file", path)) => format!("file {path}"),
            Some((kind, numbers)) => format!("{kind} {}", numbers.replace(',', ".")),
            None => text,
        }
    }

    /// Returns the number of a site, which is that of all columns.
    ///
    /// Files and sequential sources have none.
    fn number(&self, dims: Dims, site: usize) -> Complex64 {
        let at = dims.coordinates(site);
        let one_if = |is: bool| Complex64::from(if is { 1.0 } else { 0.0 });
        match *self {
            Source::Point(there) => one_if(at == there),
            Source::Wall { slice, momentum } => {
                let turns = (0..3).map(|k| momentum[k] as f64 * at[k] as f64 / dims[k] as f64).sum::<f64>();
                one_if(at[NDIM - 1] == slice) * Complex64::from_polar(1.0, TAU * turns)
            }
            Source::Volume => one_if(true),
            Source::Noise(NoiseSource { noise, slice, part: (part, parts) }) => {
                let is_there = slice.is_none_or(|slice| at[NDIM - 1] == slice)
                    && interlaced_part(dims, site, parts) == part;
                if is_there { noise.number(site, 0) } else { Complex64::default() }
            }
            Source::Exponential { site, decay, power } => {
                let distance = |k: usize| {
                    let along = at[k].abs_diff(site[k]);
                    along.min(dims[k] - along) as f64
                };
                let r = (0..3).map(|k| distance(k).powi(2)).sum::<f64>().sqrt();
                one_if(at[NDIM - 1] == site[NDIM - 1]) * (-decay * r.powf(power)).exp()
            }
            Source::File(_) | Source::Sequential(_) => Complex64::default(),
        }
    }
}

/// The right-hand sides of a source.
///
/// The source's file is read, and the links of its smearing are there.
#[derive(Clone, Debug)]
pub struct SourceFields {
    source: Source,
    dims: Dims,
    file: Option<Arc<Propagator>>,
    at_sink: Option<Arc<SinkField>>,
    smearing: Option<(SpinorSmearing, Arc<SmearingLinks>)>,
}

impl SourceFields {
    /// Reads the file of a source, if it has one. The smearing comes with its links.
    ///
    /// # Errors
    /// If the lattice does not have the source, and if its file cannot be read.
    pub fn new(
        source: Source,
        dims: Dims,
        smearing: Option<(SpinorSmearing, Arc<SmearingLinks>)>,
    ) -> Result<Self, SourceError> {
        source.check(dims)?;
        let file = match &source {
            Source::File(path) => Some(Arc::new(io::read_propagator(path)?)),
            _ => None,
        };
        if let Some(found) = file.as_ref().map(|file| file.dims).filter(|&found| found != dims) {
            return Err(SourceError::FileDims { origin: source, dims, found });
        }
        Ok(Self { source, dims, file, at_sink: None, smearing })
    }

    /// Takes the field of a sequential source, and the smearing of its hadron's sink.
    pub fn at_sink(
        source: Source,
        dims: Dims,
        field: SinkField,
        smearing: Option<(SpinorSmearing, Arc<SmearingLinks>)>,
    ) -> Self {
        Self { source, dims, file: None, at_sink: Some(Arc::new(field)), smearing }
    }

    /// Replaces the smearing of the right-hand sides.
    pub fn smear(&mut self, smearing: Option<(SpinorSmearing, Arc<SmearingLinks>)>) {
        self.smearing = smearing;
    }

    /// Checks that the source has a column, which files may lack.
    ///
    /// # Errors
    /// If the column is missing.
    pub fn check(&self, column: Column) -> Result<(), SourceError> {
        self.of_file(column).map(drop)
    }

    /// Returns the column of the file, if the source is one.
    fn of_file(&self, column: Column) -> Result<Option<&[Spinor<f64>]>, SourceError> {
        let Some(file) = &self.file else { return Ok(None) };
        let is_wanted = |spin, colour| Column { spin, colour } == column;
        let record = file.records.iter().find(|record| is_wanted(record.spin, record.colour));
        match record {
            Some(record) => Ok(Some(&record.field)),
            None => Err(SourceError::NoColumn { origin: self.source.clone(), column }),
        }
    }

    /// Returns the right-hand side for one spin and colour.
    ///
    /// The sites are in lexicographic order. The host smears the source.
    ///
    /// # Errors
    /// If the file has no such column, or the field of a sequential source is missing.
    pub fn spinors(&self, column: Column) -> Result<Vec<Spinor<f64>>, SourceError> {
        self.smeared_on(&Team::host(), column)
    }

    fn smeared_on(&self, team: &Team, column: Column) -> Result<Vec<Spinor<f64>>, SourceError> {
        let field = match (self.of_file(column)?, &self.at_sink, &self.source) {
            (Some(field), ..) => field.to_vec(),
            (None, Some(at_sink), _) => at_sink.spinors(column),
            (None, None, Source::Sequential(_)) => {
                return Err(SourceError::NoPropagators(self.source.clone()));
            }
            _ => {
                let of_site = |site| {
                    let mut psi = Spinor::default();
                    psi.0[column.spin][column.colour] = self.source.number(self.dims, site);
                    psi
                };
                (0..self.dims.volume()).into_par_iter().map(of_site).collect()
            }
        };
        Ok(match &self.smearing {
            Some((smearing, links)) => smearing.apply_on(team, links, &field).map_err(LatticeError::from)?,
            None => field,
        })
    }

    /// Returns the right-hand side for one spin and colour on a lattice's devices.
    ///
    /// The first device smears it.
    ///
    /// # Errors
    /// If the file has no such column, if the field of a sequential source is missing, and if a device fails.
    pub fn field(&self, lattice: &Lattice, column: Column) -> Result<SpinorField<f64>, SourceError> {
        match (&self.source, &self.smearing) {
            (&Source::Point(site), None) => Ok(lattice.point_source(site, column.spin, column.colour)?),
            _ => Ok(lattice.spinor_from_host(&self.smeared_on(lattice.team(), column)?)?),
        }
    }
}

impl Default for Source {
    /// Returns the point source at the origin.
    fn default() -> Self {
        Source::Point([0; NDIM])
    }
}

/// Parses `COUNT` numbers with commas between them.
fn numbers<T: FromStr, const COUNT: usize>(text: &str) -> Option<[T; COUNT]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

fn wall(text: &str) -> Option<Source> {
    let (slice, momentum) = text.split_once(',').unwrap_or((text, "0,0,0"));
    Some(Source::Wall { slice: slice.trim().parse().ok()?, momentum: numbers(momentum)? })
}

fn exponential(text: &str) -> Option<Source> {
    let [x, y, z, t, decay, power] = numbers::<f64, 6>(text)?;
    let site = [x, y, z, t].map(|coordinate| coordinate as usize);
    let is_site = site.iter().zip([x, y, z, t]).all(|(&whole, given)| whole as f64 == given);
    let fine = is_site && [decay, power].iter().all(|number| number.is_finite() && *number >= 0.0);
    fine.then_some(Source::Exponential { site, decay, power })
}

fn noise(kind: NoiseKind, text: &str) -> Option<Source> {
    let mut words = text.split(',').map(str::trim);
    let (seed, hit) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let noise = Noise { kind, seed, hit };
    let mut source = NoiseSource { noise, slice: None, part: (0, 1) };
    for word in words {
        match word.split_once('=')? {
            ("t", slice) => source.slice = Some(slice.parse().ok()?),
            ("part", part) => {
                let (part, parts) = part.split_once('/')?;
                source.part = (part.parse().ok()?, parts.parse().ok()?);
            }
            _ => return None,
        }
    }
    (hit < 1 << 31 && source.part.0 < source.part.1).then_some(Source::Noise(source))
}

/// The texts of all kinds of sources, for messages.
const SOURCE_TEXTS: &str = "point:x,y,z,t, wall:T, wall:T,NX,NY,NZ, volume, z4:SEED,HIT (or z2, u1, z2xz2; then ,t=T and ,part=K/N), \
     exponential:x,y,z,t,A,P, file:PATH or sequential:HADRON,T (then ,p=NX/NY/NZ and ,quark=K)";

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let source = match kind {
            "point" => numbers(rest).map(Source::Point),
            "wall" => wall(rest),
            "volume" => (text == "volume").then_some(Source::Volume),
            "exponential" => exponential(rest),
            "sequential" => Some(Source::Sequential(rest.parse()?)),
            "file" => (!rest.is_empty()).then(|| Source::File(rest.into())),
            _ => kind.parse().ok().and_then(|kind| noise(kind, rest)),
        };
        source.ok_or_else(|| {
            format!("`{text}` is not a source; write {SOURCE_TEXTS}, for example point:0,0,0,0")
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Point([x, y, z, t]) => write!(f, "point:{x},{y},{z},{t}"),
            Source::Wall { slice, momentum: [0, 0, 0] } => write!(f, "wall:{slice}"),
            Source::Wall { slice, momentum: [x, y, z] } => write!(f, "wall:{slice},{x},{y},{z}"),
            Source::Volume => f.write_str("volume"),
            Source::Noise(NoiseSource { noise, slice, part: (part, parts) }) => {
                write!(f, "{}:{},{}", noise.kind.name(), noise.seed, noise.hit)?;
                if let Some(slice) = slice {
                    write!(f, ",t={slice}")?;
                }
                if *parts == 1 { Ok(()) } else { write!(f, ",part={part}/{parts}") }
            }
            Source::Exponential { site: [x, y, z, t], decay, power } => {
                write!(f, "exponential:{x},{y},{z},{t},{decay:?},{power:?}")
            }
            Source::File(path) => write!(f, "file:{}", path.display()),
            Source::Sequential(sink) => write!(f, "sequential:{sink}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hadron::Dilution;
    use crate::host::random::spinor_field;
    use crate::io::PropagatorWriter;
    use crate::scalar::Precision;

    const COLUMN: Column = Column { spin: 2, colour: 1 };

    fn dims() -> Dims {
        Dims::new([4, 2, 6, 8]).unwrap()
    }

    fn spinors(text: &str) -> Vec<Spinor<f64>> {
        let fields = SourceFields::new(text.parse().unwrap(), dims(), None).unwrap();
        let spinors = fields.spinors(COLUMN).unwrap();
        let others = |psi: &Spinor<f64>| psi.norm2() - psi.0[2][1].norm_sqr();
        assert!(spinors.iter().all(|psi| others(psi) == 0.0), "{text}");
        spinors
    }

    #[test]
    fn sources_are_read_as_they_are_written() {
        for (text, label) in [
            ("point:1,2,3,5", "point 1.2.3.5"),
            ("wall:3", "wall 3"),
            ("wall:3,1,0,-1", "wall 3.1.0.-1"),
            ("volume", "volume"),
            ("z4:7,2", "z4 7.2"),
            ("z2xz2:7,2,t=5,part=1/2", "z2xz2 7.2.t=5.part=1/2"),
            ("exponential:0,0,1,2,0.5,1.0", "exponential 0.0.1.2.0.5.1.0"),
            ("file:a,b:c.lime", "file a,b:c.lime"),
            ("sequential:pion,4,p=1/0/0", "sequential pion.4.p=1/0/0"),
        ] {
            let source: Source = text.parse().unwrap();
            assert_eq!(source.to_string(), text);
            assert_eq!(source.label(), label);
        }
        let bad = [
            "",
            "point",
            "point:1,2,3",
            "point:1,2,3,-4",
            "wall",
            "wall:x",
            "wall:0,1",
            "volume:1",
            "0,0,0,0",
            "z4:1",
            "z4:1,2147483648",
            "z4:1,0,part=2/2",
            "z4:1,0,x=1",
            "z3:1,0",
            "exponential:0,0,0,0.5,1,1",
            "exponential:0,0,0,0,-1,1",
            "exponential:0,0,0,0,NaN,1",
            "file:",
        ];
        for bad in bad {
            assert!(bad.parse::<Source>().unwrap_err().contains("point:x,y,z,t"), "{bad}");
        }
    }

    #[test]
    fn a_source_outside_of_the_lattice_is_named() {
        for fine in ["point:3,1,5,7", "wall:7,2,-1,3", "z2:1,1,t=7", "volume", "sequential:pion,7"] {
            assert!(fine.parse::<Source>().unwrap().check(dims()).is_ok(), "{fine}");
        }
        for (text, wanted) in [
            ("point:0,0,6,0", "z runs from 0 to 5"),
            ("wall:8", "t runs from 0 to 7"),
            ("z4:1,1,t=9", "t runs from 0 to 7"),
            ("exponential:4,0,0,0,1.0,1.0", "x runs from 0 to 3"),
            ("wall:0,0,0,-4", "n_z runs from -3 to 3"),
            ("sequential:pion,8", "8 time slices away, and the 4x2x6x8 lattice has 8"),
            ("sequential:pion,1,p=0/2/0", "n_y runs from -1 to 1"),
        ] {
            let error = text.parse::<Source>().unwrap().check(dims()).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn numbers_of_sites_follow_the_definitions() {
        let wave = spinors("wall:3,1,0,-2");
        let slice = |t: usize| dims().volume() / 8 * t..dims().volume() / 8 * (t + 1);
        for (site, psi) in wave.iter().enumerate() {
            let [x, _, z, _] = dims().coordinates(site);
            let angle = TAU * (x as f64 / 4.0 - 2.0 * z as f64 / 6.0);
            let expected =
                if slice(3).contains(&site) { Complex64::from_polar(1.0, angle) } else { 0.0.into() };
            assert!((psi.0[2][1] - expected).norm() < 1e-14);
        }
        assert!(spinors("volume").iter().all(|psi| psi.0[2][1] == 1.0.into()));
        let bell = spinors("exponential:3,1,0,2,0.5,1");
        let at = |site| bell[dims().site(site)].0[2][1].re;
        assert_eq!(at([3, 1, 0, 2]), 1.0);
        assert_eq!(at([0, 0, 0, 2]), (-0.5f64 * 2f64.sqrt()).exp());
        assert_eq!(at([3, 1, 4, 2]), (-1.0f64).exp());
        assert_eq!(at([3, 1, 0, 3]), 0.0);
    }

    /// Columns of noise on slices and interlaced sites are parts of a diluted source.
    #[test]
    fn noise_is_a_part_of_its_dilution() {
        let Source::Noise(NoiseSource { noise, .. }) = "u1:5,1".parse().unwrap() else { panic!("noise") };
        let dilution = Dilution { time: true, spin: true, colour: true, interlaced: 2 };
        let site = (0..dims().volume()).find(|&site| dims().coordinates(site) == [0, 1, 0, 4]).unwrap();
        let part = dilution.part_of(dims(), site, COLUMN.spin, COLUMN.colour);
        assert_eq!(spinors("u1:5,1,t=4,part=1/2"), noise.part(dims(), &dilution, part));
    }

    #[test]
    fn a_file_is_a_source_if_it_is_of_the_lattice_and_has_the_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.lime");
        let field = spinor_field(dims(), 3);
        let mut writer = PropagatorWriter::create(&path, dims(), Precision::Double, "a source").unwrap();
        writer.write(COLUMN.spin, COLUMN.colour, &field).unwrap();
        writer.finish().unwrap();
        let source = Source::File(path);
        let fields = SourceFields::new(source.clone(), dims(), None).unwrap();
        assert_eq!(fields.spinors(COLUMN).unwrap(), field);
        let lattice = Lattice::new(&Team::host(), dims()).unwrap();
        assert_eq!(fields.field(&lattice, COLUMN).unwrap().to_host().unwrap(), field);
        let missing = fields.check(Column { spin: 0, colour: 0 }).unwrap_err().to_string();
        assert!(missing.contains("spin 0, colour 0") && missing.contains("source.lime"), "{missing}");
        let other = Dims::new([4, 4, 4, 4]).unwrap();
        let error = SourceFields::new(source, other, None).unwrap_err().to_string();
        assert!(error.contains("4x2x6x8") && error.contains("4x4x4x4"), "{error}");
        let error = SourceFields::new("file:none.lime".parse().unwrap(), other, None).unwrap_err();
        assert!(matches!(error, SourceError::File(_)), "{error}");
    }
}
