#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that building and testing Tangere need, and nothing else. Packages
# that are present are left alone: with all of them there it only looks, which takes no time.
# On a system without Debian's packages it says in one line what to install, and goes on: whether
# that is there is for CMake to find out.
set -eu

build="g++ cmake ninja-build ccache libeigen3-dev libqhull-dev libcli11-dev nlohmann-json3-dev libhdf5-dev pkg-config libcivetweb-dev libsundials-dev"
check="libgtest-dev libbenchmark-dev libmpfr-dev clang libclang-rt-14-dev clang-format clang-tidy python3 python3-h5py python3-markdown python3-pygments chromium"

python="python3-dev python3-venv"

docs="python3 python3-markdown python3-pygments chromium pngquant"

wanted=$build
case "${1:-all}" in
  build) ;;
  python) wanted="$wanted $python" ;;
  docs) wanted=$docs ;;
  *) wanted="$wanted $check" ;;
esac

# The viewer's packages come from npm, whoever gave the machine its npm.
command -v npm >/dev/null 2>&1 || wanted="$wanted nodejs npm"

if ! command -v dpkg-query >/dev/null 2>&1; then
  libraries="cmake ninja ccache eigen qhull cli11 nlohmann-json hdf5 pkgconf sundials node (and civetweb, from its sources)"
  for manager in dnf pacman brew; do
    command -v $manager >/dev/null 2>&1 && break
    manager="your package manager"
  done
  echo "bootstrap: only Debian's packages are installed from here; with $manager, install: a C++20 compiler $libraries" >&2
  exit 0
fi

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1; then
  as_root=sudo
else
  echo "bootstrap: missing packages:$missing" >&2
  echo "bootstrap: run as root: apt-get install$missing" >&2
  exit 1
fi

echo "bootstrap: installing$missing (one to three minutes)"
export DEBIAN_FRONTEND=noninteractive
# Another program may hold the lock of the packages, as on a machine that has just started.
apt="$as_root apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600"
install="$apt install --no-install-recommends -y"
# The package lists of a fresh machine may be absent or stale: refresh them only when needed.
# shellcheck disable=SC2086
$install $missing >/dev/null 2>&1 || { $apt update && $install $missing >/dev/null; }
