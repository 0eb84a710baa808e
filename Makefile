# make demo     generate a configuration, solve on it, print the pion correlator
# make test     format, lints, unit, integration and documentation tests, test programs of the reference BLAS and of LAPACK in double with cut inputs;
#               installs an OpenCL device and MPI if there is none
# make check    make test, tests with every combination of kernels, the kernels under Oclgrind, tests under MPI, the Python package, those test programs with whole inputs, and programs of others on the BLAS
# make blas-testers    those programs alone, and programs for NumPy, Octave and R on the BLAS that is loaded in front of theirs
# make dist     wheel, tarball, .deb and source tarball in target/dist; programs need glibc 2.17 or newer
# make book     the book of docs/, as web pages in target/book
# make bench    criterion benchmarks on the devices present

CARGO ?= cargo

.PHONY: demo test check bench book dist setup blas-testers

demo:
	scripts/demo.sh

setup:
	scripts/setup-opencl.sh
	scripts/setup-mpi.sh

test: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	CARGO="$(CARGO)" scripts/run-tests.sh
	BUILT="--workspace --lib --tests" TYPES="d z" scripts/blas-testers.sh
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	CARGO="$(CARGO)" scripts/book.sh

check: test
	LATTICE_CL_TEST_ALL=1 scripts/blas-testers.sh
	CARGO="$(CARGO)" scripts/blas-programs.sh
	CARGO="$(CARGO)" LATTICE_CL_TEST_ALL=1 scripts/run-tests.sh
	LATTICE_CL_TEST_ALL=1 $(CARGO) test --quiet -p lattice-linalg --features ndarray,faer --test all -- eigen:: svd:: half:: ndarray_views:: faer_matrices::
	$(CARGO) test --quiet -p lattice-linalg --features ndarray,faer --doc
	for way in off host-flags; do LATTICE_CL_PEER=$$way POCL_PTHREAD_MIN_THREADS=16 $(CARGO) test --quiet --test all -- --test-threads 1 even_odd:: fused_updates:: solving:: || exit; done
	CARGO="$(CARGO)" scripts/test-ranks.sh
	scripts/check-kernels.sh
	CARGO="$(CARGO)" scripts/check-poisson.sh
	CARGO="$(CARGO)" scripts/check-md.sh
	LATTICE_CL_TEST_ALL=1 scripts/test-python.sh

blas-testers:
	scripts/blas-testers.sh
	CARGO="$(CARGO)" scripts/blas-programs.sh

book:
	CARGO="$(CARGO)" scripts/book.sh

dist:
	scripts/dist.sh

bench: setup
	$(CARGO) bench
