# Flags that every target of this project carries, as two interface targets: ppan_abi reaches those who link
# the library, ppan_flags does not.

# Eigen's heap alignment follows the instruction set of each translation unit. Fixing it makes matrices
# allocated by a library built for AVX-512 and freed by a program built for plain x86-64 agree.
add_library(ppan_abi INTERFACE)
target_compile_features(ppan_abi INTERFACE cxx_std_20)
target_compile_definitions(ppan_abi INTERFACE EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MPL2_ONLY)

add_library(ppan_flags INTERFACE)
# sqrt and friends vectorise only when they need not set errno; no other floating-point licence is taken, so
# that results stay reproducible.
target_compile_options(ppan_flags INTERFACE -fno-math-errno -fno-trapping-math)
# Mechanisms release in double where float's grid would show; they are trained in float. Without players in double the library
# compiles faster.
if(PPAN_DOUBLE_TRAINING)
  target_compile_definitions(ppan_flags INTERFACE PPAN_DOUBLE_TRAINING)
endif()
# GCC collects its garbage every hundred megabytes unless told that there is room for more; files that are compiled as one reach
# ten times that, and a tenth of the time goes into it.
if(PPAN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ppan_flags INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
endif()
if(PPAN_NATIVE)
  target_compile_options(ppan_flags INTERFACE -march=native)
endif()
if(PPAN_DEVELOPER)
  # Of files that are compiled as one (PPAN_UNITY), a name may hide one of another file, which elsewhere it does not see.
  target_compile_options(ppan_flags INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${PPAN_UNITY}>>:-Wshadow> -Wnon-virtual-dtor -Wold-style-cast -Wno-missing-field-initializers
                                              -Wconversion -Wno-sign-conversion -Werror)
  # GCC 12 reports false array-bounds and uninitialized findings inside Eigen and its own AVX-512 intrinsics.
  target_compile_options(ppan_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow
                                              -Wno-uninitialized -Wno-maybe-uninitialized -Wno-stringop-overread>)
endif()
if(PPAN_SANITIZE)
  # A null, wild or misaligned vector access stops the program or the address sanitizer by itself; checking each one
  # again costs a third of the compile time.
  target_compile_options(ppan_flags INTERFACE -fsanitize=${PPAN_SANITIZE} -fno-sanitize-recover=all
                                              -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr
                                              -fno-omit-frame-pointer)
  target_link_options(ppan_flags INTERFACE -fsanitize=${PPAN_SANITIZE})
endif()
