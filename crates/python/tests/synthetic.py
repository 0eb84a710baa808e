"""Series of known autocorrelation, as crates/statistics/tests makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def _uniform(seed: int) -> Iterator[float]:
    """The drand48 of the C library."""
    state = (seed << 16) + 0x330E
    while True:
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        yield state / 2**48


@cache
def _autoregressive(seed: int, count: int, a: float) -> Numbers:
    numbers = _uniform(seed)
    pairs = np.array([(next(numbers), next(numbers)) for _ in range((count + 1) // 2)])
    # The method of Box and Muller.
    radius, phase = np.sqrt(-2 * np.log1p(-pairs[:, 0])), 2 * np.pi * pairs[:, 1]
    circle = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    gaussian: Numbers = (radius[:, None] * circle).ravel()[:count]
    for k in range(1, count):
        gaussian[k] = a * gaussian[k - 1] + np.sqrt(1 - a * a) * gaussian[k]
    return gaussian


def autoregressive(seed: int, count: int, a: float) -> Numbers:
    """x_0 = g_0, x_i = a x_{i−1} + √(1 − a²) g_i: mean 0, variance 1, τ_int = (1 + a)/(1 − a)/2."""
    return _autoregressive(seed, count, a).copy()


def history(seed: int, count: int, a: float) -> Numbers:
    """The values of statistics.json."""
    return 1 + 0.1 * autoregressive(seed, count, a)


def correlator(seed: int, count: int, times: int, noise: float, mean: Callable[[Numbers], Numbers]) -> Numbers:
    """Samples of a two-point function, axes configuration and time, whose errors are correlated in time."""
    common = autoregressive(seed, count, 0.5)
    own = np.stack([autoregressive(seed + 10 + t, count, 0.5) for t in range(times)], axis=1)
    samples: Numbers = mean(np.arange(times, dtype=float)) * (1 + noise * (0.8 * common[:, None] + 0.6 * own))
    return samples


def two_states() -> Numbers:
    """Samples of exp(−0.3 t) + 0.7 exp(−0.9 t) with errors of 5 %."""
    return correlator(40, 400, 12, 0.05, lambda t: np.exp(-0.3 * t) + 0.7 * np.exp(-0.9 * t))


def periodic(noise: float) -> Numbers:
    """Samples of a cosh with mass 0.3 on 16 times."""
    return correlator(40, 400, 16, noise, lambda t: np.exp(-0.3 * t) + np.exp(-0.3 * (16 - t)))
