// SPDX-License-Identifier: Apache-2.0
//
// The same instantiations with the host compiler: shows without nvcc whether all kernel headers can
// stand beside each other in one file and whether their float versions compile.
#include "kernel_instantiations.hpp"
