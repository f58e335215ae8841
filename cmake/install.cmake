include(CMakePackageConfigHelpers)
get_property(stages GLOBAL PROPERTY PPAN_STAGES)

add_library(ppan_ppan INTERFACE)
add_library(ppan::ppan ALIAS ppan_ppan)
set_target_properties(ppan_ppan PROPERTIES EXPORT_NAME ppan)
target_link_libraries(ppan_ppan INTERFACE ${stages})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ppan)
install(TARGETS ${stages} ppan_ppan ppan_abi EXPORT ppan-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ppan-targets NAMESPACE ppan:: DESTINATION ${package_dir})
configure_package_config_file(cmake/ppan-config.cmake.in ${PROJECT_BINARY_DIR}/ppan-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ppan-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ppan-config.cmake ${PROJECT_BINARY_DIR}/ppan-config-version.cmake
        DESTINATION ${package_dir})
install(FILES cmake/dependencies.cmake DESTINATION ${package_dir} RENAME ppan-dependencies.cmake)
if(TARGET ppan_cli)
  install(TARGETS ppan_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
