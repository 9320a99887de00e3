#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Puts nvcc into a folder of its own from PyPI, without root and without a GPU, and prints its path.
# usage: cmake -DCMAKE_CUDA_COMPILER="$(tools/get_nvcc.sh FOLDER)" ...
set -eu
folder=${1:?usage: get_nvcc.sh FOLDER}
python3 -m venv "$folder" >&2
"$folder/bin/pip" install --quiet \
  "nvidia-cuda-nvcc==13.0.*" "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*" \
  "nvidia-cuda-crt==13.0.*" "nvidia-nvvm==13.0.*" >&2
root=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib") + "/nvidia/cu13")')
# nvcc looks for the runtime in lib64; the wheels put it into lib.
[ -e "$root/lib64" ] || ln -s lib "$root/lib64"
echo "$root/bin/nvcc"
