//! A search for variants: where it runs, how long, and what it has found.

use super::progress::Progress;
use lattice_cl::compute::{Device, Team};
use lattice_cl::tuning::{self, Key, TuningResult};
use lattice_cli::failure::Failure;
use lattice_cli::report::Report;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The time of a search.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Budget {
    /// Most seconds for one kernel
    #[arg(long, value_name = "SECONDS", default_value_t = tuning::BUDGET.as_secs())]
    budget: u64,
}

impl Budget {
    /// Returns the most time for one kernel.
    pub fn of_kernel(self) -> Duration {
        Duration::from_secs(self.budget)
    }
}

/// A search on one device.
pub struct Search<'a> {
    pub team: &'a Team,
    pub device: &'a Device,
    pub report: &'a Report,
    pub progress: &'a Progress,
    /// The results so far.
    pub rows: Vec<Row>,
}

impl Search<'_> {
    /// Adds the result for a kernel.
    pub fn add<V: Serialize>(&mut self, key: &Key, shipped: &V, found: &TuningResult<V>) {
        self.rows.push(Row::new(key, shipped, found));
    }
}

/// The result for one kernel.
#[derive(Serialize)]
pub struct Row {
    pub kernel: String,
    pub options: String,
    pub extents: String,
    shipped: Value,
    pub shipped_microseconds: f64,
    variant: Value,
    pub microseconds: f64,
    /// Speed of the fastest variant as a multiple of the shipped variant's speed.
    pub gain: f64,
    pub variants_tried: usize,
}

impl Row {
    fn new<V: Serialize>(key: &Key, shipped: &V, found: &TuningResult<V>) -> Self {
        // Variants are plain structures, and are kept as JSON.
        let value = |variant: &V| serde_json::to_value(variant).unwrap_or_default();
        Self {
            kernel: key.kernel().to_owned(),
            options: key.options().to_owned(),
            extents: key.extents().to_owned(),
            shipped: value(shipped),
            shipped_microseconds: found.shipped_time.as_secs_f64() * 1e6,
            variant: value(&found.variant),
            microseconds: found.time.as_secs_f64() * 1e6,
            gain: found.gain(),
            variants_tried: found.tried,
        }
    }

    /// Says what the fastest variant has and the shipped one lacks.
    pub fn changes(&self) -> String {
        match (&self.variant, &self.shipped) {
            (variant, shipped) if variant == shipped => "default".to_owned(),
            (Value::Object(variant), Value::Object(shipped)) => {
                let changed = variant.iter().filter(|(name, value)| shipped.get(*name) != Some(value));
                tuning::text_of(&changed.collect::<BTreeMap<_, _>>())
            }
            (variant, _) => tuning::text_of(variant),
        }
    }
}

/// Parses a size of `--sizes`.
pub fn size_of_text<S>(text: &str, parse: impl Fn(&str) -> Result<S, String>) -> Result<S, Failure> {
    parse(text).map_err(|message| Failure::usage(format!("--sizes {text}: {message}")))
}
