# What the libraries link, from the distribution's packages (script/bootstrap installs them). Installed beside
# ppan-config.cmake and read by it, so that those who link the library find the same things.
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
# Databases are built in when they are found (src/ppan/open).
find_package(SQLite3 QUIET)
find_package(PostgreSQL QUIET)
