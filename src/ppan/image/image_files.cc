#include "ppan/image/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/model/image_model.h"
#include "ppan/model/model_file.h"
#include "ppan/read/idx.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBadTask = "the task of these images cannot be used";

bool ends_in(std::string text, std::string_view end) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 128 ? std::tolower(c) : c); });
  return text.ends_with(end);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const auto at = text.rfind(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

fs::path labels_of_idx(const fs::path& images) {
  std::string name = replaced(replaced(images.filename().string(), "idx3", "idx1"), "images", "labels");
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const std::string& candidate : {name, name + ".gz"}) {
    if (fs::exists(images.parent_path() / candidate)) return images.parent_path() / candidate;
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("the labels of {} are not next to it as {}", images.string(), name),
              "name them with --labels FILE");
}

fs::path labels_of_directory(const fs::path& directory) {
  std::vector<fs::path> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (ends_in(entry.path().string(), ".csv")) tables.push_back(entry.path());
  }
  if (tables.empty()) {
    fs::path beside = directory.has_filename() ? directory : directory.parent_path();
    beside += ".csv";
    if (fs::exists(beside)) tables.push_back(beside);
  }
  if (tables.size() == 1) return tables.front();
  throw Error(ErrorCode::kUsage,
              fmt::format("{} for the images of {}",
                          tables.empty() ? "there is no table of labels" : "there are several tables",
                          directory.string()),
              "name the table with --labels FILE: a column with the file names, a column with the labels");
}

// Which column names the files and which holds the label, from the first row of the table.
void find_columns(ImageFiles& files) {
  CsvReader reader = open_csv(files.labels);
  const std::vector<std::string>& names = reader.names();
  CsvChunk chunk;
  std::optional<std::size_t> file;
  if (reader.next(chunk)) {
    for (std::size_t j = 0; j < chunk.columns() && !file; ++j) {
      if (ends_in(std::string(chunk.cell(0, j)), ".png")) file = j;
    }
  }
  if (!file || names.size() < 2) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{}: no column names PNG files next to a column of labels", files.labels.string()),
        "give a table with a row for each image: its file name and its label");
  }
  const auto label = std::find(names.begin(), names.end(), LabelColumns{}.label);
  files.columns.file = names[*file];
  files.columns.label = label != names.end() ? *label : names[*file == 0 ? 1 : 0];
  files.sure = label != names.end() || names.size() == 2;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// How a job says what recipients want to predict, as a comment.
std::string task_lines(const ImageFiles& files) {
  std::string out =
      "# What recipients want to predict from a released image, if there is such a label: the mechanism\n"
      "# preserves what predicts it, and the curve shows what they lose.\n";
  std::error_code ignored;
  if (!fs::is_directory(files.images, ignored))
    return out + "# task_labels = \"FILE\"  # IDX, as many as there are images\n";
  std::vector<std::string> others = open_csv(files.labels).names();
  std::erase(others, files.columns.file);
  std::erase(others, files.columns.label);
  const std::string column = others.empty() ? "COLUMN" : others.front();
  return out + fmt::format("# task_column = {}\n", quoted(column));
}

}  // namespace

bool names_images(const fs::path& path) {
  std::error_code ignored;
  return is_idx_name(path) || fs::is_directory(path, ignored);
}

ImageFiles find_image_files(const std::string& images, const std::string& labels) {
  ImageFiles files{.images = images, .labels = labels};
  std::error_code ignored;
  if (!fs::exists(files.images, ignored))
    throw Error(ErrorCode::kIo, fmt::format("there is no {}", images),
                "name a directory of PNG files or IDX images");
  const bool directory = fs::is_directory(files.images, ignored);
  if (labels.empty())
    files.labels = directory ? labels_of_directory(files.images) : labels_of_idx(files.images);
  if (directory) find_columns(files);
  return files;
}

ImageSet read_images(const ImageFiles& files) {
  std::error_code ignored;
  return fs::is_directory(files.images, ignored)
             ? read_labelled_png_directory(files.images, files.labels, files.columns)
             : read_idx_pair(files.images, files.labels);
}

void read_task(ImageSet& set, const fs::path& labels, const LabelColumns& columns) {
  constexpr int kMostClasses = 256;
  ProblemList problems;
  const bool table = !set.files.empty();
  const char* field = table ? "data.task_column" : "data.task_labels";
  problems.require(table || columns.label.empty(), "data.task_column",
                   "is for a table of PNG files; these images are in an IDX file");
  problems.require(!table || !columns.label.empty(), "data.task_column",
                   "is missing; name the column of the table that holds the task");
  require_none(problems.take(), kBadTask, ErrorCode::kBadInput);
  std::vector<std::string> texts;
  if (table) {
    texts = read_png_column(labels, columns, set.files);
    const auto lacking = std::ranges::count(texts, std::string());
    problems.require(lacking == 0, field,
                     fmt::format("{} of the {} images have no '{}'", lacking, set.size(), columns.label));
    std::erase(texts, std::string());
  } else {
    for (const std::int32_t code : read_idx_labels(labels)) texts.push_back(std::to_string(code));
    problems.require(std::ssize(texts) == set.size(), field,
                     fmt::format("{} holds {} labels, but there are {} images", labels.string(), texts.size(),
                                 set.size()));
  }
  ImageTask task = task_of_texts(table ? columns.label : "task", texts);
  problems.require(task.classes > 1, field, "is the same for every image, so there is nothing to predict");
  problems.require(
      task.classes <= kMostClasses, field,
      fmt::format("has {} different values; at most {} are allowed", task.classes, kMostClasses));
  if (task.code.size() == set.labels.size()) {
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t i = 0; i < task.code.size(); ++i) pairs.emplace(task.code[i], set.labels[i]);
    const std::set<std::int32_t> hidden(set.labels.begin(), set.labels.end());
    problems.require(
        task.classes < 2 || std::ssize(pairs) != task.classes || std::ssize(hidden) != task.classes, field,
        "says the same as the label that is hidden; a label cannot be hidden and predicted");
  }
  require_none(problems.take(), kBadTask, ErrorCode::kBadInput);
  set.task = std::move(task);
}

std::string images_sha256(const ImageSet& set) {
  std::string bytes = fmt::format("{} x {}\n", set.height, set.width);
  for (Index i = 0; i < set.size(); ++i) {
    for (Index j = 0; j < set.pixels.cols(); ++j)
      bytes.push_back(static_cast<char>(pixel_byte(set.pixels(i, j))));
    bytes += set.class_names[static_cast<std::size_t>(set.labels[static_cast<std::size_t>(i)])] + "\n";
    if (!set.task.empty())
      bytes += set.task.names[static_cast<std::size_t>(set.task.code[static_cast<std::size_t>(i)])] + "\n";
  }
  return sha256(bytes);
}

std::string draft_image_job(const ImageFiles& files, const std::string& images, const std::string& labels) {
  const ImageSet set = read_images(files);
  const Eigen::RowVectorXf mean = set.pixels.colwise().mean();
  const double least = pixel_cross_entropy(set.pixels, set.pixels).mean();
  const double most = pixel_cross_entropy(set.pixels, mean.replicate(set.size(), 1)).mean();
  constexpr std::size_t kShown = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(kShown, set.class_names.size()));
  std::string out = fmt::format(
      "# {} images of {} x {} pixels (height x width), labels {}{}.\n"
      "# The label is hidden; the image stays useful.\n\n"
      "[data]\nimages = {}\nlabels = {}\n",
      set.size(), set.height, set.width,
      fmt::join(set.class_names.begin(), set.class_names.begin() + shown, ", "),
      set.class_names.size() > kShown ? ", ..." : "", quoted(images), quoted(labels));
  const LabelColumns usual;
  std::error_code ignored;
  if (fs::is_directory(files.images, ignored) &&
      (files.columns.file != usual.file || files.columns.label != usual.label || !files.sure)) {
    out += fmt::format("file_column = {}\nlabel_column = {}{}\n", quoted(files.columns.file),
                       quoted(files.columns.label),
                       files.sure ? "" : "  # UNSURE: the table has other columns too");
  }
  out += task_lines(files);
  out += fmt::format(
      "\n[privacy]\n"
      "# Distortion is the cross-entropy between image and release, nats per pixel: {:.4g} for an image\n"
      "# released unchanged, {:.4g} for the mean image released for everybody. Without budgets, points are\n"
      "# spread between the two.\n"
      "points = 8\n"
      "# budgets = [{:.3g}, {:.3g}]\n"
      "\n[train]\n"
      "seed = 1\n"
      "\n[report]\n"
      "show_examples = false  # true: originals and releases are shown side by side in the report\n",
      least, most, least + 0.4 * (most - least), least + 0.8 * (most - least));
  return out;
}

}  // namespace ppan
