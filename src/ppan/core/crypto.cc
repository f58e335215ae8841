#include "ppan/core/crypto.h"

#include <openssl/crypto.h>

#include <new>

namespace ppan {

void start_crypto() {
  if (OPENSSL_init_crypto(0, nullptr) != 1 || OSSL_LIB_CTX_get0_global_default() == nullptr)
    throw std::bad_alloc();
}

}  // namespace ppan
