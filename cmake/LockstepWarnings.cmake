# The full warning set, as errors, for gcc and clang alike.
set(LOCKSTEP_WARNINGS
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wold-style-definition -Wundef -Wcast-qual -Wcast-align -Wwrite-strings
    -Wpointer-arith -Wvla -Wformat=2 -Wnull-dereference -Wdouble-promotion -Wswitch-enum
    -Wimplicit-fallthrough -Wunused -Wdate-time -Werror=incompatible-pointer-types)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND LOCKSTEP_WARNINGS -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wtrampolines)
endif()
