# The HTML report: src/report/page/ and the packages that draw its charts become one string in the program.
# tools/build.sh fetches them with npm; without them the HTML report alone is left out.
set(ROOFSTEP_CHARTS "${PROJECT_SOURCE_DIR}/build/charts/node_modules" CACHE PATH "npm's uplot, d3 and @observablehq/plot, for the HTML report")

set(chart_scripts uplot/dist/uPlot.iife.min.js d3/dist/d3.min.js @observablehq/plot/dist/plot.umd.min.js)
set(charts_missing "")
foreach(script ${chart_scripts})
  if(NOT EXISTS ${ROOFSTEP_CHARTS}/${script})
    string(APPEND charts_missing " ${script}")
  endif()
endforeach()

if(NOT charts_missing)
  set(page ${PROJECT_SOURCE_DIR}/src/report/page)
  set(template ${CMAKE_BINARY_DIR}/generated/page_template.c)
  file(GLOB page_files CONFIGURE_DEPENDS ${page}/*.js ${page}/*.css ${page}/*.html)
  list(TRANSFORM chart_scripts PREPEND ${ROOFSTEP_CHARTS}/)
  add_custom_command(OUTPUT ${template}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${page} -DCHARTS=${ROOFSTEP_CHARTS} -DOUT=${template}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${page_files} ${chart_scripts} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    VERBATIM)
  target_sources(roofstep_core PRIVATE ${template})
else()
  message(STATUS "not in ${ROOFSTEP_CHARTS}:${charts_missing}: the HTML report is left out")
  target_sources(roofstep_core PRIVATE src/report/page/page_template_none.c)
endif()
