# Everything that roofcal links. The packages that hold it, by system, are in scripts/packages.txt; keep both in step.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)                         # zlib1g-dev
find_package(SQLite3 REQUIRED)                      # libsqlite3-dev
find_package(OpenSSL REQUIRED COMPONENTS Crypto)    # libssl-dev
find_package(Eigen3 3.3 REQUIRED NO_MODULE)         # libeigen3-dev
find_package(nlohmann_json 3.10 REQUIRED)           # nlohmann-json3-dev
find_package(CLI11 REQUIRED)                        # libcli11-dev
find_package(fmt REQUIRED)                          # libfmt-dev
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)  # libxgboost-dev
find_library(XGBOOST_LIBRARY xgboost REQUIRED)
find_path(LBFGS_INCLUDE_DIR lbfgs.h REQUIRED)       # liblbfgs-dev
find_library(LBFGS_LIBRARY lbfgs REQUIRED)

add_library(roofcal_xgboost INTERFACE)
target_include_directories(roofcal_xgboost SYSTEM INTERFACE "${XGBOOST_INCLUDE_DIR}")
target_link_libraries(roofcal_xgboost INTERFACE "${XGBOOST_LIBRARY}")
add_library(roofcal_lbfgs INTERFACE)
target_include_directories(roofcal_lbfgs SYSTEM INTERFACE "${LBFGS_INCLUDE_DIR}")
target_link_libraries(roofcal_lbfgs INTERFACE "${LBFGS_LIBRARY}")

if(ROOFCAL_BUILD_TESTS)
  find_package(GTest REQUIRED)                      # libgtest-dev, libgmock-dev
  include(GoogleTest)
  find_package(rapidcheck REQUIRED)                 # librapidcheck-dev
endif()
if(ROOFCAL_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)                  # libbenchmark-dev
endif()
