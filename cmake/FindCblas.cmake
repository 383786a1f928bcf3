# Sets CBLAS_NAME (blis or openblas), CBLAS_INCLUDE and CBLAS_LIBRARY.
# BLIS is the faster one on Arm (docs/measuring.md), OpenBLAS on x86-64. The OpenMP builds are
# preferred: those with threads of their own start them with the program, and they spin at first.
if(ROOFSTEP_BLAS STREQUAL "auto")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(candidates blis openblas)
  else()
    set(candidates openblas blis)
  endif()
else()
  set(candidates ${ROOFSTEP_BLAS})
endif()

foreach(name ${candidates})
  find_library(CBLAS_${name}_LIBRARY NAMES ${name} PATH_SUFFIXES ${name}-openmp ${name}-pthread)
  find_path(CBLAS_${name}_INCLUDE NAMES cblas.h
    PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/${name}-openmp ${name}-openmp
      ${CMAKE_LIBRARY_ARCHITECTURE}/${name}-pthread ${name}-pthread ${name} ${CMAKE_LIBRARY_ARCHITECTURE})
  if(CBLAS_${name}_LIBRARY AND CBLAS_${name}_INCLUDE)
    set(CBLAS_NAME ${name})
    set(CBLAS_LIBRARY ${CBLAS_${name}_LIBRARY})
    set(CBLAS_INCLUDE ${CBLAS_${name}_INCLUDE})
    break()
  endif()
endforeach()
if(NOT CBLAS_NAME)
  message(FATAL_ERROR "No CBLAS found (looked for: ${candidates}). Debian: libblis-openmp-dev or libopenblas-openmp-dev.")
endif()
message(STATUS "CBLAS: ${CBLAS_NAME} (${CBLAS_LIBRARY}, ${CBLAS_INCLUDE})")
