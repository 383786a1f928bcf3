# Writes OUT with the version, the commit and how the program was built; only when that changed.
# ROOFSTEP_KERNELS is a hash of all that decides how fast products and copies are: measured limits hold as long as it
# stays, whatever else a commit changes, and in a tree without git too.
execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown")
endif()
string(STRIP "${FLAGS}" flags)
file(GLOB_RECURSE sources LIST_DIRECTORIES false ${SOURCE}/src/ops/* ${SOURCE}/src/backend/* ${SOURCE}/src/bench/limits/*
  ${SOURCE}/src/base/float16.h)
list(APPEND sources ${SOURCE}/CMakeLists.txt)
set(kernels "${COMPILER} ${flags}")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND kernels " ${hash}")
endforeach()
string(SHA256 kernels "${kernels}")
string(SUBSTRING ${kernels} 0 12 kernels)
set(text "#define ROOFSTEP_VERSION \"${VERSION}\"\n#define ROOFSTEP_COMMIT \"${commit}\"\n#define ROOFSTEP_KERNELS \"${kernels}\"\n#define ROOFSTEP_COMPILER \"${COMPILER}\"\n#define ROOFSTEP_FLAGS \"${flags}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()
