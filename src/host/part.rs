//! The part of a configuration that one of several processes has.

use crate::geometry::{Dims, NDIM};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sites of a block, over which one process sums.
///
/// Sums over all blocks in their order do not depend on threads or processes.
pub(crate) const BLOCK: usize = 1024;

/// The exchange of bytes between the processes of a job.
pub trait Together: Send + Sync {
    /// Returns the number of this process, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn size(&self) -> usize;

    /// Gathers the bytes of all processes, in their order. Every process calls this.
    ///
    /// The result is `None` on all if one gives `None`.
    fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>>;
}

/// Processes that have parts of one configuration.
///
/// If one gives up, all do so: from then on nothing is told.
pub struct Company {
    together: Arc<dyn Together>,
    is_over: AtomicBool,
}

impl Company {
    /// Makes the company of all processes. Every process calls this.
    pub fn new(together: Arc<dyn Together>) -> Self {
        Self { together, is_over: AtomicBool::new(false) }
    }

    /// Gathers the bytes of all processes, or gives up with `None`.
    ///
    /// The result is `None` if one has given up.
    pub fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let all = self.together.all(own);
        self.is_over.store(all.is_none(), Ordering::Relaxed);
        all
    }

    /// Gathers the bytes of all processes, whether one has given up before or not.
    ///
    /// Every process calls this.
    pub(crate) fn all_again(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.together.all(Some(own)).unwrap_or_default()
    }
}

/// The sites that one process has, and the share that it answers for.
#[derive(Clone)]
pub struct LocalSites {
    /// Ranges of sites in ascending order.
    ///
    /// Each has the place of its first site among all that are present.
    runs: Vec<(Range<usize>, usize)>,
    share: Range<usize>,
    company: Arc<Company>,
}

impl LocalSites {
    /// Makes the part with these sites and the sites for plaquettes of its share.
    ///
    /// Shares are blocks of consecutive sites. Every site is in the share of one process.
    pub fn new(dims: Dims, wanted: &[Range<usize>], company: &Arc<Company>) -> Self {
        let (volume, slice) = (dims.volume(), dims.volume() / dims[NDIM - 1]);
        let [rank, size] = [company.together.rank(), company.together.size()];
        let bound = |rank: usize| (volume.div_ceil(BLOCK) * rank / size * BLOCK).min(volume);
        let share = bound(rank)..bound(rank + 1);
        let mut sites = wanted.to_vec();
        if !share.is_empty() {
            let times = share.start / slice..share.end.div_ceil(slice);
            let after = times.end % dims[NDIM - 1];
            sites.extend([times, after..after + 1].map(|times| times.start * slice..times.end * slice));
        }
        sites.retain(|range| !range.is_empty());
        sites.sort_by_key(|range| range.start);
        let mut runs: Vec<(Range<usize>, usize)> = Vec::new();
        for range in sites {
            match runs.last_mut() {
                Some((last, _)) if range.start <= last.end => last.end = last.end.max(range.end),
                last => {
                    let place = last.map_or(0, |(last, place)| *place + last.len());
                    runs.push((range, place));
                }
            }
        }
        Self { runs, share, company: Arc::clone(company) }
    }

    /// Returns the ranges of sites that are present, in ascending order.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        self.runs.iter().map(|(sites, _)| sites.clone())
    }

    /// Returns the number of sites that are present.
    pub fn sites(&self) -> usize {
        self.runs().map(|sites| sites.len()).sum()
    }

    /// Returns the sites that this process sums over. All of them are present.
    pub fn share(&self) -> Range<usize> {
        self.share.clone()
    }

    /// Returns the share of each process.
    pub fn shares(&self) -> Option<Vec<Range<usize>>> {
        let own = [self.share.start, self.share.end].map(|bound| bound as u64);
        let all = self.company.all(Some(bytemuck::cast_slice(&own)))?;
        let number = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|k| bytes[k])) as usize;
        Some(all.iter().map(|bytes| number(&bytes[..8])..number(&bytes[8..])).collect())
    }

    /// Returns the place of a site among those that are present.
    ///
    /// # Panics
    /// When the site is not present.
    pub fn place(&self, site: usize) -> usize {
        let next = self.runs.partition_point(|(sites, _)| sites.start <= site);
        let run = next.checked_sub(1).map(|run| &self.runs[run]);
        match run {
            Some((sites, place)) if sites.contains(&site) => place + site - sites.start,
            _ => panic!("site {site} is not in the part of this process"),
        }
    }

    /// Returns the processes.
    pub fn company(&self) -> &Company {
        &self.company
    }
}

impl PartialEq for LocalSites {
    fn eq(&self, other: &Self) -> bool {
        self.runs == other.runs && self.share == other.share
    }
}

impl fmt::Debug for LocalSites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalSites({} sites, share {:?})", self.sites(), self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Alone([usize; 2]);

    impl Together for Alone {
        fn rank(&self) -> usize {
            self.0[0]
        }

        fn size(&self) -> usize {
            self.0[1]
        }

        fn all(&self, own: Option<&[u8]>) -> Option<Vec<Vec<u8>>> {
            Some(vec![own?.to_vec()])
        }
    }

    #[test]
    fn shares_have_all_sites_and_their_neighbours_are_present() {
        let dims = Dims::new([4, 6, 8, 30]).unwrap();
        for size in [1, 2, 3, 5, 8] {
            let mut next = 0;
            for rank in 0..size {
                let company = Arc::new(Company::new(Arc::new(Alone([rank, size]))));
                let part = LocalSites::new(dims, &[100..130, 5000..5001, 90..104], &company);
                assert_eq!(part.share().start, next);
                next = part.share().end;
                for site in part.share().chain(90..130).chain([5000]) {
                    assert!(part.place(site) < part.sites());
                }
                for site in part.share() {
                    (0..NDIM).for_each(|mu| assert!(part.place(dims.forward(site, mu)) < part.sites()));
                    assert_eq!(part.place(site) - part.place(part.share().start), site - part.share().start);
                }
                let sites: Vec<usize> = part.runs().flatten().collect();
                assert!(sites.iter().enumerate().all(|(place, &site)| part.place(site) == place));
            }
            assert_eq!(next, dims.volume());
        }
    }

    #[test]
    fn who_gives_up_ends_it_for_all() {
        let company = Company::new(Arc::new(Alone([0, 1])));
        assert_eq!(company.all(Some(&[1, 2])), Some(vec![vec![1, 2]]));
        assert_eq!(company.all(None), None);
        assert_eq!(company.all(Some(&[1])), None);
    }
}
