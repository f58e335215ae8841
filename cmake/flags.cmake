# Flags of every target of this project, in two interface targets: ppan_abi also applies to projects that link the library,
# ppan_flags does not.

# Eigen's heap alignment depends on the instruction set of each translation unit. Fixing it allows a program built for plain x86-64
# to free matrices that a library built for AVX-512 allocated.
add_library(ppan_abi INTERFACE)
target_compile_features(ppan_abi INTERFACE cxx_std_20)
target_compile_definitions(ppan_abi INTERFACE EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MPL2_ONLY)

add_library(ppan_flags INTERFACE)
# sqrt and similar functions vectorise only if they need not set errno. No other floating-point rule is relaxed, so that results
# stay reproducible.
target_compile_options(ppan_flags INTERFACE -fno-math-errno -fno-trapping-math)
# Mechanisms are trained in float, and released in double where the spacing of floats would be visible. Leaving out training in
# double makes the library compile faster.
if(PPAN_DOUBLE_TRAINING)
  target_compile_definitions(ppan_flags INTERFACE PPAN_DOUBLE_TRAINING)
endif()
# By default GCC runs its garbage collector every hundred megabytes. Unity files need up to a gigabyte, and would spend a tenth of their
# compile time in it.
if(PPAN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ppan_flags INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
endif()
if(PPAN_NATIVE)
  target_compile_options(ppan_flags INTERFACE -march=native)
endif()
if(PPAN_DEVELOPER)
  # No -Wshadow in unity builds: a local name may hide one of an unrelated file.
  target_compile_options(ppan_flags INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${PPAN_UNITY}>>:-Wshadow> -Wnon-virtual-dtor -Wold-style-cast -Wno-missing-field-initializers
                                              -Wconversion -Wno-sign-conversion -Werror)
  # GCC 12 reports false array-bounds and uninitialized findings inside Eigen and its own AVX-512 intrinsics.
  target_compile_options(ppan_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow
                                              -Wno-uninitialized -Wno-maybe-uninitialized -Wno-stringop-overread>)
endif()
if(PPAN_SANITIZE)
  # Null, wild and misaligned vector accesses trap or are found by the address sanitizer; checking each of them again would cost a third of the
  # compile time.
  target_compile_options(ppan_flags INTERFACE -fsanitize=${PPAN_SANITIZE} -fno-sanitize-recover=all
                                              -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr
                                              -fno-omit-frame-pointer)
  target_link_options(ppan_flags INTERFACE -fsanitize=${PPAN_SANITIZE})
endif()
