# SPDX-License-Identifier: Apache-2.0
#
# The two commands:  make demo   builds, runs the demonstration, writes out/demo.html
#                    make test   builds and runs every check
# Also: make docs (the pages as a site), pictures (those of the README), python (the package, its tests), format (apply), tidy, asan, tsan, fuzz (FUZZ_SECONDS each), metamorphic (METAMORPHIC scenes each), attack (ATTACK_SECONDS of each kind), check (make test and a minute of each attack), nightly (every check there is, for hours), bench, install, clean.

MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
# Of one test [s]: what hangs fails.
TEST_SECONDS ?= 900
PREFIX ?= /usr/local
# Seconds for each fuzz target; in `make test` about a minute in all, and never more than so many
# inputs, so that a faster machine does not test something else.
FUZZ_SECONDS ?= 600
TEST_FUZZ_SECONDS ?= 8
TEST_FUZZ_RUNS ?= 20000
# Random scenes for each relation, beginning with METAMORPHIC_SEED; `make test` takes a few of them.
METAMORPHIC ?= 2000
METAMORPHIC_SEED ?= 1
# Seconds for each kind of attack; `make test` takes a few of each but python.
ATTACK_SECONDS ?= 60
ATTACK_SEED ?= 1
NIGHTLY_SECONDS ?= 3600

CMAKE_BUILD = cmake --build build/$(1) --parallel $(JOBS)
# Configures once; afterwards the build itself sees to changed CMake files.
CONFIGURE = test -f build/$(1)/build.ninja || cmake --preset $(1) --log-level=WARNING
SOURCES = $(shell (git ls-files -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print) \
            | grep -E '\.(hpp|cpp|cu)$$')
SANITIZED = batch dynamics io model sim solver
SPACE := $(subst ,, )
DETERMINISM_BUILDS = determinism-gcc-O1 determinism-clang-O1 determinism-clang-O3

.PHONY: demo test bootstrap build-release check-format format tidy determinism asan tsan \
        sanitize fuzz-build fuzz metamorphic attack check nightly python bench docs pictures install clean

demo:
	@./bootstrap.sh build
	@$(call CONFIGURE,release)
	@$(call CMAKE_BUILD,release) --target tangere_cli
	@mkdir -p out
	@build/release/cli/tangere run scenes/grasp.toml --duration 6 --replay out/demo.html
	@echo "open out/demo.html in a browser: the grasp, with the pressure of every contact"

test: bootstrap check-format build-release python
	@ctest --test-dir build/release --output-on-failure --parallel $(JOBS) --timeout $(TEST_SECONDS)
	@$(MAKE) sanitize
	@echo "make test: all checks passed"

bootstrap:
	@./bootstrap.sh

build-release: bootstrap
	@$(call CONFIGURE,release)
	@$(call CMAKE_BUILD,release)

check-format: bootstrap
	@clang-format --dry-run -Werror $(SOURCES)

format: bootstrap
	@clang-format -i $(SOURCES)

# Not part of `make test`, which has to end in half an hour on two cores.
tidy: build-release
	@tests/run_clang_tidy.sh build/release $(JOBS)

# The golden hashes must come out of every compiler and optimisation level alike. In `make test`,
# which has to end in half an hour on two cores: gcc -O3 in the release tests, clang -O1 in the
# sanitized ones.
determinism: bootstrap $(DETERMINISM_BUILDS:%=run-%)

run-determinism-%:
	@$(call CONFIGURE,determinism-$*)
	@$(call CMAKE_BUILD,determinism-$*) --target determinism_scenes
	@build/determinism-$*/tests/determinism/determinism_scenes --check tests/determinism/golden_hashes.txt

asan: bootstrap
	@$(call CONFIGURE,asan)
	@$(call CMAKE_BUILD,asan)
	@ctest --test-dir build/asan --output-on-failure --parallel $(JOBS) --timeout 3600 --label-exclude 'slow|release'

tsan: bootstrap
	@$(call CONFIGURE,tsan)
	@$(call CMAKE_BUILD,tsan)
	@ctest --test-dir build/tsan --output-on-failure --parallel $(JOBS) --timeout 3600 --label-exclude 'slow|release'

fuzz-build: bootstrap
	@$(call CONFIGURE,fuzz)
	@$(call CMAKE_BUILD,fuzz) --target fuzzers

# One build for all: the tests of what reads files and what moves bodies, the golden hashes, and the
# fuzzers for a moment. Random shots, starts and falls are fewer here, and so are threads that
# wait for each other: the release tests do them all. The starts of soft_stability take two minutes
# here and run the code of soft_falls.
# `make asan` runs every test, `make fuzz` for long.
sanitize: bootstrap
	@$(call CONFIGURE,fuzz)
	@$(call CMAKE_BUILD,fuzz) --target fuzzers determinism_scenes $(SANITIZED:%=tests_%)
	@TANGERE_SHOTS=30 TANGERE_FALLS=6 TANGERE_MOST_THREADS=3 \
	  ctest --test-dir build/fuzz --output-on-failure --parallel $(JOBS) --timeout $(TEST_SECONDS) --label-exclude 'slow|release' \
	  --tests-regex '^($(subst $(SPACE),|,$(SANITIZED) determinism))\.' --exclude-regex '^sim\.soft_stability$$'
	@tests/fuzz/run_fuzzers.sh build/fuzz $(TEST_FUZZ_SECONDS) $(TEST_FUZZ_RUNS)

fuzz: fuzz-build
	@tests/fuzz/run_fuzzers.sh build/fuzz $(FUZZ_SECONDS)

# Relations that hold for every scene under every solver. Scenes that break one are shrunk and
# written to out/metamorphic. Some minutes for each of impulse and sap, some tens of minutes for event.
metamorphic: build-release
	@mkdir -p out/metamorphic
	@TANGERE_METAMORPHIC=$(METAMORPHIC) TANGERE_METAMORPHIC_SEED=$(METAMORPHIC_SEED) \
	  TANGERE_METAMORPHIC_OUT=$(CURDIR)/out/metamorphic \
	  ctest --test-dir build/release --output-on-failure --parallel $(JOBS) --timeout 86400 --tests-regex '^metamorphic\.'

# What gets past is made small, kept in tests/attack/regressions and named in the output.
attack: build-release
	@test -x $(PYTHON) || $(MAKE) python
	@python3 tests/attack/attack.py all --seed $(ATTACK_SEED) --seconds $(ATTACK_SECONDS) --python $(PYTHON)

check: test
	@$(MAKE) attack

nightly: check tidy determinism asan tsan fuzz metamorphic
	@$(MAKE) attack ATTACK_SECONDS=$(NIGHTLY_SECONDS)

# The Python package in an environment of its own: its wheel, and its tests. The
# compilers by the names that CMake gives them, so that ccache knows what the other builds
# compiled. The network is asked only for what is missing in that environment.
PYTHON = build/python/bin/python
PIP = CC=cc CXX=c++ $(PYTHON) -m pip --quiet --disable-pip-version-check
WHEEL = build/python/dist/tangere-*.whl
python:
	@./bootstrap.sh python
	@test -x $(PYTHON) || python3 -m venv build/python
	@$(PIP) install 'nanobind>=3.1,<4' 'scikit-build-core>=0.10' 'numpy>=1.24'
	@rm -f $(WHEEL)
	@$(PIP) wheel --no-deps --no-build-isolation --config-settings build-dir=build/python/wheel \
	  --wheel-dir build/python/dist .
	@$(PIP) install --no-deps --no-index --force-reinstall $(WHEEL)
	@$(PIP) install "$$(echo $(WHEEL))[test]"
	@$(PYTHON) -m pytest -q -p no:cacheprovider python/tests

# The pages as plain HTML. Debian's Python, for which bootstrap.sh installs what it needs.
docs:
	@./bootstrap.sh docs
	@/usr/bin/python3 tools/build_docs.py --check out/docs

# The pictures of the README, each from its command; the package for the one that Python makes.
pictures: build-release
	@./bootstrap.sh docs
	@test -x build/python/bin/python || $(MAKE) python
	@/usr/bin/python3 tools/make_pictures.py build/release/cli/tangere --python build/python/bin/python

bench: build-release
	@build/release/cli/tangere bench

install: build-release
	@cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build out
