#pragma once

// Keeps finished pieces in a directory while a curve is made. Any number of processes can share it.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ppan/engine/domain.h"

namespace ppan {

/// The bytes of a piece with a header that identifies its run and a checksum.
std::string seal_piece(std::string_view name, std::string_view fingerprint, std::string_view bytes);
/// Throws Error(kUsage) for a piece of another run (different job, data or version) and Error(kBadInput) for
/// a damaged piece or one of another name; `where` is for messages.
std::string open_piece(std::string_view sealed, std::string_view name, std::string_view fingerprint,
                       const std::string& where);

/// The pieces of one run in a directory, one file each. Files are written atomically, so a killed process
/// never leaves a partial one. Several processes may use the directory at the same time, also from several
/// machines; all of them store the same bytes under the same name.
class Store {
 public:
  /// Creates the directory. `fingerprint` is that of the domain.
  Store(std::filesystem::path directory, std::string fingerprint);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Nothing if the piece is not stored. Throws as open_piece() does.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  /// Throws Error(kUsage) if another process has finished the run and removed the pieces.
  void put(const std::string& name, std::string_view bytes);
  [[nodiscard]] Checkpoint checkpoint(const std::string& name);
  void remove_checkpoint(const std::string& name);

  /// A lock held while making a piece, released by the destructor or when the process ends. It only avoids
  /// duplicate work: on file systems without locks every process gets it.
  class Claim {
   public:
    explicit Claim(int file) : file_(file) {}
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    int file_;
  };
  /// Null while another process is making this piece. Throws as put() does.
  [[nodiscard]] std::unique_ptr<Claim> claim(const std::string& name);

  /// Whether another process has finished the run and removed the pieces.
  [[nodiscard]] bool removed() const;
  /// Removes all pieces and the directory.
  void remove();

  /// Whether a directory holds pieces of any run.
  static bool holds_pieces(const std::filesystem::path& directory);
  /// Removes the pieces of any run.
  static void remove(const std::filesystem::path& directory);

 private:
  void require_there() const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;

  std::filesystem::path directory_;
  std::string fingerprint_;
  int descriptor_ = -1;  // of the directory: to detect its removal
};

}  // namespace ppan
