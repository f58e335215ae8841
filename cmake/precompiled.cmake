# Half of the time of a compilation goes into reading the headers of Eigen, JSON, fmt and the standard library. They are read
# once: one precompiled header for the library, one for the command and the report, one for the tests. No header of our own is
# in them, so a change of ours does not make them anew; and since consumers build without them (PPAN_PCH is off inside another
# project), every file includes what it uses.
set(ppan_precompiled <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional>
                     <string> <string_view> <utility> <variant> <vector> <Eigen/Core> <fmt/format.h> <fmt/ranges.h>)

# The macros of every header in it must be the same wherever it is used.
target_compile_definitions(ppan_flags INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
if(PPAN_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ppan_flags INTERFACE -fpch-preprocess)
endif()

# Optimised hard only where it is hot: what words, files and figures are made by, and the tests, compile faster so.
add_library(ppan_cold INTERFACE)
target_compile_options(ppan_cold INTERFACE $<$<CONFIG:Release>:-O1>)

# ppan_precompiled_headers(NAME [PIC] HEADERS ... LINKS ...) makes one; ppan_use_precompiled(TARGET NAME) uses it. The flags of
# both must be the same.
function(ppan_precompiled_headers name)
  cmake_parse_arguments(ARG "PIC" "" "HEADERS;LINKS" ${ARGN})
  if(NOT PPAN_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "// Only its precompiled header is used.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ppan_abi ppan_flags Eigen3::Eigen fmt::fmt ${ARG_LINKS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  if(ARG_PIC)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

function(ppan_use_precompiled target name)
  if(PPAN_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

ppan_precompiled_headers(ppan_pch PIC HEADERS ${ppan_precompiled} <nlohmann/json.hpp>
                         LINKS nlohmann_json::nlohmann_json)
# GCC compiles what uses a precompiled header as hard as that was compiled, whatever the flags say: a header for each.
if(PPAN_DEVELOPER)
  find_package(CLI11 REQUIRED)
  set(ppan_cold_more <CLI/App.hpp>)
endif()
ppan_precompiled_headers(ppan_cold_pch PIC HEADERS ${ppan_precompiled} <nlohmann/json.hpp> ${ppan_cold_more}
                         LINKS nlohmann_json::nlohmann_json $<TARGET_NAME_IF_EXISTS:CLI11::CLI11> ppan_cold)
