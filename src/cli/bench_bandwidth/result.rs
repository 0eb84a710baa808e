//! The result of `bench bandwidth`: for programs, as a table, as comma-separated values.

use super::session::Subject;
use super::{Arguments, Part};
use crate::cli::statistics::Spread;
use crate::device::Device;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

#[derive(Serialize)]
pub struct Outcome<'a> {
    schema_version: u32,
    /// Version of the program.
    version: &'static str,
    options: &'a Arguments,
    /// False if Ctrl-C came before the end.
    complete: bool,
    devices: Vec<MeasuredDevice>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
pub struct MeasuredDevice {
    label: String,
    platform: String,
    driver: String,
    opencl_version: String,
    compute_units: usize,
    /// As the driver says; 0 where it does not.
    clock_mhz: u32,
    memory_bytes: u64,
    cache_bytes: u64,
    triad_gb_s: f64,
    /// The fastest that was seen of its memory: the triad above, or a stream that is in no cache.
    peak_gb_s: f64,
}

/// Seconds of each call.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Samples {
    /// By the device's own clock; empty where the call is not one command.
    pub event: Vec<f64>,
    /// By the clock on the wall, from the call until it is done.
    pub wall: Vec<f64>,
}

#[derive(Serialize)]
pub struct Row {
    /// Which of `devices`; null for all together.
    device: Option<usize>,
    part: Part,
    kernel: String,
    variant: String,
    array_bytes: u64,
    moved_bytes: u64,
    in_cache: bool,
    event_seconds: Option<Spread>,
    wall_seconds: Spread,
    /// By the median of the device's clock; for transfers, and where there is none, of the wall's.
    gb_s: Option<f64>,
    wall_gb_s: Option<f64>,
    share_of_peak: Option<f64>,
    samples: Samples,
}

impl MeasuredDevice {
    pub fn new(device: &Device, triad_gb_s: f64) -> Self {
        let info = device.info();
        Self {
            label: device.label().to_owned(),
            platform: info.platform.clone(),
            driver: info.driver_version.clone(),
            opencl_version: info.opencl_version.clone(),
            compute_units: info.compute_units,
            clock_mhz: info.clock_mhz,
            memory_bytes: info.memory_bytes,
            cache_bytes: info.cache_bytes,
            triad_gb_s,
            peak_gb_s: triad_gb_s,
        }
    }
}

impl Row {
    /// `None` without samples.
    pub fn new(subject: Subject, samples: Samples) -> Option<Self> {
        let Subject { device, part, kernel, variant, array_bytes, moved_bytes, in_cache } = subject;
        let wall_seconds = Spread::of(&samples.wall)?;
        let event_seconds = Spread::of(&samples.event);
        // Not every way to transfer has an event, and all are to be compared.
        let by = event_seconds.as_ref().filter(|_| part != Part::Transfers).unwrap_or(&wall_seconds);
        let rate = |spread: &Spread| (moved_bytes > 0).then(|| moved_bytes as f64 / spread.median / 1e9);
        Some(Self {
            device,
            part,
            kernel,
            variant,
            array_bytes,
            moved_bytes,
            in_cache,
            gb_s: rate(by),
            wall_gb_s: rate(&wall_seconds),
            event_seconds,
            wall_seconds,
            share_of_peak: None,
            samples,
        })
    }
}

impl<'a> Outcome<'a> {
    pub fn new(
        options: &'a Arguments,
        mut devices: Vec<MeasuredDevice>,
        mut rows: Vec<Row>,
        complete: bool,
    ) -> Self {
        for row in &rows {
            if let (Part::Streams, false, Some(number), Some(rate)) =
                (row.part, row.in_cache, row.device, row.gb_s)
            {
                devices[number].peak_gb_s = devices[number].peak_gb_s.max(rate);
            }
        }
        for row in &mut rows {
            let peak = match row.device {
                Some(number) => devices[number].peak_gb_s,
                None => devices.iter().map(|device| device.peak_gb_s).sum(),
            };
            row.share_of_peak = row.gb_s.map(|rate| rate / peak);
        }
        Self { schema_version: 1, version: env!("CARGO_PKG_VERSION"), options, complete, devices, rows }
    }

    fn device_name(&self, row: &Row) -> &str {
        row.device.map_or("all", |number| &self.devices[number].label)
    }

    pub fn table(&self) -> String {
        let mut text = String::new();
        for (number, device) in self.devices.iter().enumerate() {
            text += &format!(
                "{}, driver {}: {:.1} GB/s at best, which is the peak below\n",
                device.label, device.driver, device.peak_gb_s
            );
            let rows =
                self.rows.iter().filter(|row| row.device == Some(number) && row.part != Part::Together);
            text += &format!("{}\n\n", self.table_of(rows, false));
        }
        if self.devices.len() > 1 {
            let together = self.rows.iter().filter(|row| row.device.is_none() || row.part == Part::Together);
            text += &format!("All devices at once\n{}\n\n", self.table_of(together, true));
        }
        text += "Medians; ± is half the distance of the quartiles. GB/s by the device's clock, of transfers by the \
                 wall's;\nsize is of one array or transfer, * stays in the cache.";
        text
    }

    fn table_of<'r>(&self, rows: impl Iterator<Item = &'r Row>, with_device: bool) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut header = vec!["kernel", "variant", "size", "device µs", "wall µs", "±", "GB/s", "of peak"];
        if with_device {
            header.insert(0, "device");
        }
        let first_number = header.len() - 6;
        table.set_header(header);
        for row in rows {
            let spread = row.event_seconds.unwrap_or(row.wall_seconds);
            let mut cells = vec![
                row.kernel.clone(),
                row.variant.clone(),
                size(row.array_bytes) + if row.in_cache { "*" } else { "" },
                row.event_seconds.map_or_else(String::new, |spread| format!("{:.1}", spread.median * 1e6)),
                format!("{:.1}", row.wall_seconds.median * 1e6),
                format!("{:.1} %", 50.0 * spread.relative()),
                row.gb_s.map_or_else(String::new, |rate| format!("{rate:.1}")),
                row.share_of_peak.map_or_else(String::new, |share| format!("{share:.2}")),
            ];
            if with_device {
                cells.insert(0, self.device_name(row).to_owned());
            }
            table.add_row(cells);
        }
        for column in first_number..first_number + 6 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// A line of names, then one for each row; seconds, bytes and 10⁹ bytes per second.
    pub fn csv(&self) -> String {
        let mut text = "device,part,kernel,variant,array_bytes,moved_bytes,in_cache,samples,event_quartile_s,event_median_s,\
                        event_upper_quartile_s,wall_quartile_s,wall_median_s,wall_upper_quartile_s,gb_s,wall_gb_s,share_of_peak"
            .to_owned();
        let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for row in &self.rows {
            let event = row.event_seconds;
            let cells = [
                quoted(self.device_name(row)),
                quoted(&format!("{:?}", row.part).to_lowercase()),
                quoted(&row.kernel),
                quoted(&row.variant),
                row.array_bytes.to_string(),
                row.moved_bytes.to_string(),
                row.in_cache.to_string(),
                row.samples.wall.len().to_string(),
                optional(event.map(|spread| spread.quartile)),
                optional(event.map(|spread| spread.median)),
                optional(event.map(|spread| spread.upper_quartile)),
                row.wall_seconds.quartile.to_string(),
                row.wall_seconds.median.to_string(),
                row.wall_seconds.upper_quartile.to_string(),
                optional(row.gb_s),
                optional(row.wall_gb_s),
                optional(row.share_of_peak),
            ];
            text.push('\n');
            text += &cells.join(",");
        }
        text
    }
}

/// A cell of text as RFC 4180 has it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Bytes as people say them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes if bytes < 1 << 10 => format!("{bytes} B"),
        bytes if bytes < 1 << 20 => format!("{:.4} KiB", bytes as f64 / 1024.0).replace(".0000", ""),
        bytes if bytes < 1 << 30 => {
            format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20)).replace(".00", "")
        }
        bytes => format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30)).replace(".00", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_cells_are_readable() {
        let sizes = [(128, "128 B"), (16 << 10, "16 KiB"), (3 << 19, "1.50 MiB"), (1 << 30, "1 GiB")];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(quoted("triad"), "triad");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }

    #[test]
    fn rates_are_by_the_device_and_else_by_the_wall() {
        let subject = Subject {
            device: Some(0),
            part: Part::Streams,
            kernel: "copy".to_owned(),
            variant: String::new(),
            array_bytes: 1_000_000_000,
            moved_bytes: 2_000_000_000,
            in_cache: false,
        };
        let both = Samples { event: vec![1.0, 1.0], wall: vec![2.0, 2.0] };
        let row = Row::new(subject.clone(), both.clone()).unwrap();
        assert_eq!((row.gb_s, row.wall_gb_s), (Some(2.0), Some(1.0)));
        let transfer = Subject { part: Part::Transfers, ..subject.clone() };
        assert_eq!(Row::new(transfer, both).unwrap().gb_s, Some(1.0));
        let wall = Samples { event: vec![], wall: vec![4.0] };
        let row = Row::new(subject.clone(), wall).unwrap();
        assert_eq!((row.gb_s, row.wall_gb_s), (Some(0.5), Some(0.5)));
        assert!(Row::new(subject, Samples::default()).is_none());
    }
}
