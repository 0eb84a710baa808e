//! Options that every command has.

use super::failure::Failure;
use super::ranks::Ranks;
use super::report::{Output, Report};
use clap::Args;
use lattice_compute::tuning;
use lattice_compute::{
    CacheMode, CompileWorkers, DeviceOptions, Profiling, Recorder, Selector, Team, TuningMode,
};
use std::sync::Once;

/// Options that every subcommand has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// What the program prints.
    #[command(flatten)]
    pub output: Output,
    /// Devices: auto, host, all, PLATFORM.DEVICE or part of a name
    ///
    /// Several devices, with commas or as several options, make a team.
    #[arg(long, global = true, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Compile every kernel anew, and use no tuned kernel variants
    ///
    /// No kernel is kept for the next run, neither here nor by PoCL and NVIDIA's driver.
    #[arg(long, global = true, hide_short_help = true)]
    pub no_cache: bool,
    /// Use the kernel variants that come with the program
    ///
    /// Without this option a GPU searches for the fastest variants on first use.
    #[arg(long, global = true, hide_short_help = true)]
    pub no_tune: bool,
    /// The processes that do the job together.
    #[arg(skip)]
    pub ranks: Ranks,
    /// The processes that compile kernels beside this one, if the program can be started for that.
    #[arg(skip)]
    pub workers: Option<CompileWorkers>,
}

impl Common {
    /// Tells whether all devices were asked for, and none by its name.
    pub fn takes_all_devices(&self) -> bool {
        let selectors: Vec<Selector> = self.device.iter().flat_map(|text| Selector::list(text)).collect();
        selectors == [Selector::All]
    }

    /// Refuses devices where none is used.
    ///
    /// # Errors
    /// When `--device` names one.
    pub fn expect_no_device(&self, command: &str) -> Result<(), Failure> {
        match self.device.iter().find(|device| !matches!(device.as_str(), "auto" | "host")) {
            None => Ok(()),
            Some(device) => {
                let message =
                    format!("{command} runs on the host only, so --device {device} cannot be obeyed");
                Err(Failure::usage(message).hint("leave out --device"))
            }
        }
    }

    /// Returns the options with which devices are opened.
    pub fn device_options(&self, profiling: Profiling) -> DeviceOptions {
        let cache = self.cache();
        // A search is not worth its time if its result cannot be kept.
        let tuning = match cache.tuning_file() {
            Some(_) if !self.no_tune => TuningMode::SearchOnGpus,
            _ => TuningMode::Shipped,
        };
        // Ranks compile beside each other already.
        let workers = self.workers.clone().filter(|_| self.ranks.world().is_none());
        let options =
            DeviceOptions::default().with_profiling(profiling).with_cache(cache).with_tuning(tuning);
        options.with_workers(workers)
    }

    /// Returns the place of compiled programs and tuned kernel variants.
    pub fn cache(&self) -> CacheMode {
        if self.no_cache { CacheMode::Off } else { CacheMode::User }
    }

    /// Opens the devices of `--device`.
    ///
    /// A search for the fastest variant of a kernel shows a bar.
    pub fn team(&self, profiling: Profiling, report: &Report) -> Result<Team, Failure> {
        self.team_with(self.device_options(profiling), report)
    }

    /// Opens the devices of a solve, with a recorder of their commands.
    ///
    /// A search for kernel variants is short, unlike with [`Common::team`].
    pub(crate) fn recorded_team(&self, recorder: Recorder, report: &Report) -> Result<Team, Failure> {
        let search_time = Some(tuning::TIME_ON_FIRST_USE);
        let options =
            self.device_options(Profiling::Off).with_recorder(recorder).with_search_time(search_time);
        self.team_with(options, report)
    }

    /// Opens the devices.
    ///
    /// Each of several processes on a machine opens its share of the devices.
    pub fn team_with(&self, options: DeviceOptions, report: &Report) -> Result<Team, Failure> {
        let selectors = self.device.iter().flat_map(|text| Selector::list(text));
        let options = options.with_observer(report.search_observer()).with_compiling(report.compile_clock());
        let team = Team::select_share(selectors, &options, self.ranks.on_machine())?;
        let team = match self.ranks.world() {
            Some(world) => team.across(world)?,
            None => team,
        };
        // A benchmark opens its devices more than once.
        static SAID: Once = Once::new();
        SAID.call_once(|| team.remarks().iter().for_each(|remark| report.note(remark)));
        Ok(team)
    }
}
