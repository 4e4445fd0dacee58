# Writes OUT, a header that names this build: a hash of the sources that can influence a run, and of
# the versions of the libraries that take part in it. Not of the compiler, its flags, or the commit:
# those must not influence a run. Written only if it has changed.
file(GLOB_RECURSE SOURCES
  ${ROOT}/runtime/*.hpp ${ROOT}/runtime/*.cpp
  ${ROOT}/sim/*.hpp ${ROOT}/sim/*.cpp
  ${ROOT}/faults/*.hpp ${ROOT}/faults/*.cpp
  ${ROOT}/properties/include/*.hpp ${ROOT}/properties/src/*.hpp ${ROOT}/properties/src/*.cpp)
list(FILTER SOURCES EXCLUDE REGEX "/runtime/posix/")
list(SORT SOURCES)
set(ALL "${LIBRARIES}")
foreach(SOURCE IN LISTS SOURCES)
  file(SHA256 ${SOURCE} HASH)
  file(RELATIVE_PATH NAME ${ROOT} ${SOURCE})
  string(APPEND ALL "${NAME} ${HASH}\n")
endforeach()
string(SHA256 ID "${ALL}")
string(SUBSTRING ${ID} 0 16 ID)
set(TEXT "#pragma once\n\nnamespace millrace::tool {\n\ninline constexpr const char* version = \"${VERSION}\";\ninline constexpr const char* build_id = \"${ID}\";\n\n}  // namespace millrace::tool\n")
if(EXISTS ${OUT})
  file(READ ${OUT} OLD)
endif()
if(NOT "${OLD}" STREQUAL "${TEXT}")
  file(WRITE ${OUT} "${TEXT}")
endif()
