# A layer is one static library a folder. It sees the headers of the layers it links and no others: each layer exports
# an include root that holds a link to its own folder alone, so a forbidden include does not compile.
#   gasell_layer(runtime USES compiler LIBRARIES TBB::tbb SOURCES a.cpp b.cpp)
function(gasell_layer name)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES;PRIVATE_LIBRARIES;SOURCES" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  if(NOT ARG_SOURCES) # a layer whose first file is still to come
    file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
    set(ARG_SOURCES ${CMAKE_BINARY_DIR}/empty.cpp)
  endif()
  add_library(gasell_${name} STATIC ${ARG_SOURCES})
  target_include_directories(gasell_${name} PUBLIC ${root})
  foreach(layer ${ARG_USES})
    target_link_libraries(gasell_${name} PUBLIC gasell_${layer})
  endforeach()
  target_link_libraries(gasell_${name} PUBLIC ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE_LIBRARIES})
  gasell_options(gasell_${name})
endfunction()

# Warnings and sanitizers, the same for every target of ours.
function(gasell_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict) # optimised, "text" + std::string looks like an overlapping copy to g++ 12
  endif()
  if(GASELL_SANITIZE)
    # g++ 12 sees uninitialised values in instrumented library code where there are none.
    target_compile_options(${target} PRIVATE -fsanitize=${GASELL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC -fsanitize=${GASELL_SANITIZE})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp)
    endif()
  endif()
endfunction()

# What most files of a large target include anyway is parsed once: the standard library's headers, fmt, and what else the target names. That is for a first build, of which ccache
# has nothing: it takes next to no file that uses a precompiled header. A file with options of its own cannot use it (SKIP_PRECOMPILE_HEADERS).
option(GASELL_PRECOMPILED_HEADERS "Parse common headers once for a target" OFF)
function(gasell_precompile target)
  if(NOT GASELL_PRECOMPILED_HEADERS)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdlib> <cstring> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> ${ARGN})
endfunction()
