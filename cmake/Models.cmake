# The configuration files of models/ become strings in the program: --model NAME needs no file.
file(GLOB model_files CONFIGURE_DEPENDS models/*.json)
set(models ${CMAKE_BINARY_DIR}/generated/models.c)
add_custom_command(OUTPUT ${models}
  COMMAND ${CMAKE_COMMAND} -DMODELS=${PROJECT_SOURCE_DIR}/models -DOUT=${models} -P ${PROJECT_SOURCE_DIR}/cmake/embed_models.cmake
  DEPENDS ${model_files} ${PROJECT_SOURCE_DIR}/cmake/embed_models.cmake
  VERBATIM)
target_sources(roofstep_core PRIVATE ${models})
