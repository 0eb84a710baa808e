//! The document of a checkpoint: JSON, with every number to the last bit.

use lattice_cl::solve::{Attempt, Earlier, KeptChoice, SolveParams};
use lattice_cli::failure::{Failure, Status};
use lattice_solvers::{Residual, SolverState, Work};
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

const SCHEMA_VERSION: u32 = 4;

/// The document of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub struct Document {
    schema_version: u32,
    about: String,
    /// Names and values that tell the job from others.
    pub job: Vec<(String, String)>,
    /// Seconds spent on the job until this checkpoint.
    pub seconds: f64,
    /// Solves that are done, in the order of their sources.
    pub finished: Vec<Finished>,
    /// The solve that is under way, if there is one.
    pub current: Option<Current>,
}

/// A solve that is done.
///
/// The solution is in a file beside the checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Label of the solve.
    pub label: String,
    pub iterations: usize,
    pub iterated: Bits,
    pub true_residual: Bits,
    /// The BLAKE3 sum of the solution.
    pub sum: String,
    /// Attempts of an automatic choice of the method.
    #[serde(default)]
    pub attempts: Vec<KeptAttempt>,
}

/// One method's part in a solve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptAttempt {
    params: SolveParams,
    #[serde(default)]
    multigrid: bool,
    iterations: usize,
    applications: usize,
    iterated: Bits,
    true_residual: Bits,
    nanoseconds: u64,
    flops: u64,
    bytes: u64,
    failure: Option<String>,
}

impl From<&Attempt> for KeptAttempt {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { params, multigrid, iterations, applications, residual, time, work, failure } = attempt;
        Self {
            params: *params,
            multigrid: *multigrid,
            iterations: *iterations,
            applications: *applications,
            iterated: Bits(residual.iterated),
            true_residual: Bits(residual.true_residual),
            nanoseconds: time.as_nanos() as u64,
            flops: work.flops,
            bytes: work.bytes,
            failure: failure.clone(),
        }
    }
}

impl From<&KeptAttempt> for Attempt {
    fn from(kept: &KeptAttempt) -> Self {
        Self {
            params: kept.params,
            multigrid: kept.multigrid,
            iterations: kept.iterations,
            applications: kept.applications,
            residual: Residual { iterated: kept.iterated.0, true_residual: kept.true_residual.0 },
            time: Duration::from_nanos(kept.nanoseconds),
            work: Work { flops: kept.flops, bytes: kept.bytes },
            failure: kept.failure.clone(),
        }
    }
}

/// The state of a solve.
///
/// The first block of the file is the history, and the vectors follow. If other methods were tried
/// before, the history of these comes next. The best iterate is last, if there is one.
#[derive(Debug, Serialize, Deserialize)]
pub struct Current {
    /// Label of the solve.
    pub label: String,
    method: String,
    vectors: Vec<String>,
    scalars: Vec<(String, Bits, Bits)>,
    numbers: Vec<(String, Bits)>,
    counts: Vec<(String, u64)>,
    #[serde(default)]
    attempts: Vec<KeptAttempt>,
}

/// A number as its bits.
///
/// JSON has no NaN, and readers of JSON may round.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub f64);

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Serialize for Bits {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:016x}", self.0.to_bits()))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bits = u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)?;
        Ok(Self(f64::from_bits(bits)))
    }
}

impl Document {
    /// Creates the document of a job that is under way.
    pub fn new(
        job: Vec<(String, String)>,
        seconds: f64,
        finished: Vec<Finished>,
        current: Option<Current>,
    ) -> Self {
        let about = "State of a job; cr-solve goes on from it with --resume".to_owned();
        Self { schema_version: SCHEMA_VERSION, about, job, seconds, finished, current }
    }

    /// Parses the text of the checkpoint at `path`.
    ///
    /// # Errors
    /// When the text is of another version or is not a checkpoint.
    pub fn read(path: &Path, text: &str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let unknown = |problem: String| {
            let message = format!("{}: {problem}", path.display());
            Failure::new(Status::File, anyhow::Error::msg(message))
                .hint("go on with the version of cr-solve that wrote it, or start anew without it")
        };
        let version: Version = serde_json::from_str(text)
            .map_err(|error| unknown(format!("not a checkpoint of cr-solve: {error}")))?;
        if version.schema_version != SCHEMA_VERSION {
            return Err(unknown(format!(
                "is a checkpoint of version {}, and this program reads version {SCHEMA_VERSION}",
                version.schema_version
            )));
        }
        serde_json::from_str(text)
            .map_err(|error| unknown(format!("the checkpoint is not understood: {error}")))
    }
}

impl Current {
    /// Collects the parts of a state that are not in blocks.
    pub fn of<V, W>(label: &str, earlier: &Earlier<V>, state: &SolverState<W>) -> Self {
        Self {
            label: label.to_owned(),
            method: state.method.to_string(),
            vectors: state.vectors.iter().map(|(name, _)| name.to_string()).collect(),
            scalars: state
                .scalars
                .iter()
                .map(|(name, z)| (name.to_string(), Bits(z.re), Bits(z.im)))
                .collect(),
            numbers: state.numbers.iter().map(|(name, number)| (name.to_string(), Bits(*number))).collect(),
            counts: state.counts.iter().map(|(name, count)| (name.to_string(), *count)).collect(),
            attempts: earlier.attempts.iter().map(KeptAttempt::from).collect(),
        }
    }

    /// Returns the state with these blocks, and the attempts before it.
    ///
    /// `None` if the number of blocks does not fit the state.
    pub fn state(self, blocks: Vec<Vec<u8>>) -> Option<KeptChoice> {
        let mut blocks = blocks.into_iter();
        let history = history_of(&blocks.next()?)?;
        let count = self.vectors.len();
        let vectors: Vec<_> = self.vectors.into_iter().map(Into::into).zip(blocks.by_ref()).collect();
        let mut earlier = Earlier::default();
        if !self.attempts.is_empty() {
            earlier.attempts = self.attempts.iter().map(Attempt::from).collect();
            earlier.history = history_of(&blocks.next()?)?;
            earlier.best = blocks.next();
        }
        if vectors.len() != count || blocks.next().is_some() {
            return None;
        }
        let state = SolverState {
            method: self.method.into(),
            vectors,
            scalars: self
                .scalars
                .into_iter()
                .map(|(name, re, im)| (name.into(), Complex64::new(re.0, im.0)))
                .collect(),
            numbers: self.numbers.into_iter().map(|(name, number)| (name.into(), number.0)).collect(),
            counts: self.counts.into_iter().map(|(name, count)| (name.into(), count)).collect(),
            history,
        };
        Some((earlier, state))
    }
}

/// Returns the block of a history.
pub fn block_of(history: &[f64]) -> Vec<u8> {
    bytemuck::cast_slice(history).to_vec()
}

fn history_of(block: &[u8]) -> Option<Vec<f64>> {
    let numbers = block.chunks(size_of::<f64>()).map(|bytes| bytes.try_into().map(f64::from_ne_bytes));
    numbers.collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::solve::BicgstabParams;

    fn state() -> SolverState<Vec<u8>> {
        SolverState {
            method: "CG".into(),
            vectors: vec![("x".into(), vec![1, 2]), ("r".into(), vec![])],
            scalars: vec![("(r, r)".into(), Complex64::new(0.1, -0.0))],
            numbers: vec![("target".into(), f64::INFINITY), ("smallest".into(), f64::from_bits(1))],
            counts: vec![("flops".into(), u64::MAX)],
            history: vec![1.0, 0.1 + 0.2, 1e-300],
        }
    }

    fn attempt() -> Attempt {
        Attempt {
            params: SolveParams::Bicgstab(BicgstabParams::default()),
            multigrid: false,
            iterations: 12,
            applications: 25,
            residual: Residual { iterated: 0.1 + 0.2, true_residual: f64::NAN },
            time: Duration::from_nanos(123_456_789_012),
            work: Work { flops: 7, bytes: u64::MAX },
            failure: Some("‖r‖ is infinite or not a number".to_owned()),
        }
    }

    #[test]
    fn a_state_comes_back_to_the_last_bit() {
        let blocks = || vec![block_of(&state().history), vec![1, 2], vec![]];
        let finished = Finished {
            label: "point 0.0.0.0, spin 3, colour 2".to_owned(),
            iterations: 17,
            iterated: Bits(1e-11 / 3.0),
            true_residual: Bits(2e-11 / 3.0),
            sum: "ab".to_owned(),
            attempts: vec![KeptAttempt::from(&attempt())],
        };
        let job = vec![("kappa".to_owned(), "0.13".to_owned())];
        let current = Current::of("a", &Earlier::<()>::default(), &state());
        let document = Document::new(job.clone(), 1.5, vec![finished.clone()], Some(current));
        let text = serde_json::to_string(&document).unwrap();
        let read = Document::read(Path::new("solve.checkpoint"), &text).unwrap();
        assert_eq!((read.job, read.finished), (job, vec![finished]));
        let current = read.current.unwrap();
        assert_eq!(current.label, "a");
        assert_eq!(current.state(blocks()), Some((Earlier::default(), state())));
        let same = || Current::of("a", &Earlier::<()>::default(), &state());
        assert_eq!(same().state(blocks()[..2].to_vec()), None);
        assert_eq!(same().state([blocks(), vec![vec![]]].concat()), None);
    }

    #[test]
    fn what_was_tried_before_comes_back_too() {
        for best in [None, Some(vec![3, 4])] {
            let earlier = Earlier { attempts: vec![attempt()], history: vec![1.0, 0.1], best };
            let text = serde_json::to_string(&Current::of("a", &earlier, &state())).unwrap();
            let mut blocks = vec![block_of(&state().history), vec![1, 2], vec![], block_of(&earlier.history)];
            blocks.extend(earlier.best.clone());
            let current: Current = serde_json::from_str(&text).unwrap();
            let (back, state_back) = current.state(blocks).unwrap();
            assert_eq!((&back.history, &back.best, state_back), (&earlier.history, &earlier.best, state()));
            // NaN is not equal to itself.
            assert_eq!(format!("{:?}", back.attempts), format!("{:?}", earlier.attempts));
        }
    }

    #[test]
    fn other_versions_are_refused() {
        let text = serde_json::to_string(&Document::new(vec![], 0.0, vec![], None)).unwrap();
        let older = text.replace(&format!("\"schema_version\":{SCHEMA_VERSION}"), "\"schema_version\":3");
        let error = Document::read(Path::new("solve.checkpoint"), &older).unwrap_err();
        assert!(
            error.error.to_string().contains("of version 3, and this program reads version 4"),
            "{}",
            error.error
        );
        assert!(Document::read(Path::new("solve.checkpoint"), "{}").is_err());
    }
}
