//! The expected time of a hop on a team and on its devices alone.
//!
//! Times are bytes over measured rates.

use super::stencil::{Ending, Region, Task, work_per_site};
use crate::compute::{DeviceError, PeerWay, TeamRates};
use crate::geometry::{Domain, FieldKind, Lattice};
use crate::host::{Reconstruction, StencilFactors};
use crate::scalar::StoragePrecision;
use std::fmt;
use std::time::Duration;

/// The fields of the hop.
const KIND: FieldKind = FieldKind::WILSON;

/// The expected time of a hop on a team, and on its fastest device alone.
///
/// The hop leads from one parity to the other. Each device moves the bytes of its sites at its
/// share of the bandwidth. Faces take the latency of a message and the time of their bytes. Other
/// sites are computed meanwhile, unless devices share memory without flags. A solve adds sums over
/// all devices about once for two hops, which takes half a latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    devices: usize,
    dims: String,
    precision: StoragePrecision,
    /// Name of the fastest device, its bandwidth in bytes per second, and its time.
    best: (String, f64, Duration),
    together: Duration,
    /// Bytes of memory of the slowest device.
    ///
    /// Its bandwidth while all devices work and the bytes through its faces follow.
    memory: f64,
    bandwidth: f64,
    sent: f64,
    rates: TeamRates,
}

impl Expectation {
    /// Measures the team of a lattice; `None` unless several devices have a part.
    ///
    /// # Errors
    /// If a device fails.
    pub fn measure(
        lattice: &Lattice,
        precision: StoragePrecision,
        reconstruction: Reconstruction,
    ) -> Result<Option<Self>, DeviceError> {
        if lattice.shards().len() < 2 {
            return Ok(None);
        }
        let rates = TeamRates::measure(lattice.team())?;
        Ok(rates.map(|rates| Self::of(lattice, precision, reconstruction, rates)))
    }

    /// Computes the expectation from known rates of all devices of the team.
    pub fn of(
        lattice: &Lattice,
        precision: StoragePrecision,
        reconstruction: Reconstruction,
        rates: TeamRates,
    ) -> Self {
        let factors = StencilFactors::new(0.0, 1.0);
        let region = Region::Parity { parity: 0, shift: false };
        let task = Task { factors, region, ending: Ending::Store, columns: 1 };
        let per_site = work_per_site(task, precision, reconstruction).bytes as f64;
        // Bytes of the sites of one parity.
        let bytes = |volume: usize| per_site * volume as f64 / 2.0;
        let alone = lattice.team().devices().iter().zip(&rates.alone).map(|(device, &rate)| {
            let time = Duration::from_secs_f64(bytes(lattice.dims().volume()) / rate);
            (device.label().to_owned(), rate, time)
        });
        let best = alone.min_by_key(|&(.., time)| time).expect("a team has devices");
        let hidden = rates.way != Some(PeerWay::Host);
        let parts = lattice.shards().iter().zip(&rates.together).map(|(shard, &bandwidth)| {
            let (inside, faces, sent) = (
                bytes(shard.domain.volume()),
                bytes_of_packing(&shard.domain, precision, reconstruction),
                bytes_sent(&shard.domain, precision),
            );
            let exchange = rates.latency + Duration::from_secs_f64(sent / rates.message);
            let [inside_time, packing] =
                [inside, faces].map(|bytes| Duration::from_secs_f64(bytes / bandwidth));
            let beside = if hidden { inside_time.max(exchange) } else { inside_time + exchange };
            (packing + beside + rates.latency / 2, inside + faces, bandwidth, sent)
        });
        let (together, memory, bandwidth, sent) =
            parts.max_by_key(|&(time, ..)| time).expect("a team has devices");
        Self {
            devices: lattice.shards().len(),
            dims: lattice.dims().to_string(),
            precision,
            best,
            together,
            memory,
            bandwidth,
            sent,
            rates,
        }
    }

    /// Returns the expected time of a hop on the fastest device alone.
    pub fn alone(&self) -> Duration {
        self.best.2
    }

    /// Returns the expected time of a hop on all devices together.
    pub fn together(&self) -> Duration {
        self.together
    }

    /// Tells whether all devices together are expected to take longer than one.
    pub fn is_slower(&self) -> bool {
        self.together > self.alone()
    }
}

/// Returns the sites of one parity at both faces in each cut direction.
fn face_sites(domain: &Domain) -> f64 {
    let volume = domain.volume() as f64;
    domain.cut_directions().map(|mu| volume / domain.extents()[mu] as f64).sum()
}

/// Returns the bytes that a domain sends in a hop.
///
/// Fields in half precision send single precision, in which they are computed.
fn bytes_sent(domain: &Domain, precision: StoragePrecision) -> f64 {
    let real = precision.bytes().max(size_of::<f32>());
    face_sites(domain) * (2 * KIND.sent_by_face_site() * real) as f64
}

/// Returns the bytes that packing reads and writes.
///
/// They are spinors, links on half of the faces, and the sent data.
fn bytes_of_packing(domain: &Domain, precision: StoragePrecision, reconstruction: Reconstruction) -> f64 {
    let read = ((2 * KIND.shape.components()) as f64 + reconstruction.reals() as f64 / 2.0)
        * precision.bytes() as f64;
    face_sites(domain) * read + bytes_sent(domain, precision)
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let (name, alone_rate, alone) = &self.best;
        let way = self.rates.way.map_or("through the host", |way| match way {
            PeerWay::Host => "by shared memory",
            PeerWay::Amd => "by copies of the driver",
            PeerWay::CudaHost => "by memory of the host",
            PeerWay::Cuda | PeerWay::HostFlags => "by the memory of the neighbour",
        });
        write!(
            f,
            "expected for a hop on {} in {}: {:.0} µs on {} devices together, {:.0} µs on {name} alone; together each moves {:.2} MB at {:.1} GB/s, of \
             {:.1} GB/s alone, and sends {:.3} MB {way} at {:.2} GB/s after {:.0} µs",
            self.dims,
            self.precision,
            micros(self.together),
            self.devices,
            micros(*alone),
            self.memory / 1e6,
            self.bandwidth / 1e9,
            alone_rate / 1e9,
            self.sent / 1e6,
            self.rates.message / 1e9,
            micros(self.rates.latency),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Device, DeviceOptions, Team, discover};
    use crate::geometry::{Dims, Grid};

    fn expected(dims: [usize; 4], rates: TeamRates) -> Expectation {
        let found = discover().devices;
        let open = |_| Device::open(&found[0], &DeviceOptions::default()).unwrap();
        let team = Team::of((0..2).map(open).collect::<Vec<_>>());
        let grid = Grid::new([1, 1, 1, 2]).unwrap();
        let lattice = Lattice::with_grid(&team, Dims::new(dims).unwrap(), grid).unwrap();
        Expectation::of(&lattice, StoragePrecision::Double, Reconstruction::Twelve, rates)
    }

    /// Two fast cards: large lattices gain, and small lattices lose by the latency.
    #[test]
    fn large_lattices_gain_and_small_ones_lose() {
        let rates = TeamRates {
            alone: vec![2e12, 1e12],
            together: vec![2e12, 2e12],
            way: Some(PeerWay::Cuda),
            latency: Duration::from_micros(5),
            message: 300e9,
        };
        let large = expected([32, 32, 32, 64], rates.clone());
        assert!(!large.is_slower() && large.together() > large.alone() / 2, "{large}");
        assert!(large.together() < large.alone() * 6 / 10, "{large}");
        let small = expected([4, 4, 4, 4], rates.clone());
        assert!(small.is_slower(), "{small}");
        // 8 links of 12 reals, two spinors of 24, for half of the sites, on the faster device.
        let bytes = 8.0 * (8.0 * 12.0 + 48.0) * 128.0;
        assert!((small.alone().as_secs_f64() - bytes / 2e12).abs() < 1e-8, "{small}");
        // 64 sites of a parity at two faces of 12 reals, in the words too.
        let words = small.to_string();
        assert!(words.contains("on 4x4x4x4 in double") && words.contains("sends 0.006 MB"), "{words}");
        // Through the host, latency is long and transfers are slow.
        let staged = TeamRates { way: None, latency: Duration::from_micros(100), message: 10e9, ..rates };
        let staged = expected([16, 16, 16, 16], staged);
        assert!(staged.is_slower() && staged.to_string().contains("through the host"), "{staged}");
    }

    #[test]
    fn a_team_is_measured_and_a_device_alone_is_not() {
        let found = discover().devices;
        let open = |_| Device::open(&found[0], &DeviceOptions::default()).unwrap();
        let team = Team::of((0..2).map(open).collect::<Vec<_>>());
        let measure = |team: &Team| {
            let lattice = Lattice::new(team, Dims::new([4; 4]).unwrap()).unwrap();
            Expectation::measure(&lattice, StoragePrecision::Single, Reconstruction::None).unwrap()
        };
        let expected = measure(&team).unwrap();
        assert!(expected.together() > Duration::ZERO && expected.alone() > Duration::ZERO, "{expected}");
        assert!(expected.rates.together.iter().chain(&expected.rates.alone).all(|&rate| rate > 0.0));
        assert!(expected.rates.message > 0.0 && expected.rates.latency > Duration::ZERO, "{expected}");
        assert_eq!(measure(&Team::of(team.devices()[..1].to_vec())), None);
    }
}
