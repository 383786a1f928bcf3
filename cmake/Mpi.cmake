# roofstep_mpi.so: the one file that is linked with MPI, loaded when several ranks are asked for. Without MPI everything
# else is built.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND)
  add_library(roofstep_mpi MODULE src/comm/mpi_engine.c)
  target_include_directories(roofstep_mpi PRIVATE src)
  target_include_directories(roofstep_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  target_link_libraries(roofstep_mpi PRIVATE MPI::MPI_C)
  target_compile_options(roofstep_mpi PRIVATE ${warnings} $<$<BOOL:${ROOFSTEP_WERROR}>:-Werror>)
  set_target_properties(roofstep_mpi PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:roofstep>)
  add_dependencies(roofstep roofstep_mpi) # ./roofstep builds the program alone
  message(STATUS "MPI: ${MPI_C_LIBRARIES}")
else()
  message(STATUS "MPI was not found: several ranks will be unsupported (Debian: libopenmpi-dev openmpi-bin)")
endif()
