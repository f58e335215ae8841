#pragma once

namespace ppan {

/// What the release should preserve: its columns or pixels, the task, or both.
enum class Usefulness { kColumns, kTask, kBoth };

}  // namespace ppan
