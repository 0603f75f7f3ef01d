#include "tools/gasell/dashboard/live_state.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/device/device.h"
#include "runtime/device/trace.h"

namespace gasell::cli {

std::string live_state(Engine& engine, int64_t& next) {
  using Json = nlohmann::json;
  const Trace::Live live = engine.trace().live(next);
  next = live.next;
  Json state;
  state["time"] = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  state["progress"] = live.progress < 0 ? Json() : Json(live.progress);

  const MemoryBudget& host = engine.device().budget();
  Json& memory = state["memory"] = Json::array();
  memory.push_back({{"device", "cpu"}, {"used", host.used()}, {"peak", host.peak()}, {"limit", host.limit()}, {"on_disk", host.spilled()}});
  for (const TraceMemory& m : live.memory)
    memory.push_back({{"device", m.device}, {"used", m.used}, {"peak", m.peak}, {"limit", m.limit}, {"on_disk", 0}});

  Json& totals = state["totals"] = Json::array();
  for (const TraceTotal& t : live.totals) totals.push_back({t.device, static_cast<int>(t.kind), t.name, t.count, t.seconds, t.bytes});
  Json& events = state["events"] = Json::array();
  for (const TraceEvent& e : live.events) events.push_back({e.device, static_cast<int>(e.kind), e.name, e.begin, e.end, e.bytes});
  Json& bandwidths = state["bandwidths"] = Json::object();
  for (const auto& [device, bandwidth] : live.bandwidths) bandwidths[device] = bandwidth;
  // Names may hold anything that a script's texts do.
  return state.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gasell::cli
