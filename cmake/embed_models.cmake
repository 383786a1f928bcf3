# cmake -DMODELS=folder -DOUT=file.c -P embed_models.cmake: the configuration files of a folder as model_file_bundled,
# sorted by name.
file(GLOB files ${MODELS}/*.json)
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.json$" "" name ${name})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"config/model_file.h\"\n\nconst ModelFile model_file_bundled[] = {\n${rows}    {0},\n};\n")
