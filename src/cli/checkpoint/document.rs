//! What a checkpoint says of itself: JSON, with every number to the last bit.

use crate::cli::failure::{Failure, Status};
use lattice_solvers::SolverState;
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::path::Path;

const SCHEMA_VERSION: u32 = 1;

/// A whole document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Document {
    schema_version: u32,
    about: String,
    /// What tells the job from others, by name.
    pub job: Vec<(String, String)>,
    /// Time spent on it, until this checkpoint.
    pub seconds: f64,
    /// Solves that are done, in the order of their sources.
    pub finished: Vec<Finished>,
    /// The solve that is not.
    pub current: Option<Current>,
}

/// A solve that is done; its solution is in a file beside the checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub spin: usize,
    pub colour: usize,
    pub iterations: usize,
    pub iterated: Bits,
    pub true_residual: Bits,
    /// The BLAKE3 sum of the solution.
    pub sum: String,
}

/// The state of a solve. The history is the first block of the file, the vectors are the others.
#[derive(Debug, Serialize, Deserialize)]
pub struct Current {
    pub spin: usize,
    pub colour: usize,
    method: String,
    vectors: Vec<String>,
    scalars: Vec<(String, Bits, Bits)>,
    numbers: Vec<(String, Bits)>,
    counts: Vec<(String, u64)>,
}

/// A number as its bits: JSON has no NaN, and its readers may round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bits(pub f64);

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
    /// Of a job that is under way.
    pub fn new(
        job: Vec<(String, String)>,
        seconds: f64,
        finished: Vec<Finished>,
        current: Option<Current>,
    ) -> Self {
        let about = "State of a job; cr-solve goes on from it with --resume".to_owned();
        Self { schema_version: SCHEMA_VERSION, about, job, seconds, finished, current }
    }

    /// Understands the text of the checkpoint at `path`.
    ///
    /// # Errors
    /// When it is another version's.
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
            .map_err(|error| unknown(format!("is no checkpoint of cr-solve: {error}")))?;
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
    /// All of a state but what is in blocks.
    pub fn of<V>(spin: usize, colour: usize, state: &SolverState<V>) -> Self {
        Self {
            spin,
            colour,
            method: state.method.to_string(),
            vectors: state.vectors.iter().map(|(name, _)| name.to_string()).collect(),
            scalars: state
                .scalars
                .iter()
                .map(|(name, z)| (name.to_string(), Bits(z.re), Bits(z.im)))
                .collect(),
            numbers: state.numbers.iter().map(|(name, number)| (name.to_string(), Bits(*number))).collect(),
            counts: state.counts.iter().map(|(name, count)| (name.to_string(), *count)).collect(),
        }
    }

    /// The state, with these blocks; `None` if they are not as many as it has.
    pub fn state(self, blocks: Vec<Vec<u8>>) -> Option<SolverState<Vec<u8>>> {
        let mut blocks = blocks.into_iter();
        let history = history_of(&blocks.next()?)?;
        if blocks.len() != self.vectors.len() {
            return None;
        }
        Some(SolverState {
            method: self.method.into(),
            vectors: self.vectors.into_iter().map(Into::into).zip(blocks).collect(),
            scalars: self
                .scalars
                .into_iter()
                .map(|(name, re, im)| (name.into(), Complex64::new(re.0, im.0)))
                .collect(),
            numbers: self.numbers.into_iter().map(|(name, number)| (name.into(), number.0)).collect(),
            counts: self.counts.into_iter().map(|(name, count)| (name.into(), count)).collect(),
            history,
        })
    }
}

/// The block of a history.
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

    #[test]
    fn a_state_comes_back_to_the_last_bit() {
        let blocks = || vec![block_of(&state().history), vec![1, 2], vec![]];
        let finished = Finished {
            spin: 3,
            colour: 2,
            iterations: 17,
            iterated: Bits(1e-11 / 3.0),
            true_residual: Bits(2e-11 / 3.0),
            sum: "ab".to_owned(),
        };
        let job = vec![("kappa".to_owned(), "0.13".to_owned())];
        let document =
            Document::new(job.clone(), 1.5, vec![finished.clone()], Some(Current::of(1, 2, &state())));
        let text = serde_json::to_string(&document).unwrap();
        let read = Document::read(Path::new("solve.checkpoint"), &text).unwrap();
        assert_eq!((read.job, read.finished), (job, vec![finished]));
        let current = read.current.unwrap();
        assert_eq!((current.spin, current.colour), (1, 2));
        assert_eq!(current.state(blocks()), Some(state()));
        let short = Current::of(1, 2, &state());
        assert_eq!(short.state(blocks()[..2].to_vec()), None);
    }

    #[test]
    fn other_versions_are_refused() {
        let text = serde_json::to_string(&Document::new(vec![], 0.0, vec![], None)).unwrap();
        let newer = text.replace("\"schema_version\":1", "\"schema_version\":2");
        let error = Document::read(Path::new("solve.checkpoint"), &newer).unwrap_err();
        assert!(error.error.to_string().contains("version 2"), "{}", error.error);
        assert!(Document::read(Path::new("solve.checkpoint"), "{}").is_err());
    }
}
