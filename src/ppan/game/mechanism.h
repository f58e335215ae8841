#pragma once

// Mechanisms P(z|w). Each maps the observation and the given noise to weighted draws (draws.h), and
// propagates a gradient back to its flat parameters. Noise is an argument, so that a step can be repeated
// exactly and the same code serves seeded training and secure release.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/core/records.h"
#include "ppan/game/draws.h"
#include "ppan/nn/mlp.h"

namespace ppan {

enum class MechanismKind {
  kFinite,      ///< P(z|w) over a finite alphabet, by direct expectation.
  kGumbel,      ///< The same alphabet by Gumbel-softmax sampling; for comparison, it does worse.
  kGaussian,    ///< z = mu(w) + A(w) u, A lower-triangular or diagonal.
  kMixture,     ///< Mixture of Gaussians, diagonal or full; expectation over the component.
  kNoiseInput,  ///< z = f(w, u): universal, no density.
  kNoisyCode,   ///< c = R tanh(e(w) / R) + u, z = g(c); the adversary sees c.
};

enum class NoiseKind { kUniform, kNormal, kGumbel };

/// Which parts of a draw are needed, so that a mechanism can skip the others.
struct DrawScope {
  bool same_records = false;  ///< New noise for the records and parameters of the draw before.
  bool seen_only = false;     ///< Only Draws::seen(); what is released may stay as it was.
};

std::string_view to_string(MechanismKind kind);
/// Names as the command line takes them: finite, gumbel, gaussian, mixture, noise-input, noisy-code.
std::vector<std::string> mechanism_names();
/// Throws Error(kUsage) with the nearest names.
MechanismKind mechanism_kind(std::string_view name);

struct MechanismOptions {
  MechanismKind kind = MechanismKind::kNoiseInput;
  Index released = 1;         ///< Dimensions of z, or size of the alphabet of z.
  std::vector<Index> hidden;  ///< Hidden layers of the network (of the encoder, for a noisy code).
  Activation activation = Activation::kRelu;
  bool skip = false;  ///< With a direct linear path from input to output (not for finite and gumbel).
  Index draws = 1;    ///< k, independent draws per record in training (noise-input, gaussian, noisy-code).
  Index noise_inputs = 1;                 ///< s, noise-input only.
  NoiseKind noise = NoiseKind::kUniform;  ///< noise-input only: uniform on [-1, 1] or normal.
  bool full_scale = true;                 ///< gaussian only: A full lower-triangular rather than diagonal.
  Index components = 3;                   ///< mixture only.
  bool full_components = false;           ///< mixture only: full covariances rather than diagonal ones.
  double temperature = 0.5;               ///< gumbel only.
  Index code = 2;                         ///< noisy-code only: dimensions of c.
  double code_radius = 3;      ///< noisy-code only: R, bound of every coordinate of the noiseless code.
  std::vector<Index> decoder;  ///< noisy-code only: hidden layers from c to z.
  /// noisy-code only: hidden layers of a gate g(w), the probability that a record goes through the code;
  /// otherwise it is released as it is. Empty: no gate, everybody goes through it. Needs W = Y.
  std::vector<Index> gate;
  bool sigmoid_output = false;  ///< z = sigmoid of the network's output (noise-input and noisy-code; images).
  [[nodiscard]] Problems check() const;
};

template <typename Scalar>
class Mechanism {
 public:
  virtual ~Mechanism() = default;
  Mechanism& operator=(const Mechanism&) = delete;

  [[nodiscard]] const MechanismOptions& options() const { return options_; }
  [[nodiscard]] const Vector<Scalar>& parameters() const { return parameters_; }
  [[nodiscard]] Vector<Scalar>& parameters() { return parameters_; }
  /// Width of what the adversary sees.
  [[nodiscard]] virtual Index seen_width() const { return options_.released; }

  virtual void initialise(RandomSource& random) = 0;

  /// False: draws depend on the parameters alone, the same until they change (a finite alphabet).
  [[nodiscard]] bool noisy() const { return noise_width_ > 0; }
  /// Draws the noise of one batch into `noise`, whose storage is reused.
  void fill_noise(RandomSource& random, Index records, Matrix<Scalar>& noise) const;

  /// Draws for a batch; what backward() needs is kept until the next draw().
  virtual void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) = 0;

  /// A draw of which less is needed. The same numbers as draw() where they are needed.
  virtual void draw_part(DrawScope /*scope*/, const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                         Draws<Scalar>& draws) {
    draw(observed, noise, draws);
  }

  /// Gradient with respect to parameters(), overwriting `parameter_gradient`. After draw() with the same
  /// arguments.
  virtual void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                        const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                        Vector<Scalar>& parameter_gradient) = 0;

  /// One release per record: a single draw, selected by weight where there are several, or the record itself
  /// where a gate says so. A finite alphabet comes back as codes.
  Attribute<Scalar> release(const Attribute<Scalar>& observed, RandomSource& random);

  /// A mechanism of the same kind and parameters that draws `draws` times per record.
  [[nodiscard]] virtual std::unique_ptr<Mechanism> clone(Index draws) const = 0;

 protected:
  Mechanism(MechanismOptions options, NoiseKind noise, Index noise_width)
      : options_(std::move(options)), noise_kind_(noise), noise_width_(noise_width) {}
  Mechanism(const Mechanism&) = default;

  MechanismOptions options_;
  Vector<Scalar> parameters_;

 private:
  NoiseKind noise_kind_;
  Index noise_width_;  // per draw; 0: no noise
};

/// Builds the mechanism that `options` describe for records whose observed attribute looks like `observed`
/// (only whether it is finite and how wide it is are used). Throws Error(kUsage) listing every problem.
template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> make_mechanism(const MechanismOptions& options,
                                                  const Attribute<Scalar>& observed);

}  // namespace ppan
