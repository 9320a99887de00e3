# SPDX-License-Identifier: Apache-2.0
"""Scene and robot files; what the loader doubts becomes a Python warning."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

from tangere import _core
from tangere._core import Model
from tangere.errors import SceneWarning


def _warn(model: Model) -> Model:
    # Level 3: the line of whoever called load().
    for note in model.notes:
        if note.kind == "warning":
            warnings.warn(str(note), SceneWarning, stacklevel=3)
    for sentence in model.unused():
        warnings.warn(f"{model.name}: {sentence}", SceneWarning, stacklevel=3)
    return model


def load(
    path: str | os.PathLike[str],
    *,
    asset_roots: Sequence[str | os.PathLike[str]] = (),
    max_bytes: int | None = None,
) -> Model:
    """Reads a scene file (TOML), MJCF, URDF or SDFormat; what it is, its content tells.

    Meshes and included files are looked for in the folder of the file and below it, and in
    `asset_roots`. Raises SceneError with the place of every mistake; warns with SceneWarning about
    what was changed or is not used. `Model.notes` has all that was said.

    >>> import tangere
    >>> model = tangere.load(tangere.scenes.path("stack.toml"))
    >>> model.name, model.num_bodies
    ('stack', 11)
    """
    return _warn(_core.load(path, list(asset_roots), max_bytes))


def loads(
    text: str,
    *,
    folder: str | os.PathLike[str] = ".",
    name: str = "scene",
    asset_roots: Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """The same for a text; `folder` is where its meshes are looked for, `name` is for messages.

    >>> import tangere
    >>> model = tangere.loads('''
    ... [[body]]
    ... name = "ball"
    ... shapes = [{ sphere = 0.1 }]
    ... ''')
    >>> model.body_names
    ['ball']
    """
    return _warn(_core.loads(text, folder, name, list(asset_roots)))
