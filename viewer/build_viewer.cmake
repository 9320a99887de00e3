# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSOURCE=viewer -DBINARY=folder [-DNPM=npm] -P build_viewer.cmake
#
# Makes BINARY/viewer.html and BINARY/viewer_page.hpp. Without npm or its registry the program is
# built all the same: its pages then say what is missing.
file(MAKE_DIRECTORY ${BINARY})
# What is no longer there must not be built or run.
file(REMOVE_RECURSE ${BINARY}/src ${BINARY}/tests ${BINARY}/testing ${BINARY}/bench)
file(COPY ${SOURCE}/src ${SOURCE}/tests ${SOURCE}/testing ${SOURCE}/bench ${SOURCE}/build.mjs ${SOURCE}/package.json
  ${SOURCE}/package-lock.json ${SOURCE}/tsconfig.json ${SOURCE}/.npmrc DESTINATION ${BINARY})

set(reason "npm was not found when it was built")
if(NPM)
  set(result 0)
  file(SHA256 ${SOURCE}/package-lock.json packages)
  if(NOT EXISTS ${BINARY}/node_modules/.${packages})
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund
      WORKING_DIRECTORY ${BINARY} RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
    if(result EQUAL 0)
      file(TOUCH ${BINARY}/node_modules/.${packages})
    endif()
  endif()
  if(result EQUAL 0)
    execute_process(COMMAND node build.mjs viewer.html viewer_page.hpp
      WORKING_DIRECTORY ${BINARY} RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
  endif()
  if(result EQUAL 0)
    return()
  endif()
  set(reason "its packages could not be fetched when it was built")
  message(WARNING "the viewer was not built:\n${log}")
endif()

set(page "<!doctype html><meta charset=\"utf-8\"><title>Tangere</title>
<script>const TANGERE_DATA = /*TANGERE_DATA*/null;</script>
<p>This program has no viewer: ${reason}. Install npm and build again.</p>
")
file(WRITE ${BINARY}/viewer.html "${page}")
file(WRITE ${BINARY}/viewer_page.hpp "#pragma once
namespace tangere::cli {
inline constexpr bool kHasViewer = false;
inline constexpr char kViewerPage[] = R\"~page~(${page})~page~\";
}  // namespace tangere::cli
")
