#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the README's gallery anew: runs each command and looks at what it wrote.

usage: make_pictures.py TANGERE [--python PYTHON] [NAME...]

A page is opened in Chromium without a window, at the time and place given here, with the panels of the
viewer put away, so that small pictures show the scene; pngquant makes them small. A command that writes a
picture by itself is taken as it is. NAME is the name of a picture without its folder and ending.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import docs_pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What to look at: the time [s], how many times nearer than the page shows it, and the middle of the
# picture there, from its left and upper edge.
MOMENTS = {
    "grasp_held": (3.5, 2.4, 0.5, 0.38),
    "bin": (0.3, 1.3, 0.5, 0.52),
    "gripper": (2.5, 1.7, 0.5, 0.58),
    "soft_ball": (0.25, 4, 0.46, 0.62),
    "billiards": (0.9, 1.9, 0.5, 0.46),
    "dominoes": (0.8, 1.9, 0.53, 0.54),
    "stack": (1.5, 1, 0.5, 0.5),
    "clutter": (1.0, 3.6, 0.48, 0.42),
}
SIZES = {"sliding_box": (1200, 750)}
WITH_PANELS = {"grasp": ("tangere run scenes/grasp.toml --duration 6 --replay grasp.html", 3.5),
               "viewer": ("tangere run scenes/bin.toml --duration 4 --replay bin.html", 1.2)}
NEARER = """<style>.card {{ display: none !important; }} canvas#view {{ inset: auto !important; width: {size}vw !important;
height: {size}vh !important; left: {left}vw !important; top: {top}vh !important; }}</style>"""
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
            "--hide-scrollbars", "--virtual-time-budget=4000"]


def come_nearer(page, zoom, x, y):
    """Puts the panels of a page of the viewer away and shows a part of its picture."""
    style = NEARER.format(size=100 * zoom, left=50 - 100 * zoom * x, top=50 - 100 * zoom * y)
    page.write_text(page.read_text(encoding="utf-8") + style, encoding="utf-8")


def photograph(page, time, size, picture):
    address = page.resolve().as_uri() + ("" if time is None else f"#{time}")
    subprocess.run([*CHROMIUM, f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}", address],
                   check=True, capture_output=True, timeout=300)
    if not picture.exists():
        raise SystemExit(f"chromium left no picture of {page}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tangere")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the package")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()

    entries = [(name, command, (time,), (1280, 800)) for name, (command, time) in WITH_PANELS.items()]
    for picture, command in docs_pages.gallery(ROOT):
        name = pathlib.Path(picture).stem
        entries.append((name, command, MOMENTS.get(name, (None,)), SIZES.get(name, (800, 500))))
    for name, command, (time, *place), size in entries:
        if arguments.names and name not in arguments.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for linked in ("scenes", "examples"):
                os.symlink(ROOT / linked, folder / linked)
            words = shlex.split(command)
            program = {"tangere": os.path.abspath(arguments.tangere), "python": arguments.python}[words[0]]
            subprocess.run([program, *words[1:]], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            made, picture = folder / words[-1], folder / f"{name}.photo.png"
            if made.suffix == ".html":
                if place:
                    come_nearer(made, *place)
                photograph(made, time, size, picture)
            else:
                shutil.copy(made, picture)
            out = ROOT / "docs/images" / f"{name}.png"
            subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--output", str(out), "128", str(picture)], check=True)
            print(f"docs/images/{name}.png: {out.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
