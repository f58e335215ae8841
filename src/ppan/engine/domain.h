#pragma once

// A curve as pieces of work: trainings, attacks, references. The result of a piece is a byte string that
// depends only on the data, the options and the pieces it needs. Pieces can therefore be made in any order,
// by any number of threads and processes, once or several times, with the same result. Each kind of data
// (tables, images, known worlds) is a Domain. The engine (engine.h) schedules the pieces, stores them and
// resumes interrupted runs.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ppan {

/// Finished pieces, by name.
using Pieces = std::map<std::string, std::string>;

struct Piece {
  std::string name{};                ///< Letters, digits and '-': also the name of a file.
  std::vector<std::string> needs{};  ///< Pieces that must be finished first.
};

/// Saved state of an unfinished piece, so that a long one need not start again from the beginning.
struct Checkpoint {
  std::function<std::optional<std::string>()> load{};  ///< The last saved state. Both may be empty.
  std::function<void(const std::string&)> save{};
};

class Domain {
 public:
  virtual ~Domain() = default;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Everything that determines the pieces (options, data, version), as text or as a hash.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  /// All pieces, each after those it needs, in the order in which they should be started.
  [[nodiscard]] virtual std::vector<Piece> pieces() const = 0;
  /// Points of the curve, numbered from 1.
  [[nodiscard]] virtual int planned() const = 0;
  /// Pieces that every point needs.
  [[nodiscard]] virtual std::vector<std::string> start_pieces() const = 0;
  /// The pieces of a point: its training, the attack on it, references at its distortion.
  [[nodiscard]] virtual std::vector<std::string> point_pieces(int number) const = 0;
  /// References that do not depend on a point.
  [[nodiscard]] virtual std::vector<std::string> reference_pieces() const { return {}; }
  /// Makes a piece from those it needs; nothing if the user asked to stop. Called concurrently for different
  /// pieces.
  [[nodiscard]] virtual std::optional<std::string> make(const std::string& name, const Pieces& needed,
                                                        const Checkpoint& checkpoint) = 0;
  /// Called when a piece is finished (`made`) or was read from a store. Never called concurrently.
  virtual void finished(const std::string& /*name*/, const std::string& /*bytes*/, bool /*made*/) {}

 protected:
  Domain() = default;
};

}  // namespace ppan
