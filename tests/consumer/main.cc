// Uses a closed form, a matrix that the library fills, and an error; exits 0 if all are as they should be.

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/theory/curve.h"

int main() {
  const auto curve =
      ppan::theory::evaluate({.name = "gaussian-scalar", .parameters = {{"rho", "0.5"}}, .points = 3});
  if (curve.points.size() != 3 || std::abs(curve.points[0].optimum - 0.5 * std::log(4.0 / 3.0)) > 1e-12)
    return 1;

  ppan::SeededRandom random(1);
  ppan::Matrix<float> noise(100, 3);
  ppan::fill_normal(random, noise);
  if (!noise.allFinite() || noise.isZero()) return 1;

  try {
    (void)ppan::theory::evaluate({.name = "no-such-curve"});
  } catch (const ppan::Error& error) {
    return error.code() == ppan::ErrorCode::kUsage ? 0 : 1;
  }
  return 1;
}
