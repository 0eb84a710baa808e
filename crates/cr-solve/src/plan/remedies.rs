//! Changes with which a job fits that does not.

use super::room::{Room, compare};
use lattice_cl::Dims;
use lattice_cl::compute::Team;
use lattice_cl::host::Reconstruction;
use lattice_cl::job::{Job, MultigridKeys, Needs, Solver, WantedPrecision};
use lattice_cl::solve::{Inner, IterationPrecision};

/// Devices that are asked for at most.
const MOST_DEVICES: u64 = 1024;

/// A change of a job, in words and as a function.
type Change<'a> = (&'static str, &'a dyn Fn(&mut Job));

/// Returns in words the changes with which the job fits, each alone.
///
/// `short` is the memory of the job as it is.
pub fn find(job: &Job, team: &Team, dims: Dims, short: &[Room]) -> Vec<String> {
    let fits =
        |job: &Job| Needs::of(job, team, dims).is_ok_and(|needs| compare(&needs).iter().all(Room::fits));
    let changed = |change: &dyn Fn(&mut Job)| {
        let mut job = job.clone();
        change(&mut job);
        fits(&job)
    };
    let mut found = Vec::new();
    let mixed = |inner| Some(WantedPrecision::This(IterationPrecision::Mixed(inner)));
    let changes: [Change<'_>; 7] = [
        ("set solver.precision = \"mixed-single\"", &|job| job.solver.precision = mixed(Inner::Single)),
        ("set solver.precision = \"mixed-half\"", &|job| job.solver.precision = mixed(Inner::Half)),
        ("set configuration.links = 12", &|job| job.configuration.links = Reconstruction::Twelve),
        ("set configuration.links = 8", &|job| job.configuration.links = Reconstruction::Eight),
        ("set solver.solver = \"auto\"", &|job| with_solver(job, "auto")),
        ("set solver.solver = \"cg\"", &|job| with_solver(job, "cg")),
        ("leave out [hadrons]", &|job| job.hadrons = Default::default()),
    ];
    let words = changes.into_iter().filter(|(_, change)| changed(*change)).map(|(words, _)| words.to_owned());
    found.extend(words);
    if found.is_empty() {
        let all = |job: &mut Job| {
            with_solver(job, "cg");
            job.solver.precision = mixed(Inner::Half);
            job.configuration.links = Reconstruction::Eight;
        };
        if changed(&all) {
            found.push(
                "set solver.solver = \"cg\", solver.precision = \"mixed-half\" and configuration.links = 8"
                    .to_owned(),
            );
        }
    }
    found.extend(more_devices(short, team.len().max(1) as u64));
    found
}

/// Sets the method, without the keys of another one.
fn with_solver(job: &mut Job, name: &str) {
    let Ok(solver) = name.parse::<Solver>() else { return };
    job.solver.solver = solver;
    job.solver.system = None;
    job.solver.multigrid = MultigridKeys::default();
    job.solver.deflate = None;
}

/// Says how many devices or processes would have the memory together.
fn more_devices(short: &[Room], now: u64) -> Option<String> {
    let times = short.iter().filter(|room| !room.fits()).filter_map(|room| {
        let available = room.available_bytes.filter(|available| *available > 0)?;
        Some(room.bytes.div_ceil(available))
    });
    let wanted = now * times.max()?.next_power_of_two();
    (wanted <= MOST_DEVICES).then(|| format!("take {wanted} such devices or machines in place of {now}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_devices_have_the_memory_together() {
        let room =
            |bytes, available| Room { owner: "a card".to_owned(), bytes, available_bytes: Some(available) };
        let wanted = more_devices(&[room(90, 40), room(10, 40)], 1);
        assert_eq!(wanted.as_deref(), Some("take 4 such devices or machines in place of 1"));
        assert_eq!(more_devices(&[room(u64::MAX / 4, 1)], 1), None);
    }
}
