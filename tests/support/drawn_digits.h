#pragma once

// Digits as a pocket calculator shows them, drawn with moved, thickened and smudged strokes, so that tests of
// images need no download.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "ppan/core/random.h"
#include "ppan/read/image_set.h"

namespace ppan::testing {

/// `count` images of `side` x `side` pixels (at least 8) of the digits 0..classes-1, labels drawn evenly.
inline ImageSet drawn_digits(Index count, Index side, int classes, std::uint64_t seed) {
  // Segments: top, top right, bottom right, bottom, bottom left, top left, middle.
  constexpr std::array<unsigned, 10> kLit{0b0111111, 0b0000110, 0b1011011, 0b1001111, 0b1100110,
                                          0b1101101, 0b1111101, 0b0000111, 0b1111111, 0b1101111};
  SeededRandom random(seed);
  ImageSet set{.height = side, .width = side};
  set.pixels.setZero(count, side * side);
  set.classes = classes;
  for (int c = 0; c < classes; ++c) set.class_names.push_back(std::to_string(c));
  const double unit = static_cast<double>(side) / 12;
  for (Index i = 0; i < count; ++i) {
    const auto digit = static_cast<std::int32_t>(random.index(classes));
    set.labels.push_back(digit);
    const double left = (3 + 2 * (random.uniform() - 0.5)) * unit;
    const double right = (8.5 + 2 * (random.uniform() - 0.5)) * unit;
    const double top = (1.5 + random.uniform()) * unit;
    const double bottom = (10 + random.uniform()) * unit;
    const double middle = 0.5 * (top + bottom) + (random.uniform() - 0.5) * unit;
    const double width = (0.5 + 0.3 * random.uniform()) * unit;
    struct Stroke {
      double y0, x0, y1, x1;
    };
    const std::array<Stroke, 7> strokes{{{top, left, top, right},
                                         {top, right, middle, right},
                                         {middle, right, bottom, right},
                                         {bottom, left, bottom, right},
                                         {middle, left, bottom, left},
                                         {top, left, middle, left},
                                         {middle, left, middle, right}}};
    for (Index y = 0; y < side; ++y) {
      for (Index x = 0; x < side; ++x) {
        double nearest = 1e9;
        for (std::size_t s = 0; s < strokes.size(); ++s) {
          if ((kLit[static_cast<std::size_t>(digit)] >> s & 1U) == 0) continue;
          const Stroke& stroke = strokes[s];
          const double py = std::clamp(static_cast<double>(y), stroke.y0, stroke.y1);
          const double px = std::clamp(static_cast<double>(x), stroke.x0, stroke.x1);
          nearest = std::min(nearest, std::hypot(static_cast<double>(y) - py, static_cast<double>(x) - px));
        }
        const double brightness = 1.2 - (nearest - width) / unit - 0.2 * random.uniform();
        set.pixels(i, y * side + x) = static_cast<float>(std::clamp(brightness, 0.0, 1.0));
      }
    }
  }
  return set;
}

/// Of digits 0..9: the label is whether they are odd, the task whether they are less than five.
inline ImageSet parity_and_size(ImageSet set) {
  set.task = {.name = "small", .classes = 2, .names = {"no", "yes"}};
  for (std::int32_t& label : set.labels) {
    set.task.code.push_back(label < 5 ? 1 : 0);
    label %= 2;
  }
  set.classes = 2;
  set.class_names = {"even", "odd"};
  return set;
}

/// Faces of 12 x 12 pixels, somewhat moved and of varying brightness: the label is whether the hair is long
/// (about sixteen pixels), the task whether the mouth smiles (the height of its two ends). Independent of
/// each other.
inline ImageSet drawn_faces(Index count, std::uint64_t seed) {
  constexpr Index kSide = 12;
  SeededRandom random(seed);
  ImageSet set{.height = kSide, .width = kSide, .classes = 2, .class_names = {"short", "long"}};
  set.task = {.name = "smile", .classes = 2, .names = {"no", "yes"}};
  set.pixels.resize(count, kSide * kSide);
  for (Index i = 0; i < count; ++i) {
    const auto hair = static_cast<std::int32_t>(random.index(2));
    const auto smile = static_cast<std::int32_t>(random.index(2));
    set.labels.push_back(hair);
    set.task.code.push_back(smile);
    for (Index j = 0; j < kSide * kSide; ++j) set.pixels(i, j) = static_cast<float>(0.15 * random.uniform());
    const auto right = random.index(2);
    const auto down = random.index(2);
    const auto draw = [&](Index y, Index x, double brightness) {
      set.pixels(i, (y + down) * kSide + x + right) =
          static_cast<float>(brightness - 0.15 * random.uniform());
    };
    const double skin = 0.5 + 0.3 * random.uniform();
    for (Index y = 2; y < 10; ++y) {
      for (Index x = 2; x < 9; ++x) draw(y, x, skin);
    }
    for (Index x = 1; x < 10; ++x) draw(0, x, 1);
    const Index ends = hair == 1 ? 10 : 2;
    for (Index y = 1; y < ends; ++y) {
      draw(y, 1, 1);
      draw(y, 9, 1);
    }
    for (const Index x : {3, 7}) draw(4, x, 0.2);
    for (const Index x : {4, 5, 6}) draw(8, x, 0.2);
    for (const Index x : {3, 7}) draw(smile == 1 ? 7 : 9, x, 0.2);
  }
  return set;
}

}  // namespace ppan::testing
