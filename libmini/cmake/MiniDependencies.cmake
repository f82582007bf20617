# The libraries that libmini stands on, all of them packages of Debian 12 and Ubuntu 24.04.
# labs/lab setup installs them and says what each is for.

find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

