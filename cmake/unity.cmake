# Several files of a stage compiled as one: most of the time of a compilation goes into reading headers and into templates that
# many files need. Who builds once and installs gains by it; who changes a file and builds again does not.
#
# ppan_unity(TARGET [--by-name]) does so for the sources of a target; the option is that of unity_groups.py. Files with compile
# options of their own stay by themselves.
function(ppan_unity target)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM sources REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/unity_groups.py ${ARGN} ${sources}
                  OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  # GCC takes the file that includes the others for a header, and warns of what others could see in it.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
