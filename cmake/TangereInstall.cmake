# The installed libraries, each one archive:
#   tangere::collision  the modules up to collision and the mesh readers; users see the public
#                       headers and Eigen, nothing else
#   tangere::tangere    all the rest on top of it: models, solvers, simulator, scenes, recordings
# Qhull is taken into the archive where its static library exists; that one is not position
# independent on Debian, so a shared library made from it needs TANGERE_BUNDLE_QHULL=OFF, which
# leaves Qhull a dependency.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
find_package(Qhull REQUIRED)

option(TANGERE_BUNDLE_QHULL "Put Qhull into the installed archive" ON)
if(NOT TARGET Qhull::qhullstatic_r)
  set(TANGERE_BUNDLE_QHULL OFF)
endif()

# tangere_add_package(<target> <exported name> <archive name> <modules...>)
function(tangere_add_package target name archive)
  add_library(${target} STATIC)
  foreach(module IN LISTS ARGN)
    get_target_property(type tangere_${module} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:tangere_${module}>)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    OUTPUT_NAME ${archive}
    EXPORT_NAME ${name}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package)
  target_include_directories(${target} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  # The public headers hold arithmetic: it must round in the user's program as it does in ours.
  target_compile_options(${target} INTERFACE -ffp-contract=off)
endfunction()

set(mesh_readers "/(collada|glb|mesh_file|obj|stl|text|utf8|xml_document)\\.cpp")
tangere_add_package(tangere_package collision tangere_collision core math geometry collision)
target_sources(tangere_package PRIVATE
  $<FILTER:$<TARGET_OBJECTS:tangere_io>,INCLUDE,${mesh_readers}>)
target_link_libraries(tangere_package INTERFACE Eigen3::Eigen Threads::Threads)
tangere_add_package(tangere_whole_package tangere tangere
  solver model dynamics contact integrator sim batch)
target_sources(tangere_whole_package PRIVATE
  $<FILTER:$<TARGET_OBJECTS:tangere_io>,EXCLUDE,${mesh_readers}>)
target_link_libraries(tangere_whole_package INTERFACE tangere_package
  $<LINK_ONLY:$<INSTALL_INTERFACE:PkgConfig::tangere_hdf5>>)
if(TANGERE_BUNDLE_QHULL)
  set(unpacked ${PROJECT_BINARY_DIR}/package/qhull)
  add_custom_command(TARGET tangere_package POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${unpacked}
    COMMAND ${CMAKE_COMMAND} -E chdir ${unpacked} ${CMAKE_AR} x $<TARGET_FILE:Qhull::qhullstatic_r>
    COMMAND sh -c "${CMAKE_AR} qs $<TARGET_FILE:tangere_package> ${unpacked}/*.o"
    COMMENT "Adding Qhull to the package" VERBATIM)
else()
  target_link_libraries(tangere_package INTERFACE $<LINK_ONLY:Qhull::qhull_r>)
endif()

# CVODES (BSD-3-Clause) likewise: Debian's static library is position independent.
if(TANGERE_CVODES MATCHES "\\.a$")
  set(unpacked_cvodes ${PROJECT_BINARY_DIR}/package/cvodes)
  add_custom_command(TARGET tangere_whole_package POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${unpacked_cvodes}
    COMMAND ${CMAKE_COMMAND} -E chdir ${unpacked_cvodes} ${CMAKE_AR} x ${TANGERE_CVODES}
    COMMAND sh -c "${CMAKE_AR} qs $<TARGET_FILE:tangere_whole_package> ${unpacked_cvodes}/*.o"
    COMMENT "Adding CVODES to the package" VERBATIM)
  set(TANGERE_PC_CVODES "")
else()
  target_link_libraries(tangere_whole_package INTERFACE $<LINK_ONLY:sundials_cvodes>)
  set(TANGERE_PC_CVODES " -lsundials_cvodes")
endif()

install(TARGETS tangere_package tangere_whole_package EXPORT tangereTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tangere DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
install(EXPORT tangereTargets NAMESPACE tangere:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tangere)
configure_package_config_file(cmake/tangereConfig.cmake.in package/tangereConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tangere)
write_basic_package_version_file(package/tangereConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/tangereConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/package/tangereConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tangere)

if(TANGERE_BUNDLE_QHULL)
  set(TANGERE_PC_REQUIRES "eigen3")
else()
  set(TANGERE_PC_REQUIRES "eigen3 qhull_r")
endif()
# Relative, so that an install tree can be moved.
file(RELATIVE_PATH TANGERE_PC_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
find_package(PkgConfig REQUIRED)
pkg_search_module(TANGERE_HDF5 REQUIRED hdf5-serial hdf5)  # as src/io does
set(TANGERE_PC_HDF5 ${TANGERE_HDF5_MODULE_NAME})
configure_file(cmake/tangere.pc.in package/tangere.pc @ONLY)
configure_file(cmake/tangere_collision.pc.in package/tangere_collision.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/tangere.pc
  ${CMAKE_CURRENT_BINARY_DIR}/package/tangere_collision.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE docs/third_party.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET tangere_cli)
  install(TARGETS tangere_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
