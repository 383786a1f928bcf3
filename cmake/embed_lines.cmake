# cmake -DIN=file -DOUT=file.c -DHEADER=header.h -DNAME=name -P embed_lines.cmake: the lines of a text file as strings.
file(READ ${IN} text)
string(REGEX REPLACE "\n$" "" text "${text}")
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\",\n    \"" text "${text}")
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst char *const ${NAME}[] = {\n    \"${text}\\n\",\n    NULL,\n};\n")
