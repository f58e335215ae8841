# The libraries that ppan links, from the distribution's packages (script/bootstrap installs them). This file is installed beside
# ppan-config.cmake and included by it, so that projects that link ppan find the same libraries.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
set(BLA_VENDOR OpenBLAS)
find_package(BLAS REQUIRED)
unset(BLA_VENDOR)
# Optional: database backends are built if found (src/ppan/open).
find_package(SQLite3 QUIET)
find_package(PostgreSQL QUIET)
