#include "ppan/core/records.h"

namespace ppan {

template <typename Scalar>
void gather(const Attribute<Scalar>& from, const std::int32_t* rows, Index count, Attribute<Scalar>& to) {
  to.levels = from.levels;
  if (from.finite()) {
    to.code.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      to.code[static_cast<std::size_t>(i)] = from.code[static_cast<std::size_t>(rows[i])];
    }
    return;
  }
  to.value.resize(count, from.value.cols());
  for (Index j = 0; j < from.value.cols(); ++j) {
    const Scalar* source = from.value.data() + j * from.value.rows();
    Scalar* target = to.value.data() + j * count;
    for (Index i = 0; i < count; ++i) target[i] = source[rows[i]];
  }
}

template <typename Scalar>
void gather(const Records<Scalar>& from, const std::int32_t* rows, Index count, Records<Scalar>& to) {
  gather(from.observed, rows, count, to.observed);
  gather(from.useful, rows, count, to.useful);
  if (from.second.rows() > 0) gather(from.second, rows, count, to.second);
  to.sensitive.resize(from.sensitive.size());
  for (std::size_t a = 0; a < from.sensitive.size(); ++a) {
    gather(from.sensitive[a], rows, count, to.sensitive[a]);
  }
}

template void gather(const Attribute<float>&, const std::int32_t*, Index, Attribute<float>&);
template void gather(const Attribute<double>&, const std::int32_t*, Index, Attribute<double>&);
template void gather(const Records<float>&, const std::int32_t*, Index, Records<float>&);
template void gather(const Records<double>&, const std::int32_t*, Index, Records<double>&);

}  // namespace ppan
