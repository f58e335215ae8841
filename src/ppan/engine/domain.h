#pragma once

// A curve as pieces of work: trainings, attacks, references. What a piece gives is bytes that depend on
// nothing but the data, the options and the pieces that it needs, so pieces can be made in any order, by any
// number of threads and processes, once or several times, with the same result. A kind of data (tables,
// images, known worlds) is a Domain; who makes which piece when, what is kept and what is taken up again is
// the engine's business (engine.h).

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
  std::vector<std::string> needs{};  ///< Pieces that must be finished before.
};

/// What is between the beginning and the end of a piece, so that one that takes long need not begin again.
struct Checkpoint {
  std::function<std::optional<std::string>()> load{};  ///< What was saved last. Both may be empty.
  std::function<void(const std::string&)> save{};
};

class Domain {
 public:
  virtual ~Domain() = default;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Everything that decides what the pieces are, as text or as a hash of it: options, data, version.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  /// All of them, each after those that it needs, in the order in which they are best begun.
  [[nodiscard]] virtual std::vector<Piece> pieces() const = 0;
  /// Points of the curve, numbered from 1.
  [[nodiscard]] virtual int planned() const = 0;
  /// What must be there before any point can be made.
  [[nodiscard]] virtual std::vector<std::string> start_pieces() const = 0;
  /// A point: its training, the attack on it, what is compared at its distortion.
  [[nodiscard]] virtual std::vector<std::string> point_pieces(int number) const = 0;
  /// References that need no point.
  [[nodiscard]] virtual std::vector<std::string> reference_pieces() const { return {}; }
  /// Makes one from those that it needs; nothing if the user asked to stop. Called from several threads at
  /// once, for different pieces.
  [[nodiscard]] virtual std::optional<std::string> make(const std::string& name, const Pieces& needed,
                                                        const Checkpoint& checkpoint) = 0;
  /// A piece is there, made now (or taken from a store). One call at a time.
  virtual void finished(const std::string& /*name*/, const std::string& /*bytes*/, bool /*made*/) {}

 protected:
  Domain() = default;
};

}  // namespace ppan
