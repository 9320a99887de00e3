# SPDX-License-Identifier: Apache-2.0
"""Makes a failing input smaller: delta debugging over lines, then over words or bytes."""
import re
import time


def smallest(parts, fails, end):
    """The shortest list found by leaving out runs of `parts` for which fails() still holds, until the time `end`."""
    length = max(1, len(parts) // 2)
    while length >= 1:
        at, changed = 0, False
        while at < len(parts):
            if time.monotonic() > end:
                return parts
            shorter = parts[:at] + parts[at + length:]
            if fails(shorter):
                parts, changed = shorter, True
            else:
                at += length
        if length == 1 and not changed:
            break
        length = max(1, length // 2) if not changed or length > 1 else 1
    return parts


def shrink_bytes(content, fails, seconds):
    """`content` with as much left out as can be while fails(content) holds."""
    end = time.monotonic() + seconds
    is_text = b"\0" not in content
    cuts = (rb"(?<=\n)", rb"(?=<)", rb"(?<=[\s,\]}>])") if is_text else ()
    for cut in cuts:
        content = b"".join(smallest(re.split(cut, content), lambda parts: fails(b"".join(parts)), end))
    if len(content) <= 20_000:
        content = bytes(smallest(list(content), lambda parts: fails(bytes(parts)), end))
    return content
