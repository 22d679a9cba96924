# What all of roofcal's targets have in common: C++20, warnings, sanitizers.
add_library(roofcal_settings INTERFACE)
target_compile_features(roofcal_settings INTERFACE cxx_std_20)
target_include_directories(roofcal_settings INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(roofcal_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                  -ffp-contract=off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns of "..." + std::string at -O2 and above: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(roofcal_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(ROOFCAL_WERROR)
  target_compile_options(roofcal_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(ROOFCAL_SANITIZE)
  target_compile_options(roofcal_settings INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(roofcal_settings INTERFACE -fsanitize=address,undefined)
endif()

# roofcal_library(NAME source... DEPENDS target...)
function(roofcal_library name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC roofcal_settings ${arg_DEPENDS})
endfunction()

# roofcal_test(NAME source... DEPENDS target...): one GoogleTest executable, each of its tests known to ctest.
function(roofcal_test name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE roofcal_settings ${arg_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()
