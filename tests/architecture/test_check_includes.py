#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that tools/check_includes.py fails where it must: one bad tree for each rule."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "check_includes.py"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"

GOOD = {
    "include/tangere/types.hpp": SPDX + "#pragma once\n",
    "include/tangere/shape.hpp": SPDX + "#include <tangere/types.hpp>\n",
    "src/core/CMakeLists.txt": "tangere_add_module(core\n  SOURCES a.cpp\n  DEPENDS)\n",
    "src/core/hash.hpp": SPDX + "#include <cstdint>\n#include <tangere/types.hpp>\n",
    "src/core/a.cpp": SPDX + '#include "core/hash.hpp"\n',
    "src/math/CMakeLists.txt": "tangere_add_module(math\n  DEPENDS core)  # header-only\n",
    "src/math/quat.hpp": SPDX + '#include "core/hash.hpp"\n',
    "src/geometry/CMakeLists.txt": "tangere_add_module(geometry DEPENDS math core LINK Eigen3::Eigen)\n",
    "src/geometry/bvh.hpp": SPDX + '#include "math/quat.hpp"\n',
    "src/geometry/kernels/support.hpp": SPDX + '#include "math/quat.hpp"\n',
    "cli/main.cpp": SPDX + '#include <tangere/shape.hpp>\n#include "commands.hpp"\n',
    "cli/commands.hpp": SPDX,
    "tests/geometry/test_bvh.cpp": SPDX + '#include "geometry/bvh.hpp"\n#include "geometry/samples.hpp"\n',
    "tests/geometry/samples.hpp": SPDX + '#include "core/hash.hpp"\n',
    "tools/tool.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n",
}


def check(changes):
    """Exit status and output of the tool on the good tree with some files replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckIncludes(unittest.TestCase):
    def expect_violation(self, changes, *expected):
        status, output = check(changes)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)
        self.assertEqual(len(output.splitlines()), 1, output)

    def test_the_good_tree_passes(self):
        self.assertEqual(check({}), (0, ""))

    def test_a_module_may_not_include_one_above_it(self):
        self.expect_violation(
            {"src/core/a.cpp": SPDX + '\n#include "geometry/bvh.hpp"\n'},
            "src/core/a.cpp:3: core may not include",
        )

    def test_a_friend_of_a_friend_must_be_listed(self):
        self.expect_violation(
            {"src/geometry/CMakeLists.txt": "tangere_add_module(geometry DEPENDS math)\n",
             "src/geometry/bvh.hpp": SPDX + '#include "core/hash.hpp"\n'},
            "src/geometry/bvh.hpp:2: geometry may not include",
        )

    def test_brackets_do_not_hide_a_private_header(self):
        status, output = check({"src/core/a.cpp": SPDX + "#include <geometry/bvh.hpp>\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/core/a.cpp:2: core may not include", output)

    def test_a_link_target_is_not_a_friend(self):
        self.expect_violation(
            {"src/math/CMakeLists.txt": "tangere_add_module(math DEPENDS LINK core)\n"},
            "src/math/quat.hpp:2: math may not include",
        )

    def test_a_comment_in_cmake_is_not_a_friend(self):
        self.expect_violation(
            {"src/math/CMakeLists.txt": "tangere_add_module(math DEPENDS # core\n)\n"},
            "src/math/quat.hpp:2: math may not include",
        )

    def test_a_public_header_includes_nothing_private(self):
        self.expect_violation(
            {"include/tangere/shape.hpp": SPDX + '#include "core/hash.hpp"\n'},
            "include/tangere/shape.hpp:2:", "is private",
        )

    def test_programs_include_nothing_private(self):
        for folder in ("cli", "bench", "examples", "python", "viewer"):
            self.expect_violation(
                {f"{folder}/x.cpp": SPDX + '#include "core/hash.hpp"\n'}, f"{folder}/x.cpp:2:", "is private"
            )
        self.expect_violation(
            {"cli/x.cpp": SPDX + '#include "../src/core/hash.hpp"\n'}, "cli/x.cpp:2:", "is private"
        )

    def test_a_kernel_includes_no_host_header(self):
        self.expect_violation(
            {"src/geometry/kernels/support.hpp": SPDX + '#include "geometry/bvh.hpp"\n'},
            "src/geometry/kernels/support.hpp:2: a kernel may not include the host header",
        )

    def test_headers_may_not_include_each_other(self):
        self.expect_violation(
            {"src/math/quat.hpp": SPDX + '#include "math/vec.hpp"\n',
             "src/math/vec.hpp": SPDX + '#include "math/mat.hpp"\n',
             "src/math/mat.hpp": SPDX + '#include "math/quat.hpp"\n'},
            "headers include each other", "src/math/quat.hpp", "src/math/vec.hpp", "src/math/mat.hpp",
        )
        self.expect_violation(
            {"include/tangere/types.hpp": SPDX + "#include <tangere/shape.hpp>\n"}, "headers include each other"
        )

    def test_modules_may_not_depend_on_each_other(self):
        self.expect_violation(
            {"src/core/CMakeLists.txt": "tangere_add_module(core DEPENDS math)\n"},
            "modules depend on each other",
        )

    def test_depends_names_existing_modules(self):
        self.expect_violation(
            {"src/core/CMakeLists.txt": "tangere_add_module(core DEPENDS maths)\n"},
            "src/core/CMakeLists.txt:1: core DEPENDS on maths",
        )

    def test_a_folder_of_sources_is_a_module(self):
        self.expect_violation({"src/extra/x.cpp": SPDX}, "src/extra has sources but no tangere_add_module")

    def test_missing_and_misspelt_headers_are_named(self):
        self.expect_violation({"src/core/a.cpp": SPDX + '#include "core/gone.hpp"\n'}, "src/core/gone.hpp does not exist")
        self.expect_violation({"src/core/a.cpp": SPDX + "#include <tangere/gone.hpp>\n"}, "include/tangere/gone.hpp does not exist")
        self.expect_violation({"src/core/a.cpp": SPDX + '#include "hash.hpp"\n'}, "is not named from its module")
        self.expect_violation({"src/core/a.cpp": SPDX + '#include "tangere/types.hpp"\n'}, "included as <tangere/types.hpp>")

    def test_every_source_file_begins_with_the_licence(self):
        self.expect_violation({"src/core/a.cpp": "// nothing\n"}, "src/core/a.cpp:1: expected the line")
        self.expect_violation({"tests/core/empty.cpp": ""}, "tests/core/empty.cpp:1: expected the line")
        self.expect_violation({"tools/tool.py": "#!/usr/bin/env python3\nprint()\n"}, "tools/tool.py:2: expected")

    def test_comments_do_not_include(self):
        commented = SPDX + '// #include "geometry/bvh.hpp"\n/*\n#include "geometry/bvh.hpp"\n*/\n'
        self.assertEqual(check({"src/core/a.cpp": commented})[0], 0)

    def test_a_folder_that_is_no_tree_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
