# The HTML report: src/report/page/ and uPlot become one string in the program. tools/build.sh fetches uPlot
# with npm; without it the HTML report alone is left out.
set(ROOFSTEP_UPLOT "${PROJECT_SOURCE_DIR}/build/charts/node_modules/uplot" CACHE PATH "npm's uplot, for the HTML report")

if(EXISTS ${ROOFSTEP_UPLOT}/dist/uPlot.iife.min.js)
  set(page ${PROJECT_SOURCE_DIR}/src/report/page)
  set(template ${CMAKE_BINARY_DIR}/generated/page_template.c)
  add_custom_command(OUTPUT ${template}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${page} -DUPLOT=${ROOFSTEP_UPLOT} -DOUT=${template}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${page}/page.html ${page}/page.css ${page}/page.js ${page}/charts.js ${page}/beside.js ${page}/tables.js ${page}/ranks.js ${page}/curves.js
      ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake ${ROOFSTEP_UPLOT}/dist/uPlot.iife.min.js
    VERBATIM)
  target_sources(roofstep_core PRIVATE ${template})
else()
  message(STATUS "no uPlot in ${ROOFSTEP_UPLOT}: the HTML report is left out")
  target_sources(roofstep_core PRIVATE src/report/page/page_template_none.c)
endif()
