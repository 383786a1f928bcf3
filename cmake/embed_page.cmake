# cmake -DPAGE=folder -DUPLOT=folder -DOUT=file.c -P embed_page.cmake: page.html with its {{file}} marks
# replaced by those files, as the C string page_template. {{data}} stays: the program puts it in.
file(READ ${PAGE}/page.html html)
foreach(mark page.css charts.js beside.js tables.js ranks.js curves.js page.js)
  file(READ ${PAGE}/${mark} text)
  string(REPLACE "{{${mark}}}" "${text}" html "${html}")
endforeach()
foreach(mark LICENSE dist/uPlot.min.css dist/uPlot.iife.min.js)
  file(READ ${UPLOT}/${mark} text)
  string(REPLACE "{{${mark}}}" "${text}" html "${html}")
endforeach()
string(REGEX MATCHALL "{{[a-zA-Z./]+}}" left "${html}")
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
