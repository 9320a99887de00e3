# SPDX-License-Identifier: Apache-2.0
"""The exceptions and warnings of Tangere.

Every message says what was found, where, and what is allowed; names that are not known come with
the nearest known ones.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "Diagnostic",
    "FileError",
    "InvalidInput",
    "LimitExceeded",
    "SceneError",
    "SceneFileError",
    "SceneLimitExceeded",
    "SceneWarning",
]


class InvalidInput(ValueError):
    """Something that cannot be simulated, asked or read."""


class LimitExceeded(InvalidInput):
    """Larger than a limit that may be raised, and nothing else is wrong."""


class FileError(OSError):
    """A file that cannot be written or read."""


class Diagnostic(NamedTuple):
    """One thing that is wrong with an input, or was said about it.

    Lines and columns count from 1; 0 where there is none.
    """

    file: str
    line: int
    column: int
    message: str
    kind: str = "error"

    def __str__(self) -> str:
        place = self.file
        if self.line > 0:
            place += f":{self.line}:{self.column}"
        return f"{place}: {self.message}" if place else self.message


class SceneError(InvalidInput):
    """A scene or robot file that is refused; `errors` has the first 20 reasons."""

    def __init__(
        self, message: str, errors: tuple[Diagnostic, ...] = (), num_errors: int = 0
    ) -> None:
        super().__init__(message, errors, num_errors)
        self.errors = errors
        self.num_errors = num_errors

    def __str__(self) -> str:
        return str(self.args[0])


class SceneLimitExceeded(SceneError, LimitExceeded):
    """A scene that is larger than the limits allow."""


class SceneFileError(SceneError, OSError):
    """A scene file that cannot be read."""

    def __str__(self) -> str:
        return str(self.args[0])


class SceneWarning(UserWarning):
    """What a loader changed or doubts, and what a model has that its solver does not use."""
