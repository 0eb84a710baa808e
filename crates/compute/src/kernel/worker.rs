//! Processes that compile programs for the cache beside this one.
//!
//! NVIDIA's compiler takes one program at a time in a process (580.159.04). Several processes compile
//! beside each other. A worker gets requests as lines of JSON on its standard input. It answers each
//! with a line, and ends with its input.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The way to start a worker.
///
/// The program calls [`serve_compile_requests`](crate::serve_compile_requests), and nothing before it
/// that writes to standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileWorkers {
    program: PathBuf,
    arguments: Vec<OsString>,
}

/// What a worker is to compile.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CompileRequest {
    /// The label of the device.
    pub device: String,
    /// The folder of compiled programs.
    pub directory: PathBuf,
    /// Everything that the binary depends on, as text.
    pub identity: String,
    /// The options of the compiler.
    pub options: String,
    /// The text of the program.
    pub source: String,
    /// The name of the program for people.
    pub program: String,
}

/// A worker that runs.
#[derive(Debug)]
pub(crate) struct CompileWorker {
    child: Child,
    /// `None` once the worker is to end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The answer to a request that was done.
pub(crate) const COMPILED: &str = "compiled";

/// The answer to a request that failed.
pub(crate) const FAILED: &str = "failed";

impl CompileWorkers {
    /// Takes a program with these arguments as a worker.
    pub fn new(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self { program, arguments: arguments.into_iter().collect() }
    }

    /// Starts a worker.
    pub(crate) fn start(&self) -> io::Result<CompileWorker> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(CompileWorker { child, requests, answers: BufReader::new(answers) })
    }
}

impl CompileWorker {
    /// Has a program compiled into the cache, and returns `true` if it is there now.
    ///
    /// # Errors
    /// When the worker has ended.
    pub fn compile(&mut self, request: &CompileRequest) -> io::Result<bool> {
        let requests = self.requests.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        requests.write_all(&line)?;
        requests.flush()?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(answer.trim_end() == COMPILED),
        }
    }
}

impl Drop for CompileWorker {
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
