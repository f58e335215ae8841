# ppan_stage(NAME [COLD|SELDOM|HOT] HEADERS ... SOURCES ... [USES stage ...] [LINKS target ...] [PRIVATE_LINKS target ...])
# declares one stage of the path: a static library ppan_NAME with alias ppan::NAME, whose public headers must
# each compile alone, and which may include only the stages it USES (checked by tests/layers). COLD: nothing in it takes
# long, so it is compiled for fast compilation; SELDOM: nothing in it takes long in a release, a curve or an audit, so it is compiled
# so where somebody builds once to install (PPAN_UNITY); HOT: where the time of a training goes, always compiled for speed. With
# PPAN_COLD all but those are COLD.
function(ppan_stage name)
  cmake_parse_arguments(ARG "COLD;SELDOM;HOT" "" "HEADERS;SOURCES;USES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target ppan_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(ppan::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_USES PREPEND ppan_ OUTPUT_VARIABLE uses)
  target_link_libraries(${target} PUBLIC ppan_abi ${uses} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS}
                                                                               $<BUILD_INTERFACE:ppan_flags>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  if((ARG_COLD AND PPAN_DEVELOPER) OR ((ARG_COLD OR ARG_SELDOM) AND PPAN_UNITY)
     OR (PPAN_COLD AND NOT ARG_HOT))
    set(cold ON)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ppan_cold>)
  endif()
  if(NOT COMMAND ppan_use_precompiled)
    # A stage by itself, as the tests of this file have it.
  elseif(ARG_HOT AND PPAN_UNITY)
    # Not with a precompiled header that others use at -O2 (precompiled.cmake).
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  elseif(cold)
    ppan_use_precompiled(${target} ppan_cold_pch)
  else()
    ppan_use_precompiled(${target} ppan_pch)
  endif()
  if(PPAN_UNITY)
    ppan_unity(${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY PPAN_STAGES ${target})
  # Written out for the layer check.
  string(REPLACE ";" " " uses_text "${ARG_USES}")
  set_property(GLOBAL APPEND_STRING PROPERTY PPAN_LAYERS "${name}: ${uses_text}\n")
endfunction()
