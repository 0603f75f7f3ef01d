# What a user of the library does, step by step.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_output program expected)
  run(${WORK}/build/${program})
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${program} printed\n${output}\ninstead of\n${expected}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
expect_output(smooth "mean 2, last sample 2
int32[4]: 30 20 20 20
ValueError in measure.gsl, line 1, column 1
interrupted
and the session lives: 0.50
")
expect_output(sum "18\n")

# The page's program and its CMake lines, as they are written there.
file(READ ${PAGE} page)
string(REGEX MATCH "```cmake\n([^`]*)```" found "${page}")
file(WRITE ${WORK}/page/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(page CXX)\nadd_executable(my_program page.cpp)\n${CMAKE_MATCH_1}")
string(REGEX MATCH "```cpp\n(#include[^\n]*)\n([^`]*)```" found "${page}")
file(WRITE ${WORK}/page/page.cpp
     "${CMAKE_MATCH_1}\n#include <cstdio>\n#include <vector>\nstatic std::vector<double> measure() { return {1, 7, 5}; }\nint main() {\n${CMAKE_MATCH_2}"
     "std::printf(\"%.1f, %zu: %.1f %.1f\\n\", rms, view.elements.size(), view.elements[0], view.elements[1]);\n}\n")
run(${CMAKE_COMMAND} -S ${WORK}/page -B ${WORK}/build/page -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build/page)
expect_output(page/my_program "5.0, 2: 4.0 6.0\n")

# Nothing but the C ABI is exported.
file(GLOB library ${WORK}/prefix/lib*/libgasell.so ${WORK}/prefix/lib*/*/libgasell.so)
run(nm -D --defined-only --extern-only ${library})
string(REGEX REPLACE "[^\n]* gasell_[a-z_0-9]*\n" "" rest "${output}")
if(rest MATCHES "[^ \n]")
  message(FATAL_ERROR "libgasell.so exports more than its C ABI:\n${rest}")
endif()
