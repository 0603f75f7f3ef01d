// Finds what the threads of a kernel mapped to a grid do to one element without an order between them. The host runs them one after the
// other, which hides a missing barrier; code emitted with Target::check_races tells a RaceChecker what a GPU's threads would do, and that
// keeps, element by element, who used it last.
//
// Two uses of one element, one of them a store, race unless one thread does both or there is between them
// - a barrier of the block, for threads of one unit,
// - a barrier of the warp, for threads of one unit and warp.
// Nothing orders two units. Local arrays are their unit's (and warp's) own; parameters are everybody's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell {

/// A place in a kernel that loads or stores elements of an array; constant data of emitted code, which lays out the same struct.
struct AccessSite {
  const char *kernel, *array, *statement;
  int32_t number;  // the array's in the kernel
  int8_t space;    // ir::Space of a local array; automatic: a parameter
  int8_t writes;
};

/// The uses of one launch's arrays, as one host thread runs it unit by unit. Takes about 72 bytes for every element of an array that is
/// written.
class RaceChecker {
 public:
  /// Gets one sentence; must not throw. Called once for two statements.
  using Report = std::function<void(const std::string&)>;
  /// Writes the sentence to stderr and ends the process.
  static void end_process(const std::string& race);
  explicit RaceChecker(Report report = end_process) : report_(std::move(report)) {}

  /// A unit begins.
  void unit(int64_t number);
  /// The threads [first, first + count) of the unit's block come together.
  void barrier(ir::Space space, int64_t first, int64_t count);
  /// Each of these threads uses the element.
  void access(const AccessSite& site, int64_t index, int64_t first, int64_t count);

 private:
  static constexpr int kWarp = 32, kMostWarps = 64;
  struct Use {
    const AccessSite* site = nullptr;  // null: none
    uint32_t epoch = 0;                // barriers of the block before it, over all units
    uint32_t warp_epoch = 0;           // barriers of the warp; of uses by one warp
    uint16_t first = 0, count = 0;     // threads
    int first_warp() const { return first / kWarp; }
    int last_warp() const { return (first + count - 1) / kWarp; }
    bool is_of_one_warp() const { return first_warp() == last_warp(); }
  };
  /// Of the loads since the last store two are enough: no two threads are ordered with all stores that others would race with.
  struct Element {
    Use store, load, other_load;
  };
  static constexpr int64_t kPageBits = 10, kPage = 1 << kPageBits;
  using Page = std::array<Element, kPage>;
  struct Shadow {
    std::unordered_map<int64_t, std::unique_ptr<Page>> pages;
    int64_t latest_number = 0;
    Page* latest = nullptr;
  };

  Element& element(const AccessSite& site, int64_t index, int warp);
  bool is_of_this_unit(const Use& use) const { return use.epoch >= unit_epoch_; }
  bool races(const Use& before, const Use& now) const;
  void keep_load(Element& element, const Use& now) const;
  void report(const Use& before, const Use& now, int64_t index);
  int64_t unit_of(const Use& use) const;

  Report report_;
  uint32_t epoch_ = 0, unit_epoch_ = 0;
  std::array<uint32_t, kMostWarps> warp_epochs_{};
  std::vector<Shadow> shadows_;
  std::vector<std::pair<uint32_t, int64_t>> units_;  // epoch in which it began, its number
  std::set<std::pair<std::string, std::string>> reported_;
};

// What emitted code calls.
void race_unit(RaceChecker* checker, int64_t number) noexcept;
void race_barrier(RaceChecker* checker, int32_t space, int64_t first, int64_t count) noexcept;
void race_access(RaceChecker* checker, const AccessSite* site, int64_t index, int64_t first, int64_t count) noexcept;

}  // namespace gasell
