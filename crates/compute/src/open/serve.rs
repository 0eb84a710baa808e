//! The work of a process that compiles programs for another.

use super::handle::Device;
use super::options::DeviceOptions;
use crate::kernel::{COMPILED, CacheMode, CompileRequest, FAILED, Program};
use crate::select::discover;
use std::io::{self, BufRead, Write};

/// Compiles programs as another process asks for them, until `requests` ends.
///
/// The other process has [`CompileWorkers`](crate::CompileWorkers) that start this one.
///
/// # Errors
/// When a request cannot be read or is none, and when an answer cannot be written.
pub fn serve_compile_requests(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut open: Vec<(CacheMode, Device)> = Vec::new();
    for line in requests.lines() {
        let request: CompileRequest = serde_json::from_str(&line?)?;
        let answer = if compile(&request, &mut open).is_some() { COMPILED } else { FAILED };
        writeln!(answers, "{answer}")?;
        answers.flush()?;
    }
    Ok(())
}

/// Compiles a program into the cache; `None` if the device is not there, or the text does not compile.
fn compile(request: &CompileRequest, open: &mut Vec<(CacheMode, Device)>) -> Option<()> {
    let cache = CacheMode::Directory(request.directory.clone());
    let known = open.iter().position(|(mode, device)| *mode == cache && device.label() == request.device);
    let known = match known {
        Some(known) => known,
        None => {
            let discovery = discover();
            let found = discovery.devices.iter().find(|found| found.label() == request.device)?;
            let options = DeviceOptions { without_double: true, ..DeviceOptions::default() };
            let device = Device::open(found, &options.with_cache(cache.clone())).ok()?;
            open.push((cache, device));
            open.len() - 1
        }
    };
    let device = &open[known].1;
    Program::compile_for_another(device.core(), device.binary_cache(), request).ok().filter(|kept| *kept)?;
    Some(())
}
