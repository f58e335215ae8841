# The Debian package: command, library, headers, manual page and documentation. script/package deb builds it for any x86-64
# processor and tests it on a clean Debian.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# The manual page is generated from the help of the command.
set(manual ${PROJECT_BINARY_DIR}/ppan.1)
add_custom_command(OUTPUT ${manual}
                   COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/manual_page.py $<TARGET_FILE:ppan_cli> ${manual}
                   DEPENDS ppan_cli ${PROJECT_SOURCE_DIR}/cmake/manual_page.py)
add_custom_target(ppan_manual ALL DEPENDS ${manual})
get_property(stages GLOBAL PROPERTY PPAN_STAGES)
add_custom_target(ppan_package DEPENDS ppan_cli ppan_manual ${stages})

install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/ppan)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${documents})
install(FILES LICENSE RENAME copyright DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ppan)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Trains randomised mechanisms that hand on what is useful in records while telling as little as
possible about what is sensitive, attacks each on records that nobody trained on, and shows the whole
trade-off. With the command, the C++ library and its headers.")
set(CPACK_PACKAGE_CONTACT "The ppan developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Derives dependencies from the shared libraries that the command links.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Only needed to compile against the library.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "g++, cmake, libeigen3-dev, nlohmann-json3-dev, libfmt-dev, libssl-dev, zlib1g-dev, libpng-dev, libopenblas-dev, libsqlite3-dev, libpq-dev, libxgboost-dev")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
