# ppan_stage(NAME [HOT|COLD [LOOPS]] HEADERS ... SOURCES ... [USES stage ...] [LINKS target ...] [PRIVATE_LINKS target ...])
# declares one stage: a static library ppan_NAME with the alias ppan::NAME. Each of its public headers must compile alone, and it
# may include only the stages it USES (checked by tests/layers).
#
# HOT marks the stages where training spends its time, COLD those that never take long. PPAN_OPTIMISE decides what that means:
#   all    every stage is compiled with the flags of the build type
#   most   COLD stages are compiled for fast compilation (ppan_cold)
#   hot    all stages but the HOT ones are
# LOOPS marks a COLD stage that would take long without any optimisation, which is what the others get under sanitizers.
function(ppan_stage name)
  cmake_parse_arguments(ARG "HOT;COLD;LOOPS" "" "HEADERS;SOURCES;USES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target ppan_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(ppan::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_USES PREPEND ppan_ OUTPUT_VARIABLE uses)
  target_link_libraries(${target} PUBLIC ppan_abi ${uses} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS}
                                                                               $<BUILD_INTERFACE:ppan_flags>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  if(ARG_LOOPS AND PPAN_SANITIZE)
    ppan_use_precompiled(${target} ppan_pch)
  elseif(ARG_HOT AND PPAN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC ignores the level of a file that uses a precompiled header of another level (precompiled.cmake), so none is used here.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  elseif((ARG_COLD AND PPAN_OPTIMISE STREQUAL "most") OR (NOT ARG_HOT AND PPAN_OPTIMISE STREQUAL "hot"))
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ppan_cold>)
    ppan_use_precompiled(${target} ppan_cold_pch)
  else()
    ppan_use_precompiled(${target} ppan_pch)
  endif()
  if(PPAN_UNITY)
    ppan_unity(${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY PPAN_STAGES ${target})
  # For the layer check.
  string(REPLACE ";" " " uses_text "${ARG_USES}")
  set_property(GLOBAL APPEND_STRING PROPERTY PPAN_LAYERS "${name}: ${uses_text}\n")
endfunction()
