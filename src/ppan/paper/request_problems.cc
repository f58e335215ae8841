#include "ppan/paper/request_problems.h"

namespace ppan {

void RequestProblems::read(const std::string& option, const std::function<void()>& reader) {
  try {
    reader();
  } catch (const Error& error) {
    files_.emplace_back(option, error);
  }
}

void RequestProblems::require_none(std::string_view subject) {
  Problems others = take();
  if (others.empty() && files_.empty()) return;
  if (others.empty() && files_.size() == 1) throw Error(files_.front().second);
  const ErrorCode code = others.empty() ? files_.front().second.code() : ErrorCode::kUsage;
  for (const auto& [option, error] : files_) {
    std::string text = error.what();
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      text.insert(at + 1, "  ");  // below its option
    others.push_back({option, text});
  }
  ppan::require_none(others, subject, code);
}

}  // namespace ppan
