//! Kept results of earlier jobs, for the time of a job like theirs.

use lattice_cl::job::{Action, Job};
use lattice_cl::operator::SiteTerm;
use lattice_cl::solve::SolveParams;
use lattice_cl::{Dims, io};
use lattice_cli::failure::{Failure, Status};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The solves of an earlier job.
#[derive(Clone, Debug)]
pub struct Measured {
    pub file: PathBuf,
    devices: Vec<String>,
    kappa: f64,
    /// The site term, in words.
    action: String,
    solver: String,
    precision: String,
    preconditioning: String,
    links: u64,
    sites: f64,
    pub iterations_of_solve: f64,
    pub seconds_of_iteration_and_site: f64,
}

/// The properties that an earlier job must have for its time to be of use.
pub struct PlannedJob<'a> {
    pub devices: Vec<String>,
    pub kappa: f64,
    pub dims: Dims,
    pub job: &'a Job,
    pub method: SolveParams,
}

impl Measured {
    /// Reads a result that `--results` kept, or `--json` printed.
    ///
    /// # Errors
    /// When the file cannot be read, or is no result of solves.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let result = io::read_results(file)?;
        Self::of(file, &result).ok_or_else(|| {
            let message = format!("{}: this is no result of solves with their time", file.display());
            let failure = Failure::new(Status::File, anyhow::Error::msg(message));
            failure.hint("name a file of --results, or what `cr-solve run --json` printed")
        })
    }

    fn of(file: &Path, result: &Value) -> Option<Self> {
        let text = |name: &str| Some(result.get(name)?.as_str()?.to_owned());
        let numbers =
            |name: &str| result.get(name)?.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<_>>>();
        let devices = result.get("devices")?.as_array()?;
        let devices = devices.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let sites: f64 = numbers("dims")?.iter().product();
        let iterations = iterations(result)?;
        let all: f64 = iterations.iter().sum();
        let seconds = result.pointer("/seconds/solve")?.as_f64()?;
        let number = |name: &str| result.get(name).and_then(Value::as_f64).filter(|number| *number != 0.0);
        let of_terms = || SiteTerm::keys().filter_map(|key| Some((key, number(key)?)));
        let without_job = || serde_json::from_value(of_terms().collect::<Value>()).unwrap_or_default();
        let action = result.pointer("/job/resolved/action").cloned();
        let action: Option<Action> = action.and_then(|action| serde_json::from_value(action).ok());
        (all > 0.0 && sites > 0.0 && seconds > 0.0).then(|| {
            Some(Self {
                file: file.to_owned(),
                devices,
                kappa: result.get("kappa")?.as_f64()?,
                action: action.unwrap_or_else(without_job).operator_words(),
                solver: text("solver")?,
                precision: text("precision")?,
                preconditioning: text("preconditioning")?,
                links: result.get("links")?.as_u64()?,
                sites,
                iterations_of_solve: all / iterations.len() as f64,
                seconds_of_iteration_and_site: seconds / all / sites,
            })
        })?
    }

    /// Says why the time of this result is none for the wanted job; `None` if it is one.
    fn differs(&self, wanted: &PlannedJob<'_>) -> Option<String> {
        let PlannedJob { devices, job, method, .. } = wanted;
        let solver = job.solver.solver.to_string();
        let [precision, preconditioning] =
            [method.precision().to_string(), method.preconditioning().to_string()];
        let links = job.configuration.links.reals() as u64;
        let own = job.action.operator_words();
        let differences = [
            (self.devices != *devices).then(|| format!("devices {}", self.devices.join(", "))),
            (self.action != own).then(|| format!("the operator {}", self.action)),
            (self.solver != solver).then(|| format!("the method {}", self.solver)),
            (self.precision != precision).then(|| format!("the precision {}", self.precision)),
            (self.preconditioning != preconditioning)
                .then(|| format!("the preconditioning {}", self.preconditioning)),
            (self.links != links).then(|| format!("links of {} reals", self.links)),
        ];
        let differences: Vec<String> = differences.into_iter().flatten().collect();
        (!differences.is_empty()).then(|| differences.join(", "))
    }
}

/// Returns the iterations of each solve of a result.
fn iterations(result: &Value) -> Option<Vec<f64>> {
    let of = |one: &Value| -> Option<Vec<f64>> {
        match one.get("solves") {
            Some(solves) => {
                solves.as_array()?.iter().map(|solve| solve.get("iterations")?.as_f64()).collect()
            }
            None => Some(vec![one.get("iterations")?.as_f64()?]),
        }
    };
    match result.get("results").and_then(Value::as_array) {
        Some(results) if !results.is_empty() => {
            let all: Option<Vec<_>> = results.iter().map(of).collect();
            Some(all?.concat())
        }
        _ => of(result),
    }
}

/// Returns the result nearest in κ, then in the number of sites, among those of the wanted kind.
///
/// # Errors
/// The differences of the results, if there are some and all differ.
pub fn nearest<'a>(
    measured: &'a [Measured],
    wanted: &PlannedJob<'_>,
) -> Result<Option<&'a Measured>, String> {
    let alike = measured.iter().filter(|one| one.differs(wanted).is_none());
    let distance = |one: &&Measured| {
        let sites = (one.sites / wanted.dims.volume() as f64).ln().abs();
        ((one.kappa - wanted.kappa).abs(), sites)
    };
    let nearest =
        alike.min_by(|a, b| distance(a).partial_cmp(&distance(b)).unwrap_or(std::cmp::Ordering::Equal));
    match (nearest, measured.first()) {
        (None, Some(first)) => {
            let differences = first.differs(wanted).unwrap_or_default();
            Err(format!("{} tells no time for this job: it has {differences}", first.file.display()))
        }
        (nearest, _) => Ok(nearest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::job::Method;
    use lattice_cl::solve::CgParams;
    use serde_json::json;

    fn result(kappa: f64, devices: &[&str]) -> Measured {
        let value = json!({
            "devices": devices, "dims": [4, 4, 4, 8], "kappa": kappa, "solver": "cg", "precision": "double",
            "preconditioning": "none", "links": 18, "seconds": { "solve": 3.0 },
            "solves": [{ "iterations": 10 }, { "iterations": 20 }],
            "job": { "resolved": { "action": { "kappa": kappa } } },
        });
        Measured::of(Path::new("r.json"), &value).unwrap()
    }

    #[test]
    fn the_nearest_mass_on_these_devices_counts() {
        let one = result(0.1, &["host"]);
        assert_eq!((one.iterations_of_solve, one.seconds_of_iteration_and_site), (15.0, 0.1 / 512.0));
        let job = Job::default()
            .with_action(Action::kappa(0.12))
            .with_solver(Method::default().with_solver("cg".parse().unwrap()));
        let method = SolveParams::Cg(CgParams::default());
        let dims = Dims::new([4, 4, 4, 8]).unwrap();
        let wanted = PlannedJob { devices: vec!["host".to_owned()], kappa: 0.12, dims, job: &job, method };
        let measured = [one, result(0.11, &["host"]), result(0.12, &["another"])];
        assert_eq!(nearest(&measured, &wanted).unwrap().map(|found| found.kappa), Some(0.11));
        let why = nearest(&measured[2..], &wanted).unwrap_err();
        assert!(why.contains("devices another"), "{why}");
        assert!(nearest(&[], &wanted).unwrap().is_none());
        assert!(Measured::of(Path::new("r"), &json!({ "schema_version": 1 })).is_none());
    }
}
