#include "ppan/theory/curve.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/theory/bottleneck.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/theory/symmetric_pair.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<double> optima(const Curve& curve) {
  std::vector<double> values;
  for (const CurvePoint& point : curve.points) values.push_back(point.optimum);
  return values;
}

// A curve registered tomorrow is tested tomorrow.
TEST(Curve, EveryCurveObeysTheLawsByDefault) {
  for (const CurveInfo& info : curves()) {
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.summary.empty());
    for (const CurveParameter& parameter : info.parameters) {
      EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
      EXPECT_FALSE(parameter.range.empty()) << parameter.name;
    }
    const Curve curve = evaluate({.name = info.name, .points = 101});
    ASSERT_THAT(curve.points, SizeIs(101));
    EXPECT_THAT(ppan::testing::broken_properties(optima(curve), info.x_is_information ? 1 : -1), IsEmpty());
    for (const double value : optima(curve)) EXPECT_TRUE(std::isfinite(value));
    EXPECT_EQ(curve.parameters.size(), info.parameters.size());
  }
  EXPECT_THAT(curve_names(), ElementsAre("symmetric-pair", "gaussian-scalar", "gaussian-vector",
                                         "rate-distortion", "bottleneck-gaussian", "bottleneck-binary"));
}

TEST(Curve, TakesParametersAndPlaces) {
  const Curve symmetric = evaluate({.name = "symmetric-pair",
                                    .parameters = {{"m", "4"}, {"observation", "full-data"}},
                                    .at = {0.1, 0.25}});
  ASSERT_THAT(symmetric.points, SizeIs(2));
  EXPECT_EQ(symmetric.points[1].x, 0.25);
  EXPECT_EQ(symmetric.points[1].optimum, least_leakage_full_data(SymmetricPair{4, 0.4}, 0.25));

  const Curve scalar = evaluate({.name = "gaussian-scalar",
                                 .parameters = {{"rho", "-0.3"}, {"variance_y", "2"}},
                                 .points = 3,
                                 .from = 0.5,
                                 .to = 1.5});
  ASSERT_THAT(scalar.points, SizeIs(3));
  EXPECT_EQ(scalar.points[1].x, 1.0);
  EXPECT_EQ(scalar.points[1].optimum, least_leakage_useful_only(GaussianScalar{-0.3, 2}, 1));
  EXPECT_EQ(scalar.parameters.at("observation"), "useful-only");

  const Curve swapped =
      evaluate({.name = "bottleneck-binary", .parameters = {{"given", "leakage"}}, .at = {0.3}});
  EXPECT_EQ(swapped.info.x_name, "leakage");
  EXPECT_EQ(swapped.info.optimum_name, "useful");
  EXPECT_EQ(swapped.points[0].optimum, greatest_useful(BottleneckBinary{0.1}, 0.3));

  EXPECT_THAT(
      evaluate({.name = "gaussian-vector", .parameters = {{"rho", "0.5, -0.25"}}, .points = 1}).points,
      SizeIs(1));
}

TEST(Curve, ListsEveryProblem) {
  const CurveRequest request{.name = "symmetric-pair",
                             .parameters = {{"m", "1"}, {"p", "1.5"}, {"q", "3"}, {"observation", "full"}},
                             .points = 0,
                             .from = -1};
  const Problems problems = request.check();
  for (const char* field : {"m", "p", "q", "observation", "points", "from"})
    EXPECT_THAT(problems, Contains(Field(&Problem::field, field)));
  EXPECT_THAT(problems, SizeIs(6));
  try {
    evaluate(request);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("full-data"));
  }
}

TEST(Curve, NamesTheBadValue) {
  const auto problem_of = [](const std::string& name, std::map<std::string, std::string> parameters) {
    const Problems problems = CurveRequest{.name = name, .parameters = std::move(parameters)}.check();
    std::string text;
    for (const Problem& p : problems) text += p.field + ": " + p.what + "\n";
    return text;
  };
  EXPECT_THAT(problem_of("gausian-scalar", {}), HasSubstr("gaussian-scalar"));
  EXPECT_THAT(problem_of("gaussian-scalar", {{"rho", "1"}}), HasSubstr("rho: 1"));
  EXPECT_THAT(problem_of("gaussian-scalar", {{"rho", "half"}}), HasSubstr("'half' is not a number"));
  EXPECT_THAT(problem_of("gaussian-scalar", {{"rho", "nan"}}), HasSubstr("not a number"));
  EXPECT_THAT(problem_of("gaussian-vector", {{"rho", "0.1,,2"}}), HasSubstr("rho[1]"));
  EXPECT_THAT(problem_of("symmetric-pair", {{"m", "2.5"}}), HasSubstr("whole number"));
  EXPECT_THAT(problem_of("rate-distortion", {{"variances", "1,0,-2"}}), HasSubstr("variances[2]"));
  EXPECT_THAT((CurveRequest{.name = "symmetric-pair", .from = 0.5, .to = 0.1}.check()), SizeIs(1));
  EXPECT_THAT((CurveRequest{.name = "symmetric-pair", .at = {0.5, -0.1}}.check()), SizeIs(1));
}

// The release printed beside a point has its distortion and its leakage.
TEST(Curve, ReleasesAttainTheirPoints) {
  const auto at = [](const std::string& name, std::map<std::string, std::string> parameters, double x) {
    const Curve curve =
        evaluate({.name = name, .parameters = std::move(parameters), .at = {x}, .release = true});
    EXPECT_EQ(curve.points[0].release.size(), curve.release_names.size());
    return curve.points[0];
  };
  const CurvePoint scalar = at("gaussian-scalar", {{"rho", "0.85"}, {"observation", "full-data"}}, 0.3);
  const double a = scalar.release[0];
  const double b = scalar.release[1];
  const double noise = scalar.release[2];
  EXPECT_NEAR(a * a + (1 - b) * (1 - b) - 2 * a * (1 - b) * 0.85 + noise, 0.3, 1e-12);
  const double cov = a + 0.85 * b;
  const double var = a * a + b * b + 2 * a * b * 0.85 + noise;
  EXPECT_NEAR(-0.5 * std::log(1 - cov * cov / var), scalar.optimum, 1e-12);

  const CurvePoint vector = at("gaussian-vector", {{"rho", "0.8,0.4"}, {"scale", "2"}}, 1.5);
  double distortion = 0;
  double leakage = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double gain = vector.release[i];
    const double n = vector.release[2 + i];
    const double rho = i == 0 ? 0.8 : 0.4;
    distortion += 2 * (1 - gain) * (1 - gain) + n;
    leakage -= 0.5 * std::log(1 - rho * rho * 2 * gain * gain / (2 * gain * gain + n));
  }
  EXPECT_NEAR(distortion, 1.5, 1e-9);
  EXPECT_NEAR(leakage, vector.optimum, 1e-9);

  EXPECT_NEAR(at("symmetric-pair", {{"m", "4"}, {"p", "0.2"}}, 0.3).release[0], 0.7, 1e-12);
  const CurvePoint full = at("symmetric-pair", {{"m", "4"}, {"p", "0.2"}, {"observation", "full-data"}}, 0.3);
  EXPECT_NEAR(0.8 * (1 - full.release[0]) + 0.2 * (1 - full.release[1]), 0.3, 1e-12);
  const CurvePoint bottleneck = at("bottleneck-gaussian", {{"rho", "0.8"}}, 0.2);
  EXPECT_NEAR(0.5 * std::log1p(1 / bottleneck.release[0]), bottleneck.optimum, 1e-10);
  const CurvePoint binary = at("bottleneck-binary", {{"p", "0.1"}}, 0.12);
  EXPECT_NEAR(std::log(2.0) + binary.release[0] * std::log(binary.release[0]) +
                  (1 - binary.release[0]) * std::log1p(-binary.release[0]),
              binary.optimum, 1e-9);
  EXPECT_TRUE(evaluate({.name = "rate-distortion"}).points[0].release.empty());
}

}  // namespace
}  // namespace ppan::theory
