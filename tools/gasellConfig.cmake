# find_package(gasell) → gasell::gasell, the embedding library with its C and C++20 headers.
include(${CMAKE_CURRENT_LIST_DIR}/gasellTargets.cmake)
