# SPDX-License-Identifier: Apache-2.0
"""How a pickled Model is made again: from its file, its text or its parts."""

from __future__ import annotations

from typing import Any

from tangere import _core
from tangere._core import Model, ModelBuilder
from tangere.errors import InvalidInput


def _follow(recipe: Any) -> Model:
    kind, *rest = recipe
    if kind == "load":
        return _core.load(*rest)
    if kind == "loads":
        return _core.loads(*rest)
    if kind == "options":
        return _follow(rest[0]).with_options(rest[1])
    if kind == "parameters":
        return _follow(rest[0]).with_parameters(rest[1])
    if kind == "build":
        name, options, parts = rest
        builder = ModelBuilder()
        builder.set_options(options)
        for method, part in parts:
            if method == "exclude_pair":
                builder.exclude_pair(*part)
            else:
                getattr(builder, method)(part)
        return builder.build(name)
    raise InvalidInput(f"a pickled model says '{kind}', which this version does not know")


def make(recipe: Any, model_hash: int) -> Model:
    """Makes the model; raises InvalidInput when it is not the same any more."""
    model = _follow(recipe)
    if model.hash != model_hash:
        raise InvalidInput(
            f"the pickled model '{model.name}' is not the same any more: hash {model_hash:016x} "
            f"then, {model.hash:016x} now; was its file changed?"
        )
    return model
