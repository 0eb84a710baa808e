//! Every team of devices there is.
#![allow(dead_code)]

use lattice_cl::device::{Team, discover};

/// The host, each OpenCL device alone, and each device opened two and three times over as a team.
pub fn teams() -> Vec<(String, Team)> {
    let mut teams = vec![("host".to_owned(), Team::host())];
    let discovery = discover();
    assert!(
        !discovery.devices.is_empty(),
        "no OpenCL device: {:?}; run scripts/setup-opencl.sh",
        discovery.absence
    );
    for found in discovery.devices.iter().filter(|found| found.info.fp64) {
        let index = found.selector();
        for count in 1..=3 {
            let team = Team::select(vec![index.clone(); count]).unwrap();
            teams.push((format!("{count} × {}", found.label()), team));
        }
    }
    teams
}

/// |a − b| relative to |b|.
pub fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}
