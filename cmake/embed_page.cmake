# cmake -DPAGE=folder -DCHARTS=node_modules -DOUT=file.c -P embed_page.cmake: page.html with its {{file}} marks
# replaced by those files, as the C string page_template. {{data}} stays: the program puts it in.
file(READ ${PAGE}/page.html html)

# What is fetched: each file once, and the licences of all that is in it.
foreach(mark uplot/dist/uPlot.min.css uplot/dist/uPlot.iife.min.js d3/dist/d3.min.js @observablehq/plot/dist/plot.umd.min.js)
  file(READ ${CHARTS}/${mark} text)
  string(REPLACE "{{${mark}}}" "${text}" html "${html}")
endforeach()
set(licences "")
foreach(package uplot d3 d3-ease @observablehq/plot interval-tree-1d binary-search-bounds isoformat)
  file(READ ${CHARTS}/${package}/LICENSE text)
  string(APPEND licences "${package}:\n${text}\n")
endforeach()
string(REPLACE "{{licences}}" "${licences}" html "${html}")

# Our own, in the order of their marks.
string(REGEX MATCHALL "{{[a-z_]+[.][a-z]+}}" marks "${html}")
foreach(mark ${marks})
  string(REGEX REPLACE "[{}]" "" name "${mark}")
  file(READ ${PAGE}/${name} text)
  string(REPLACE "${mark}" "${text}" html "${html}")
endforeach()
string(REGEX MATCHALL "{{[a-zA-Z_./@-]+}}" left "${html}")
if(NOT left STREQUAL "{{data}}")
  message(FATAL_ERROR "page.html: unknown or missing marks: ${left}")
endif()

# As bytes: no character of the page means anything to C.
file(WRITE ${OUT}.html "${html}")
file(READ ${OUT}.html bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"report/page/page_template.h\"\n\nstatic const unsigned char bytes[] = {\n${bytes}0};\n
const char *const page_template = (const char *)bytes;\n")
