# Half of the compile time goes into parsing the headers of Eigen, JSON, fmt and the standard library, so they are precompiled: once for
# optimised stages, once for COLD stages and the command, once for the tests. None of our own headers is included, so a change of
# ours does not rebuild them. Consumers build without them (PPAN_PCH is off inside another project), so a missing include is still
# found.
set(ppan_precompiled <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional>
                     <string> <string_view> <utility> <variant> <vector> <Eigen/Core> <fmt/format.h> <fmt/ranges.h>)

# Macros must have the same values wherever a precompiled header is used.
target_compile_definitions(ppan_flags INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
if(PPAN_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ppan_flags INTERFACE -fpch-preprocess)
endif()

# For code that never takes long (COLD stages, the command): little optimisation, fast compilation. Under sanitizers, where only the
# fast tests run, none at all, which halves the time.
add_library(ppan_cold INTERFACE)
if(PPAN_SANITIZE)
  target_compile_options(ppan_cold INTERFACE -O0)
else()
  target_compile_options(ppan_cold INTERFACE $<$<CONFIG:Release>:-O1>)
endif()
# Tests are never without it: of a template that test and stage both instantiate, the linker takes the test's, and what is tested
# would be slow.
add_library(ppan_cold_tests INTERFACE)
target_compile_options(ppan_cold_tests INTERFACE $<$<CONFIG:Release>:-O1>)

# ppan_precompiled_headers(NAME [PIC] HEADERS ... LINKS ...) creates one; ppan_use_precompiled(TARGET NAME) uses it. Both need the
# same flags.
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
# GCC takes the optimisation level from the precompiled header, whatever the flags of the file say, so each level needs its own.
if(PPAN_DEVELOPER)
  find_package(CLI11 REQUIRED)
  set(ppan_cold_more <CLI/App.hpp>)
endif()
ppan_precompiled_headers(ppan_cold_pch PIC HEADERS ${ppan_precompiled} <nlohmann/json.hpp> ${ppan_cold_more}
                         LINKS nlohmann_json::nlohmann_json $<TARGET_NAME_IF_EXISTS:CLI11::CLI11> ppan_cold)
