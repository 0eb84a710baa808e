"""How solves and products went."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ProductReport", "Report", "Share", "SolveReport", "SparseAttempt", "SparseReport", "html_table"]


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Make a table of names and values. Colours are those of the page, light or dark."""
    body = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


@dataclass(frozen=True)
class SolveReport:
    """One solve."""

    label: str
    """Source, spin and colour."""
    method: str
    """The method that solved, with its system and precision."""
    iterations: int
    residual: float
    """The true relative residual, recomputed in double."""
    seconds: float
    """Time from beginning to end, without compilers."""
    applications: int
    """Applications of the operator."""
    flops: int
    """Floating-point operations."""
    history: NDArray[np.float64] = field(repr=False, compare=False)
    """Relative residuals by the recurrence, before the first iteration and after each."""
    attempts: tuple[str, ...] = ()
    """The methods that were tried, if the method was chosen."""


@dataclass(frozen=True)
class Report:
    """All solves of a propagator or a job."""

    solves: tuple[SolveReport, ...]
    seconds: float
    """Time in the methods."""
    flops: int
    """Floating-point operations of the methods."""
    devices: tuple[str, ...]
    total_seconds: float
    """Time of the whole call, with sources, compilers and the way of the solutions to the host."""

    @property
    def iterations(self) -> int:
        """Iterations of all solves."""
        return sum(solve.iterations for solve in self.solves)

    @property
    def residual(self) -> float:
        """The largest true residual; NaN without solves."""
        return max((solve.residual for solve in self.solves), default=float("nan"))

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of the summary."""
        if not self.solves:
            return [("solves", "none by this process")]
        rate = self.flops / self.seconds / 1e9 if self.seconds > 0 else float("nan")
        return [
            ("solves", str(len(self.solves))),
            ("method", self.solves[-1].method),
            ("iterations", str(self.iterations)),
            ("largest true residual", f"{self.residual:.3e}"),
            ("time in the method", f"{self.seconds:.3f} s, {rate:.1f} GFlop/s"),
            ("time of the call", f"{self.total_seconds:.3f} s"),
            ("devices", ", ".join(self.devices)),
        ]

    def __str__(self) -> str:
        lines = [f"{name:22} {value}" for name, value in self.rows()]
        lines += [
            f"  {solve.label}: {solve.iterations} iterations to {solve.residual:.3e} in {solve.seconds:.3f} s"
            for solve in self.solves
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table("Solves", self.rows())


@dataclass(frozen=True)
class Share:
    """The work of one device in a product."""

    device: str
    rate: float
    """Flops per second, as measured before the product."""
    planned: int
    """Rows, or columns, that the device was given at first."""
    lines: int
    """Rows, or columns, that the device computed."""
    seconds: float
    """Time until the device had nothing left to do."""


@dataclass(frozen=True)
class ProductReport:
    """Who computed which part of a product, at which rate."""

    shares: tuple[Share, ...]
    """Empty if the host computed alone."""
    by_columns: bool
    """Whether columns of the result were shared, not rows."""
    seconds: float
    """Time of the whole product, transfers included."""
    flops: int

    @property
    def rate(self) -> float:
        """Flops per second."""
        return self.flops / self.seconds if self.seconds > 0 else float("nan")

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of the summary."""
        lines = "columns" if self.by_columns else "rows"
        shares = [
            (share.device, f"{share.lines} {lines} in {share.seconds:.3f} s (rate before {share.rate / 1e9:.1f} GFlop/s)")
            for share in self.shares
        ]
        whole = ("product", f"{self.seconds:.3f} s, {self.rate / 1e9:.1f} GFlop/s")
        return [whole, *(shares or [("host", "computed alone")])]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.rows())

    def _repr_html_(self) -> str:
        return html_table("Product", self.rows())


@dataclass(frozen=True)
class SparseAttempt:
    """One method on a sparse system."""

    method: str
    preconditioner: str
    iterations: int
    residual: float
    """The true relative residual."""
    seconds: float
    setup_seconds: float
    """Time for making the preconditioner."""
    failure: str | None
    """Why the method gave up; `None` if it did not."""
    history: NDArray[np.float64] = field(repr=False, compare=False)
    """Relative residuals by the recurrence, before the first iteration and after each."""


@dataclass(frozen=True)
class SparseReport:
    """How a sparse system was solved."""

    attempts: tuple[SparseAttempt, ...]
    residual: float
    """‖b − A x‖ / ‖b‖, recomputed."""
    backward_error: float
    """‖b − A x‖ / (‖A‖ ‖x‖ + ‖b‖), for the largest components."""
    symmetry: str
    """What was found about the matrix."""
    format: str
    """The format of the matrix in memory."""
    device: str
    warnings: tuple[str, ...]

    @property
    def iterations(self) -> int:
        """Iterations of all attempts."""
        return sum(attempt.iterations for attempt in self.attempts)

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of the summary."""
        tried = [f"{attempt.method} with {attempt.preconditioner}: {attempt.iterations} iterations" for attempt in self.attempts]
        seconds = sum(attempt.seconds for attempt in self.attempts)
        setup = sum(attempt.setup_seconds for attempt in self.attempts)
        return [
            ("matrix", f"{self.symmetry}, as {self.format}"),
            ("methods", "; ".join(tried)),
            ("true residual", f"{self.residual:.3e} (backward error {self.backward_error:.1e})"),
            ("time", f"{seconds:.3f} s, preconditioner {setup:.3f} s"),
            ("device", self.device),
            *(("warning", warning) for warning in self.warnings),
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name:22} {value}" for name, value in self.rows())

    def _repr_html_(self) -> str:
        return html_table("Sparse system", self.rows())
