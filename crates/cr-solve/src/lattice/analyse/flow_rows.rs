//! The energy along the gradient flow in a result.

use lattice_statistics::FLOW_TARGET;
use serde::Deserialize;
use serde_json::Value;

/// The rows of a result of `flow`.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRows {
    /// Flow times in units of the lattice spacing squared.
    pub times: Vec<f64>,
    /// The clover energy at each time.
    pub energies: Vec<f64>,
    /// The reference values of the scales.
    pub references: Vec<f64>,
}

#[derive(Deserialize)]
struct Document {
    rows: Vec<Row>,
    #[serde(default)]
    scales: Vec<Scale>,
}

#[derive(Deserialize)]
struct Row {
    time: f64,
    energy: Energy,
}

#[derive(Deserialize)]
struct Energy {
    clover: f64,
}

#[derive(Deserialize)]
struct Scale {
    reference: f64,
}

impl FlowRows {
    /// Returns the rows of a result; `None` if it is none of `flow`.
    pub fn of(result: &Value) -> Option<Self> {
        let Document { rows, scales } = Document::deserialize(result).ok()?;
        let mut references: Vec<f64> = scales.iter().map(|scale| scale.reference).collect();
        if references.is_empty() {
            references.push(FLOW_TARGET);
        }
        let times = rows.iter().map(|row| row.time).collect();
        let energies = rows.iter().map(|row| row.energy.clover).collect();
        (!rows.is_empty()).then_some(Self { times, energies, references })
    }
}
