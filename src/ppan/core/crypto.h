#pragma once

namespace ppan {

/// Before the first use of OpenSSL, which does not survive a failed allocation in its own beginning. Throws
/// std::bad_alloc.
void start_crypto();

}  // namespace ppan
