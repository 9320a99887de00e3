# One folder of src/ = one target = one list of allowed folders. tools/check_includes.py reads the
# DEPENDS lists of these calls and fails the build's test when a file includes something else.
#
# tangere_add_module(<name> SOURCES <cpp...> DEPENDS <modules...> [LINK <external targets...>])
# A module without sources is header-only.
function(tangere_add_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  set(target tangere_${name})
  if(ARG_SOURCES)
    list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    target_compile_options(${target} PRIVATE ${TANGERE_WARNINGS})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:include>)
  list(TRANSFORM ARG_DEPENDS PREPEND tangere_)
  target_link_libraries(${target} ${scope} ${ARG_DEPENDS} tangere_flags)
  if(ARG_LINK)
    target_link_libraries(${target} ${scope} ${ARG_LINK})
  endif()
endfunction()

# tangere_add_tests(<module> <name...>): tests/<module>/test_<name>.cpp, one executable each, so
# that a test links only what it tests.
function(tangere_add_tests module)
  foreach(name IN LISTS ARGN)
    set(target test_${module}_${name})
    add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/${module}/test_${name}.cpp)
    target_compile_options(${target} PRIVATE ${TANGERE_WARNINGS} ${TANGERE_LESS_OPTIMIZED})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE
      TANGERE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
    target_link_libraries(${target} PRIVATE tangere_${module} GTest::gtest_main)
    add_test(NAME ${module}.${name} COMMAND ${target})
    list(APPEND targets ${target})
  endforeach()
  if(NOT TARGET tests_${module})
    add_custom_target(tests_${module})
  endif()
  add_dependencies(tests_${module} ${targets})
endfunction()
