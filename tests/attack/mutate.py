# SPDX-License-Identifier: Apache-2.0
"""Changes of files that know how the files are built: tables and keys of TOML, elements and attributes of XML, lines of
meshes, headers and numbers of binary files. A change that keeps the structure gets past the parser and into what reads."""
import re
import struct

NUMBERS = ("0", "-0", "1", "-1", "2", "3", "1e-9", "1e-12", "1e-300", "1e-400", "1e6", "1e9", "1e30", "1e300", "1e999", "nan", "inf", "-inf",
           "0.5", "0.1", "-0.1", "1e-3", "0x1p3", "1,5", "--1", "2147483647", "2147483648", "-2147483649", "4294967296",
           "9223372036854775808", "18446744073709551616", "0.49999999", "3.141592653589793", "")
WORDS = ("", "true", "false", "world", "floor", "a", "name", "../../etc/passwd", "/dev/zero", "http://a/b.obj", "x" * 2000, "\u202ea", "<script>", "%s%n",
         "wedge.obj", "cube.stl", "sphere", "box", "mesh", "sap", "event", "impulse", "inf", "nan")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
ATTRIBUTE = re.compile(r"[\w:.-]+=(?:\"[^\"]*\"|'[^']*')")
TAG = re.compile(r"<(/?)([\w:.-]+)([^<>]*?)(/?)>")


def replace(text, match, by):
    return text[:match.start()] + by + text[match.end():]


def pick(random, pattern, text):
    found = list(pattern.finditer(text))
    return random.choice(found) if found else None


def change_number(random, text):
    match = pick(random, NUMBER, text)
    if match is None:
        return text
    if random.random() < 0.5:
        return replace(text, match, random.choice(NUMBERS))
    value = float(match.group())
    return replace(text, match, repr(random.choice((-value, 2 * value, value / 1000, value * 1000, value + 1e-9, value * random.uniform(0.5, 2), float(f"{value:.0f}")))))


def swap_numbers(random, text):
    one, two = pick(random, NUMBER, text), pick(random, NUMBER, text)
    if one is None or one.start() == two.start():
        return text
    first, last = sorted((one, two), key=lambda match: match.start())
    return text[:first.start()] + last.group() + text[first.end():last.start()] + first.group() + text[last.end():]


def change_word(random, text):
    match = pick(random, QUOTED, text)
    if match is None:
        return text
    others = [other.group()[1:-1] for other in QUOTED.finditer(text)]
    word = random.choice(others) if random.random() < 0.6 else random.choice(WORDS)
    return replace(text, match, match.group()[0] + word.replace(match.group()[0], "") + match.group()[0])


def change_characters(random, text):
    """What no parser expects: a character more, less or other, a cut, a piece twice."""
    if not text:
        return "\ufeff"
    at, length = random.randrange(len(text)), random.choice((1, 1, 2, 10, 100))
    what = random.randrange(5)
    if what == 0:
        return text[:at] + text[at + length:]
    if what == 1:
        return text[:at] + random.choice(("\0", "\x1a", "\u00e9", "<", ">", "&", "]", "[", "{", "}", "'", '"', "=", "\n", " ", "<!--", "]]>", "#")) + text[at:]
    if what == 2:
        return text[:at]
    if what == 3:
        return text[:at] + text[at:at + length] * random.choice((2, 3, 50)) + text[at:]
    there = random.randrange(len(text))
    return text[:at] + text[there:there + length] + text[at:]


def change_lines(random, text):
    """Lines left out, twice, or elsewhere; in TOML a table is a run of lines from its header on."""
    lines = re.split(r"(?m)(?=^\[)", text) if random.random() < 0.5 and "\n[" in text else text.splitlines(keepends=True)
    if not lines:
        return text
    at = random.randrange(len(lines))
    what = random.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines[at] = lines[at] * random.choice((2, 2, 3, 20))
    elif what == 2:
        lines.insert(random.randrange(len(lines)), lines.pop(at))
    else:
        lines.insert(random.randrange(len(lines)), lines[at])
    return "".join(lines)


def elements(text):
    """(begin, end) of the elements of an XML text, found by their tags; what is not well formed gives fewer."""
    found, open_tags = [], []
    for match in TAG.finditer(text):
        closes, name, _, is_empty = match.groups()
        if is_empty:
            found.append((match.start(), match.end()))
        elif not closes:
            open_tags.append((name, match.start()))
        elif open_tags and open_tags[-1][0] == name:
            found.append((open_tags.pop()[1], match.end()))
    return found


def change_elements(random, text):
    """An element left out, twice, in the place of another, within itself, or renamed."""
    found = elements(text)
    if not found:
        return text
    begin, end = random.choice(found)
    there, there_end = random.choice(found)
    piece = text[begin:end]
    what = random.randrange(6)
    if what == 0:
        return text[:begin] + text[end:]
    if what == 1:
        return text[:begin] + piece * random.choice((2, 2, 3, 30)) + text[end:]
    if what == 2:
        return text[:there] + piece + text[there_end:]
    if what == 3:
        return text[:there] + piece + text[there:]
    tag = TAG.match(piece)
    if tag is None:
        return text
    name = tag.group(2)
    if what == 4 and not tag.group(4):
        inside = piece[tag.end():piece.rfind("</")]
        return text[:begin] + tag.group() + inside + piece * random.choice((1, 2)) + f"</{name}>" + text[end:]
    other = TAG.match(text[there:]).group(2)
    return text[:begin] + re.sub(rf"^<{re.escape(name)}\b", f"<{other}", re.sub(rf"</{re.escape(name)}>$", f"</{other}>", piece)) + text[end:]


def change_attributes(random, text):
    """An attribute left out, renamed, from another element, or with the value of another one."""
    one, two = pick(random, ATTRIBUTE, text), pick(random, ATTRIBUTE, text)
    if one is None:
        return text
    (name, _, value), (other_name, _, other_value) = one.group().partition("="), two.group().partition("=")
    return replace(text, one, random.choice(("", two.group(), f"{one.group()} {two.group()}", f"{other_name}={value}", f"{name}={other_value}")))


def change_keys(random, text):
    """The same for the keys of a TOML file, in lines and in braces."""
    pattern = re.compile(r"[\w.]+\s*=\s*(?:\[[^\[\]]*\]|\"[^\"\n]*\"|[\w.+-]+)")
    one, two = pick(random, pattern, text), pick(random, pattern, text)
    if one is None:
        return text
    (name, _, value), (other_name, _, other_value) = one.group().partition("="), two.group().partition("=")
    return replace(text, one, random.choice((two.group(), f"{other_name} ={value}", f"{name} ={other_value}")))


def mutate_text(random, content, is_xml):
    text = content.decode(errors="surrogateescape")
    changes = [change_number, change_number, change_number, swap_numbers, change_word, change_lines, change_characters]
    changes += [change_elements, change_elements, change_attributes, change_attributes] if is_xml else [change_keys, change_keys, change_lines]
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        text = random.choice(changes)(random, text)[:900_000]
    return text.encode(errors="surrogateescape")


def mutate_lines(random, content):
    """OBJ and ASCII meshes: numbers and lines."""
    text = content.decode(errors="surrogateescape")
    for _ in range(random.choice((1, 2, 3, 8))):
        text = random.choice((change_number, change_number, swap_numbers, change_lines, change_lines, change_characters))(random, text)
    return text.encode(errors="surrogateescape")


def mutate_binary(random, content):
    """Bits, runs of zeros, pieces elsewhere, cuts, and numbers of 4 and 8 bytes that are extreme."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        if not data:
            break
        at, length = random.randrange(len(data)), random.choice((1, 4, 8, 64, 512))
        what = random.randrange(7)
        if what <= 1:
            data[at] ^= 1 << random.randrange(8)
        elif what == 2:
            data[at:at + length] = bytes(len(data[at:at + length]))
        elif what == 3:
            there = random.randrange(len(data))
            data[at:at + length] = data[there:there + length]
        elif what == 4:
            del data[at:]
        elif what == 5:
            data += bytes(random.randrange(256) for _ in range(length))
        else:
            at -= at % 4
            value = random.choice((struct.pack("<Q", random.choice((0, 1, 2**31, 2**32 - 1, 2**61, 2**63, 2**64 - 1))),
                                   struct.pack("<I", random.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1))),
                                   struct.pack("<d", random.choice((float("nan"), float("inf"), 1e300, -1.0, 0.0))),
                                   struct.pack("<f", random.choice((float("nan"), float("inf"), 1e30, 0.0)))))
            data[at:at + len(value)] = value
    return bytes(data)
