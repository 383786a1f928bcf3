# roofstep_mpi.so: the one file with MPI's calls, loaded when several ranks are asked for. Without MPI everything else is
# built. It is not linked with MPI, which the program loads before it (src/comm/comm_library.c): a package of the program
# needs no MPI to be installed.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS C)
set(mpi_names "\"\"")
if(MPI_C_FOUND)
  add_library(roofstep_mpi MODULE src/comm/mpi_engine.c)
  target_include_directories(roofstep_mpi PRIVATE src)
  target_include_directories(roofstep_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  target_compile_definitions(roofstep_mpi PRIVATE ${MPI_C_COMPILE_DEFINITIONS})
  target_compile_options(roofstep_mpi PRIVATE ${warnings} $<$<BOOL:${ROOFSTEP_WERROR}>:-Werror>)
  set_target_properties(roofstep_mpi PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:roofstep>)
  add_dependencies(roofstep roofstep_mpi) # ./roofstep builds the program alone
  # By the name that other machines have it by, libmpi.so.40, or where it is here.
  list(FILTER MPI_C_LIBRARIES INCLUDE REGEX "/libmpi")
  list(GET MPI_C_LIBRARIES 0 mpi_library)
  get_filename_component(mpi_file ${mpi_library} REALPATH)
  string(REGEX MATCH "libmpi[a-z]*\\.so\\.[0-9]+" mpi_soname ${mpi_file})
  set(mpi_names "\"${mpi_soname}\", \"${mpi_file}\"")
  message(STATUS "MPI: ${mpi_soname}, ${mpi_file}")
else()
  message(STATUS "MPI was not found: several ranks will be unsupported (Debian: libopenmpi-dev openmpi-bin)")
endif()
# Where an installed program finds roofstep_mpi.so, from its folder.
set_source_files_properties(src/comm/comm_library.c PROPERTIES COMPILE_DEFINITIONS
  "ROOFSTEP_LIBRARIES=\"lib/roofstep\";ROOFSTEP_MPI_NAMES=${mpi_names}")
