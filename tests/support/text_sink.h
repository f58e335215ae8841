#pragma once

#include <string>
#include <string_view>

#include "ppan/source/csv_writer.h"

namespace ppan {

/// Keeps the bytes that are written to it.
class TextSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text.append(bytes); }
  void finish() override { finished = true; }
  std::string text;
  bool finished = false;
};

}  // namespace ppan
