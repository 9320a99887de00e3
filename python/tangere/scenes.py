# SPDX-License-Identifier: Apache-2.0
"""The scenes that come with the package.

>>> import tangere
>>> "grasp.toml" in tangere.scenes.names()
True
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["names", "path"]

_FOLDER = Path(__file__).parent / "_scenes"


def names() -> list[str]:
    """Files of scenes, sorted."""
    return sorted(file.name for file in _FOLDER.iterdir() if file.suffix in (".toml", ".xml"))


def path(name: str) -> Path:
    """Where a scene is; near names in the error.

    >>> import tangere
    >>> tangere.scenes.path("stack.tml")
    Traceback (most recent call last):
    ...
    tangere.errors.InvalidInput: no scene is called 'stack.tml' (did you mean 'stack.toml'?)
    """
    found = _FOLDER / name
    if name not in names():
        from tangere.collision import near_names
        from tangere.errors import InvalidInput

        raise InvalidInput(f"no scene is called '{name}'{near_names(name, names())}")
    return found
