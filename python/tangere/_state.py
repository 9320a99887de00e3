# SPDX-License-Identifier: Apache-2.0
"""The state of a simulator as one blob."""

from __future__ import annotations


class State(bytes):
    """Everything that a simulator needs to go on to the same bits, as bytes.

    Write it to a file, send it, compare it, pickle it: it is a `bytes` object. It fits one model;
    another one, and a damaged state, are refused by `Simulator.set_state`.

    >>> import tangere
    >>> sim = tangere.Simulator(tangere.load(tangere.scenes.path("stack.toml")))
    >>> start = sim.state()
    >>> sim.step(10)
    >>> sim.state() == start
    False
    >>> sim.set_state(start)
    >>> sim.state() == start
    True
    """

    __slots__ = ()

    @property
    def num_envs(self) -> int:
        """Environments in it."""
        return int.from_bytes(self[4:8], "little")

    def __repr__(self) -> str:
        return f"<tangere.State: {self.num_envs} environment(s), {len(self)} bytes>"

    def __str__(self) -> str:
        return repr(self)

    def __reduce__(self) -> tuple[type[State], tuple[bytes]]:
        return State, (bytes(self),)
