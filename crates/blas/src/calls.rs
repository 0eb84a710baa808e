//! A call of a symbol: computed here, or passed on to the next library, and how long it took.

use crate::check::{self, CallResults, Checked, ReturnValue};
use crate::devices;
use crate::exceptions::Flags;
use crate::loaded;
use crate::report::{self, Record, Tally};
use crate::settings;
use crate::work::{Experience, Work};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The call whose arguments are being looked at.
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

/// A call under way in this thread.
#[derive(Clone, Copy)]
struct Current {
    symbol: &'static Symbol,
    work: Work,
    /// The beginning of the work on the device, and the time that compilers had taken until then.
    began: Option<(Instant, Duration)>,
}

/// A symbol of this library.
pub struct Symbol {
    /// The name, with a zero byte at its end.
    name: &'static str,
    /// Other names that do the same, for libraries without the first one.
    instead: &'static [&'static str],
    /// The symbol of this name in the next library, once it is known.
    next: AtomicPtr<c_void>,
    /// Whether calls are computed here, once it is known.
    wanted: OnceLock<bool>,
    record: Record,
    pub experience: Experience,
}

/// A call that the next library answers.
pub struct Call {
    symbol: &'static Symbol,
    work: Work,
    began: Option<Instant>,
    /// Results of this library that wait for a comparison.
    kept: Option<Box<CallResults>>,
}

impl Symbol {
    /// Makes the symbol of a name that ends in a zero byte.
    pub const fn new(name: &'static str, instead: &'static [&'static str]) -> Self {
        let (bare, _) = name.split_at(name.len() - 1);
        Self {
            name,
            instead,
            next: AtomicPtr::new(ptr::null_mut()),
            wanted: OnceLock::new(),
            record: Record {
                name: bare,
                calls: AtomicU64::new(0),
                computed: Tally::new(),
                passed_on: Tally::new(),
                checked: Checked::new(),
            },
            experience: Experience::new(),
        }
    }

    pub fn name(&self) -> &'static str {
        self.record.name
    }

    /// Tells whether the user wants calls to be computed here.
    fn is_wanted(&'static self) -> bool {
        *self.wanted.get_or_init(|| {
            report::register(&self.record);
            settings::is_wanted(self.name())
        })
    }

    /// Computes a call, unless it is better passed on, or passed on as well for a comparison.
    ///
    /// Nothing unwinds to the caller: the next library answers if the body panics. The caller's flags
    /// of floating-point exceptions are as before, whatever the body does.
    pub fn attempt<R: ReturnValue>(&'static self, body: impl FnOnce() -> Option<R>) -> Result<R, Call> {
        let _flags = Flags::keep();
        if settings::reports() {
            self.record.calls.fetch_add(1, Ordering::Relaxed);
        }
        let passed_on = |work| Call { symbol: self, work, began: None, kept: None };
        if !self.is_wanted() {
            return Err(passed_on(Work::default()));
        }
        CURRENT.set(Some(Current { symbol: self, work: Work::default(), began: None }));
        let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(None);
        let Some(Current { work, began, .. }) = CURRENT.take() else {
            return Err(passed_on(Work::default()));
        };
        let Some(result) = result else {
            check::forget();
            return Err(passed_on(work));
        };
        if let Some((began, compiled)) = began {
            // Compilers run once, and have a line of their own in the report.
            let compiling = devices::compile_time().saturating_sub(compiled);
            let time = began.elapsed().saturating_sub(compiling);
            self.record.computed.add(work.operations, time);
            self.experience.of_device(&work, time);
        }
        if work.checked {
            return Err(Call { kept: Some(Box::new(CallResults::take(&result))), ..passed_on(work) });
        }
        Ok(result)
    }

    /// Returns the address of the symbol in the next library that has it.
    pub fn next(&self) -> *mut c_void {
        let known = self.next.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let of = |name: &'static str| {
            loaded::find(CStr::from_bytes_with_nul(name.as_bytes()).expect("names end in a zero byte"))
        };
        let names = [self.name].into_iter().chain(self.instead.iter().copied());
        let address = names.map(of).find(|address| !address.is_null()).unwrap_or(ptr::null_mut());
        assert!(
            !address.is_null(),
            "lattice-cl-blas: no other library here has {}; load a BLAS with it",
            self.name()
        );
        self.next.store(address, Ordering::Relaxed);
        address
    }
}

/// Notes what the current call has to do, and tells whether it is to be computed here.
pub fn decide(work: Work, worth: impl FnOnce(&'static Symbol, &mut Work) -> bool) -> Option<()> {
    let mut current = CURRENT.get()?;
    current.work = work;
    let worth = worth(current.symbol, &mut current.work);
    if worth {
        current.work.checked = current.symbol.record.checked.is_next();
        // The device is opened before the clock starts.
        devices::device()?;
        current.began = Some((Instant::now(), devices::compile_time()));
    }
    CURRENT.set(Some(current));
    worth.then_some(())
}

/// Returns the work of the current call, if its results are compared with those of the next library.
pub fn compared() -> Option<Work> {
    CURRENT.get().map(|current| current.work).filter(|work| work.checked)
}

impl Call {
    /// Starts the clock, where the time is of interest.
    pub fn start(&mut self) {
        if self.work.is_large() || settings::reports() {
            self.began = Some(Instant::now());
        }
    }

    /// Notes the time, and compares results if there are two of them.
    pub fn finish<R: ReturnValue>(self, result: &R) {
        if let Some(began) = self.began {
            let time = began.elapsed();
            if self.kept.is_none() {
                self.symbol.record.passed_on.add(self.work.operations, time);
            }
            self.symbol.experience.of_next(&self.work, time);
        }
        if let Some(kept) = self.kept {
            let _flags = Flags::keep();
            self.symbol.record.checked.found(self.symbol.name(), kept.compare(result));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exceptions::raised;
    use std::hint::black_box;

    /// Raises the flags of a division by zero and of an invalid operation.
    fn raise() -> f64 {
        let zero = black_box(0.0);
        black_box(1.0 / zero) + black_box(zero * f64::INFINITY)
    }

    fn expect_none_raised(what: &str) {
        assert_eq!(raised(), 0, "flags are left by {what}");
    }

    #[test]
    fn no_call_leaves_flags_of_exceptions() {
        static SYMBOL: Symbol = Symbol::new("dgemm_\0", &[]);
        let calls = || {
            let answered = SYMBOL.attempt(|| Some(raise()));
            assert!(answered.is_ok());
            expect_none_raised("a call that is computed");
            assert!(SYMBOL.attempt(|| (raise() < 0.0).then_some(0.0)).is_err());
            expect_none_raised("a call that is passed on");
            assert!(
                SYMBOL.attempt(|| if raise().is_nan() { panic!("a test") } else { None::<f64> }).is_err()
            );
            expect_none_raised("a call that panics");
            let compared = Work { checked: true, ..Work::default() };
            check::keep(raise);
            let kept = Some(Box::new(CallResults::take(&0.0)));
            Call { symbol: &SYMBOL, work: compared, began: None, kept }.finish(&0.0);
            expect_none_raised("a comparison");
        };
        expect_none_raised("the test itself");
        calls();
        calls();
        // A thread begins with the flags of the one that starts it.
        std::thread::spawn(calls).join().unwrap();
        raise();
        assert_ne!(raised(), 0, "the flags are not seen");
        let before = raised();
        let _ = SYMBOL.attempt(|| Some(1.0));
        assert_eq!(raised(), before, "the caller's own flags stay");
    }
}
