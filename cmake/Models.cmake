# The configuration files of models/ become strings in the program: --model NAME needs no file.
file(GLOB model_files CONFIGURE_DEPENDS models/*.json)
set(models ${CMAKE_BINARY_DIR}/generated/models.c)
add_custom_command(OUTPUT ${models}
  COMMAND ${CMAKE_COMMAND} -DMODELS=${PROJECT_SOURCE_DIR}/models -DOUT=${models} -P ${PROJECT_SOURCE_DIR}/cmake/embed_models.cmake
  DEPENDS ${model_files} ${PROJECT_SOURCE_DIR}/cmake/embed_models.cmake
  VERBATIM)
target_sources(roofstep_core PRIVATE ${models})

# What forecasts go by without --efficiency.
set(efficiency ${CMAKE_BINARY_DIR}/generated/efficiency_bundled.c)
add_custom_command(OUTPUT ${efficiency}
  COMMAND ${CMAKE_COMMAND} -DIN=${PROJECT_SOURCE_DIR}/efficiency/h200.json -DOUT=${efficiency} -DHEADER=bench/forecast/efficiency_json.h
          -DNAME=efficiency_bundled -P ${PROJECT_SOURCE_DIR}/cmake/embed_lines.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/efficiency/h200.json ${PROJECT_SOURCE_DIR}/cmake/embed_lines.cmake
  VERBATIM)
target_sources(roofstep_core PRIVATE ${efficiency})
