# Installs what was built, and has a foreign project find it, build on it, and put its job on trial.
# Wants BUILD, SOURCE, WORK, COMPILER and FLAGS.

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${output}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "`${text}` is expected in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/shop -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK}/shop)

run(${WORK}/shop/shop jobs)
expect("sales")
run(${WORK}/shop/shop test sales --seeds 20)
expect("held 20")
file(WRITE ${WORK}/sales.txt "1700000000000 250\n1700000000010 50\n1700000001000 3\n")
run(${WORK}/shop/shop run sales)
expect("3 records read, all rows visible in table totals in sales.db")
run(${WORK}/prefix/bin/millrace landmarks)
expect("sink_staged")
