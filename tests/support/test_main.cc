// The main() of every test: BLAS as the command has it.

#include <gmock/gmock.h>

#include "ppan/nn/blas.h"

int main(int count, char** arguments) {
  const ppan::Runtime runtime;
  ::testing::InitGoogleMock(&count, arguments);
  return RUN_ALL_TESTS();
}
