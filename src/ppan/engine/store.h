#pragma once

// Where finished pieces are kept while a curve is made: in a directory that any number of processes share, or
// nowhere.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ppan/engine/domain.h"

namespace ppan {

/// A piece as bytes that tell what they belong to and whether they are whole.
std::string seal_piece(std::string_view name, std::string_view fingerprint, std::string_view bytes);
/// Throws Error(kUsage) for a piece of another run (other job, data or version) and Error(kBadInput) for one
/// that is damaged or another one; `where` is for messages.
std::string open_piece(std::string_view sealed, std::string_view name, std::string_view fingerprint,
                       const std::string& where);

/// Pieces of one run in a directory. Each is a file that appears at once and whole, or not at all, whenever a
/// process is killed. Several processes may use it at the same time, on machines that share the directory;
/// all that they put in under one name is the same.
class Store {
 public:
  /// The directory is made. `fingerprint` is that of the domain.
  Store(std::filesystem::path directory, std::string fingerprint);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Nothing if it is not there. Throws as open_piece() does.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  /// Throws Error(kUsage) if another process has finished the run and removed the pieces.
  void put(const std::string& name, std::string_view bytes);
  [[nodiscard]] Checkpoint checkpoint(const std::string& name);
  void remove_checkpoint(const std::string& name);

  /// Held by who makes a piece; ends with it, or with the process. It saves work and no more: where a file
  /// system knows no locks everybody gets it.
  class Claim {
   public:
    explicit Claim(int file) : file_(file) {}
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    int file_;
  };
  /// Null while another process makes this piece. Throws as put() does.
  [[nodiscard]] std::unique_ptr<Claim> claim(const std::string& name);

  /// Whether another process has removed the pieces since: the run is finished.
  [[nodiscard]] bool gone() const;
  /// Removes them all, and the directory.
  void remove();

  /// Whether a directory holds pieces, of whatever run.
  static bool holds_pieces(const std::filesystem::path& directory);
  /// Removes pieces of whatever run.
  static void remove(const std::filesystem::path& directory);

 private:
  void require_there() const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;

  std::filesystem::path directory_;
  std::string fingerprint_;
  int descriptor_ = -1;  // of the directory: tells whether it is still there
};

}  // namespace ppan
