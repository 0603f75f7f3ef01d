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
expect_output(host_functions "a number: 1.20
an array: [0.2 0.7 3.2]
compiled code: 2200.0, directly: yes
the program's object: asked 1004 times
in place: [2.5 2.5 2.5]
caught: a strike must be positive
TypeError in trade.gsl, line 1: price() takes 2 positional arguments but 1 was given
")
expect_output(eight_threads "thread 0: 82005412500 2450
thread 1: 84502912500 2551
thread 2: 87050362500 2552
thread 3: 89647762500 2653
thread 4: 92295112500 2654
thread 5: 94992412500 2755
thread 6: 97739662500 2756
thread 7: 100536862500 2857
a second thread in a session is refused
")
expect_output(image_filter "blur     0.00  0.00  0.33  0.67  1.00  1.00
edges    0.00  0.00  1.00  0.00  0.00  0.00
the filter stays as it was: TypingError: a read-only 2-d float32 array has no attribute 'brightness' in compiled functions
edges    0.00  0.00  1.00  0.00  0.00  0.00
")
expect_output(formula_server "round(prices.mean(), 2)
  11.5
f'{np.diff(prices).max():.1f}'
  2.0
round(discounted(100, 2), 2)
  90.91
prices[0] = 0
  ValueError in column 1: assignment destination is read-only
price.mean()
  NameError in column 1: name 'price' is not defined
open('/etc/passwd').read()
  PermissionError in column 1: [Errno 13] Permission denied: '/etc/passwd'
while True: pass
  limit: TimeoutError
np.sort(np.ones(10 ** 8))[0]
  limit: MemoryError
")
expect_output(simulation "energy 2.467
half a period later the middle is at -1.00, energy 2.467
with wind for the other half at 2.25
")
expect_output(arrow_tables "city Oslo: 4.0
city Rome: 20.0
")

# README's program, built with what pkg-config says.
find_program(pkg_config pkg-config REQUIRED)
file(GLOB description ${WORK}/prefix/lib*/pkgconfig/gasell.pc ${WORK}/prefix/lib*/*/pkgconfig/gasell.pc)
cmake_path(GET description PARENT_PATH description)
set(ENV{PKG_CONFIG_PATH} ${description})
run(${pkg_config} --cflags --libs gasell)
separate_arguments(flags UNIX_COMMAND "${output}")
file(READ ${README} readme)
string(REGEX MATCH "```cpp\n([^`]*)```" found "${readme}")
file(WRITE ${WORK}/hello.cpp "${CMAKE_MATCH_1}")
run(${COMPILER} -std=c++20 ${WORK}/hello.cpp ${flags} -o ${WORK}/build/hello)
expect_output(hello "norm 5\n")

# Older C++ is told what it needs.
execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only ${WORK}/hello.cpp ${flags} RESULT_VARIABLE status ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "gasell/gasell.hpp needs C\\+\\+20")
  message(FATAL_ERROR "C++17 got\n${output}")
endif()

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

# Nothing but the C ABI is exported: the functions of this list, which older programs have, and new ones.
file(GLOB library ${WORK}/prefix/lib*/libgasell.so ${WORK}/prefix/lib*/*/libgasell.so)
run(nm -D --defined-only --extern-only ${library})
file(READ ${WORK}/prefix/include/gasell/gasell.h header)
string(REGEX MATCHALL "[^\n]+" symbols "${output}")
set(rest "")
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES " A GASELL_[0-9](@@GASELL_[0-9])?$")
    continue()
  elseif(symbol MATCHES " T (gasell_[a-z_0-9]+)@@GASELL_[0-9]$")
    string(FIND "${header}" "${CMAKE_MATCH_1}(" declared)
    if(declared GREATER -1)
      continue()
    endif()
  endif()
  string(APPEND rest "${symbol}\n")
endforeach()
foreach(function IN ITEMS version dtype_name dtype_size error_describe error_free engine_create engine_free engine_interrupt session_create session_create_with
                          session_free session_set_seconds session_interrupt session_set_cancelled session_set_output session_set_input evaluate get_global bind_array
                          bind_view bind_handle bind_boolean bind_integer bind_float bind_string bind_value bind_arrow bind_arrow_stream bind_dlpack value_kind
                          value_boolean value_integer value_float value_complex value_text value_length value_item value_describe value_array value_view value_handle
                          value_arrow_stream value_dlpack value_free get_function compile function_call function_is_direct function_free define bind_json value_json value_lookup bind_time value_time)
  if(NOT output MATCHES " gasell_${function}@@GASELL_[0-9]\n")
    message(FATAL_ERROR "libgasell.so does not export gasell_${function} with a version")
  endif()
endforeach()
if(rest MATCHES "[^ \n]")
  message(FATAL_ERROR "libgasell.so exports more than its C ABI:\n${rest}")
endif()
