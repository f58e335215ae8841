# ppan_stage(NAME [COLD] HEADERS ... SOURCES ... [USES stage ...] [LINKS target ...] [PRIVATE_LINKS target ...])
# declares one stage of the path: a static library ppan_NAME with alias ppan::NAME, whose public headers must
# each compile alone, and which may include only the stages it USES (checked by tests/layers). COLD: nothing in it takes
# long, so it is compiled for fast compilation.
function(ppan_stage name)
  cmake_parse_arguments(ARG "COLD" "" "HEADERS;SOURCES;USES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target ppan_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(ppan::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_USES PREPEND ppan_ OUTPUT_VARIABLE uses)
  target_link_libraries(${target} PUBLIC ppan_abi ${uses} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS}
                                                                               $<BUILD_INTERFACE:ppan_flags>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON
                                             POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  if(NOT COMMAND ppan_use_precompiled)
    # A stage by itself, as the tests of this file have it.
  elseif(ARG_COLD AND PPAN_DEVELOPER)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ppan_cold>)
    ppan_use_precompiled(${target} ppan_cold_pch)
  else()
    ppan_use_precompiled(${target} ppan_pch)
  endif()
  set_property(GLOBAL APPEND PROPERTY PPAN_STAGES ${target})
  # Written out for the layer check.
  string(REPLACE ";" " " uses_text "${ARG_USES}")
  set_property(GLOBAL APPEND_STRING PROPERTY PPAN_LAYERS "${name}: ${uses_text}\n")
endfunction()
