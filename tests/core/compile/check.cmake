# cmake -DCOMPILER=... -DROOT=... -DSNIPPET=FILE -DWRONG=ON|OFF -P check.cmake: compiles a snippet, expecting an error of
# its types with WRONG and none without.
set(ENV{LC_ALL} C)
set(define "")
if(WRONG)
  set(define -DWRONG)
endif()
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I ${ROOT} ${define} ${SNIPPET}
  RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT WRONG)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SNIPPET} must compile:\n${errors}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "${SNIPPET} must not compile with -DWRONG")
elseif(NOT errors MATCHES "error: (no match for|invalid operands|cannot convert|could not convert|no viable|no matching|conversion from|invalid operator)")
  message(FATAL_ERROR "${SNIPPET} fails with -DWRONG, but not for its types:\n${errors}")
endif()
