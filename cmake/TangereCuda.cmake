# CUDA is optional: with it the kernels are compiled as device code too (docs/cuda.md).
# TANGERE_CUDA: AUTO uses nvcc when CMake finds one (PATH, CUDACXX or CMAKE_CUDA_COMPILER), ON fails
# without it, OFF does not look.
set(TANGERE_CUDA AUTO CACHE STRING "Compile the kernels with nvcc: AUTO, ON or OFF")
set_property(CACHE TANGERE_CUDA PROPERTY STRINGS AUTO ON OFF)

if(TANGERE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80)
    endif()
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know it of nvcc
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    if(CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
    endif()
  elseif(NOT TANGERE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "TANGERE_CUDA is ON but no working nvcc was found; see docs/cuda.md")
  endif()
endif()

# The same bits as on the host: no fused multiply-add, IEEE division and square root, subnormals
# kept. A host function called from a kernel is an error, not a warning.
set(TANGERE_CUDA_FLAGS -fmad=false -prec-div=true -prec-sqrt=true -ftz=false
  "SHELL:-Werror cross-execution-space-call" -Xcompiler=-ffp-contract=off)
