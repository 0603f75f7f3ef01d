#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/frame/window.h"
#include "runtime/frame/window_values.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of one column (`others` are its own values), or of two: the rows that both have count.
Column decayed_values(Engine& engine, const Scratch<double>& values, const Scratch<double>& others, DecayStatistic what,
                      const DecayOptions& options) {
  OperatorTimer timer("window", values.size());
  const int64_t rows = values.size(), least = std::max<int64_t>(options.min_periods, 1);
  NewValues result(engine, DType::f64, rows);
  double* const to = result.as<double>();
  std::optional<Scratch<double>> apart;
  if (options.apart) apart = doubles(engine, *options.apart);
  const double once = 1 - options.alpha, fresh = options.adjust ? 1 : options.alpha;
  double mean = kNaN, other_mean = kNaN, covariance = 0, weight = 1, weights = 1, squared_weights = 1, sum = kNaN;
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double v = values[i], w = others[i];
    const bool there = v == v && w == w;
    count += there;
    if (mean == mean) {
      if (there || !options.ignore_missing) {
        const double factor = apart ? std::pow(once, (*apart)[i]) : once;
        weights *= factor;
        squared_weights *= factor * factor;
        weight *= factor;
        sum *= factor;
      }
      if (there) {
        const double before = mean, other_before = other_mean;
        if (mean != v) mean = (weight * before + fresh * v) / (weight + fresh);
        if (other_mean != w) other_mean = (weight * other_before + fresh * w) / (weight + fresh);
        covariance = (weight * (covariance + (before - mean) * (other_before - other_mean)) + fresh * ((v - mean) * (w - other_mean))) /
                     (weight + fresh);
        sum += v;
        weights += fresh;
        squared_weights += fresh * fresh;
        weight += fresh;
        if (!options.adjust) {
          weights /= weight;
          squared_weights /= weight * weight;
          weight = 1;
        }
      }
    } else if (there) {
      mean = sum = v;
      other_mean = w;
    }
    if (count < least) {
      to[i] = kNaN;
      continue;
    }
    if (what == DecayStatistic::mean)
      to[i] = mean;
    else if (what == DecayStatistic::sum)
      to[i] = sum;
    else {
      double variance = covariance;
      if (!options.bias) {
        const double all = weights * weights, rest = all - squared_weights;
        variance = rest > 0 ? all / rest * covariance : kNaN;
      }
      to[i] = what == DecayStatistic::std ? std::sqrt(variance) : variance;
    }
  }
  timer.finish(rows);
  return number_column(result.node());
}

}  // namespace

Column decayed(Engine& engine, const Column& column, DecayStatistic what, const DecayOptions& options) {
  const Scratch<double> values = doubles(engine, column);
  return decayed_values(engine, values, values, what, options);
}

Column decayed_covariance(Engine& engine, const Column& a, const Column& b, const DecayOptions& options) {
  const Scratch<double> values = doubles(engine, a), others = doubles(engine, b);
  return decayed_values(engine, values, others, DecayStatistic::var, options);
}

}  // namespace gasell::frame
