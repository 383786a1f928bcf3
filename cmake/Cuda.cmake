# The CUDA backend: CUDA 12 or 13 with cuBLASLt, and cuDNN where it is found.
find_package(CUDAToolkit 12 REQUIRED)
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()

# The chips of this machine; none where it has no GPU, or one this toolkit cannot compile for.
function(chips_here out known)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE here RESULT_VARIABLE failed ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" here "${here}")
  list(REMOVE_DUPLICATES here)
  set(chips "")
  foreach(chip IN LISTS here)
    string(REPLACE "." "" chip ${chip})
    if(NOT "sm_${chip}" IN_LIST known)
      message(WARNING "CUDA ${CUDAToolkit_VERSION} cannot compile for this machine's GPU, sm_${chip}")
      set(chips "")
      break()
    endif()
    list(APPEND chips ${chip}-real)
  endforeach()
  set(${out} ${chips} PARENT_SCOPE)
endfunction()

# Machine code for every common chip the toolkit knows (CUDA 12 from sm_60, CUDA 13 from sm_75) and PTX of
# the newest, for those to come. Chips between them run the code of the one before (sm_86 that of sm_80).
function(chips_all out known)
  set(chips "")
  foreach(chip 60 70 75 80 90 100 120)
    if("sm_${chip}" IN_LIST known)
      list(APPEND chips ${chip}-real)
    endif()
  endforeach()
  list(TRANSFORM chips REPLACE "-real" "" AT -1)
  set(${out} ${chips} PARENT_SCOPE)
endfunction()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known)
  string(REGEX MATCHALL "sm_[0-9]+" known "${known}")
  if(ROOFSTEP_CUDA_FOR STREQUAL "auto")
    chips_here(CMAKE_CUDA_ARCHITECTURES "${known}")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    chips_all(CMAKE_CUDA_ARCHITECTURES "${known}")
  endif()
endif()
message(STATUS "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
enable_language(CUDA)
# The library was declared before these were known.
set_target_properties(roofstep_core PROPERTIES CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}"
  CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)

find_path(CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDAToolkit_LIBRARY_DIR})
file(GLOB cuda CONFIGURE_DEPENDS src/*/*cuda*.c src/*/*cuda*.cu)
if(CUDNN_INCLUDE AND CUDNN_LIBRARY)
  file(GLOB cudnn CONFIGURE_DEPENDS src/*/*cudnn*.c)
  list(FILTER cudnn EXCLUDE REGEX "_none\\.c")
  target_include_directories(roofstep_core SYSTEM PRIVATE ${CUDNN_INCLUDE})
  target_link_libraries(roofstep_core PUBLIC ${CUDNN_LIBRARY})
  message(STATUS "cuDNN: ${CUDNN_LIBRARY}")
else()
  file(GLOB cudnn CONFIGURE_DEPENDS src/*/*cudnn_none.c)
  message(STATUS "cuDNN was not found: --attention cudnn will be unsupported")
endif()
target_sources(roofstep_core PRIVATE ${cuda} ${cudnn})
target_compile_definitions(roofstep_core PUBLIC ROOFSTEP_CUDA)
target_link_libraries(roofstep_core PUBLIC CUDA::cudart CUDA::cublasLt)
# nvcc's own warnings, ptxas's among them, and those of the compiler for the host's part.
target_compile_options(roofstep_core PRIVATE
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers>"
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ROOFSTEP_WERROR}>>:-Werror=all-warnings;-Xcompiler=-Werror>")
