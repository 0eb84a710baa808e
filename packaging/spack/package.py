"""Spack recipe: copy it to `packages/lattice-cl/package.py` of a repository."""

from spack.package import *


class LatticeCl(CargoPackage):
    """Lattice QCD and dense linear algebra on any OpenCL device, and on none."""

    homepage = "https://github.com/lattice-cl/lattice-cl"
    git = "https://github.com/lattice-cl/lattice-cl.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    depends_on("rust@1.90:", type="build")
    # OpenCL and MPI are opened at run time: a loader and a library that are found there are used.
    variant("opencl", default=True, description="Bring an OpenCL loader")
    depends_on("ocl-icd", when="+opencl", type="run")

    build_directory = "crates/cr-solve"

    @run_after("install")
    def man_pages(self):
        """Install man pages and completions."""
        program = Executable(self.prefix.bin.join("cr-solve"))
        program("man", self.prefix.share.man.man1)
        completions = self.prefix.share.join("bash-completion").join("completions")
        mkdirp(completions)
        with open(completions.join("cr-solve"), "w") as script:
            program("completions", "bash", output=script)
