// The units of a launch that is split over several GPUs: a share each, done piece by piece, so that a GPU that is done takes from one that
// is slow. Which GPU computes a unit never changes a result.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/device/handout.h"

namespace gasell {

/// Thread-safe; a share's own pieces are taken and finished by one thread.
class Shares {
 public:
  /// Pieces begin at multiples of `together` units.
  Shares(const std::vector<UnitRange>& shares, int64_t together);

  /// The next units of a share for its own GPU, from its front: at most `blocks` times `together`; empty when there are none left. They are
  /// under way until the next call for this share.
  UnitRange take(size_t share, int64_t blocks);
  /// Nothing of a share is under way any more.
  void finish(size_t share);
  /// Units from the back of the share that will be done last, for the GPU of `thief`; empty where that GPU would not be done with them well
  /// before their owner could. `moving` gives the seconds that it takes to bring there what those units need, and what they make back;
  /// with nothing for units that cannot move. They are under way as the thief's own.
  struct Loot {
    size_t owner = 0;
    UnitRange units;
  };
  using Moving = std::function<std::optional<double>(size_t owner, UnitRange units, double under_way)>;
  Loot steal(size_t thief, int64_t blocks, const Moving& moving);
  /// Nothing more is handed out.
  void stop();
  /// Seconds that the share's GPU will need about for so many units; 0 where that is not known.
  double expected(size_t share, int64_t units) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Share {
    UnitRange left;
    int64_t done = 0;         // units that its GPU has computed, of this share or others
    double seconds = 0;       // in so much time
    int64_t under_way = 0;    // units
    Clock::time_point since;  // when
  };
  /// Seconds a unit, as far as known: at least what it has waited for the units under way.
  static double pace(const Share& share, Clock::time_point now);
  /// Seconds until what is under way is done.
  static double remaining(const Share& share, Clock::time_point now);
  void end_piece(Share& share, Clock::time_point now);
  void begin_piece(Share& share, int64_t units, Clock::time_point now);

  mutable std::mutex mutex_;
  std::vector<Share> shares_;
  const int64_t together_;
};

}  // namespace gasell
