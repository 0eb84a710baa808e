"""Progress of long work: what is told, and bars in terminals and notebooks."""

from __future__ import annotations

import html
import importlib
import sys
import time
from dataclasses import dataclass
from typing import Any

__all__ = ["Bar", "Progress"]


@dataclass(frozen=True)
class Progress:
    """How far work is."""

    label: str
    """What is being done: of solves, the source, spin and colour."""
    done: float
    """The part that is done, 0 to 1; of solves by the digits of the residual."""
    iterations: int | None
    """Iterations of the solve."""
    residual: float | None
    """The relative residual of the solve, by the recurrence."""

    def __str__(self) -> str:
        text = f"{100 * self.done:3.0f} %  {self.label}"
        if self.iterations is not None and self.residual is not None:
            text += f"  iteration {self.iterations}, residual {self.residual:.1e}"
        return text


def _is_notebook() -> bool:
    """Whether a Jupyter kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A bar on standard error, or in the output of a notebook's cell.

    Output that is neither stays empty.
    """

    WIDTH = 30
    SECONDS = 0.1

    def __init__(self) -> None:
        self._last = 0.0
        self._length = 0
        self._handle: Any = None
        self._notebook = _is_notebook()
        self._terminal = not self._notebook and sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        """Show how far the work is, at most ten times a second."""
        now = time.monotonic()
        if now - self._last < self.SECONDS:
            return
        self._last = now
        if self._notebook:
            self._show(self.markup(progress))
        elif self._terminal:
            text = self.text(progress)
            sys.stderr.write("\r" + text.ljust(self._length))
            sys.stderr.flush()
            self._length = len(text)

    def close(self) -> None:
        """Remove the bar."""
        if self._terminal and self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
        if self._handle is not None:
            self._show("")

    def text(self, progress: Progress) -> str:
        """The bar as a line of text."""
        full = int(self.WIDTH * progress.done)
        return f"[{'#' * full}{'.' * (self.WIDTH - full)}] {progress}"

    def markup(self, progress: Progress) -> str:
        """The bar as HTML. Colours are those of the page, light or dark."""
        return f'<progress value="{progress.done:.4f}" max="1"></progress> {html.escape(str(progress))}'

    def _show(self, markup: str) -> None:
        # Versions of IPython differ in their types.
        display: Any = importlib.import_module("IPython.display")
        shown = display.HTML(markup)
        if self._handle is None:
            self._handle = display.display(shown, display_id=True)
        else:
            self._handle.update(shown)
