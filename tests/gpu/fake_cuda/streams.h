// Streams: work waits until somebody asks for it, so that an order which is missing shows.
#pragma once

#include "gpu/fake_cuda/state.h"

namespace fake_cuda {

/// What `work` does takes its time: others may call meanwhile.
template <class F>
void unlocked(F work) {
  mutex.unlock();
  work();
  mutex.lock();
}
/// Runs what the stream was given first.
void step(Stream stream);
bool idle(Stream stream);
void run(Stream stream);
void run_until(Stream stream, const std::shared_ptr<bool>& reached);
/// A place in the stream, and whether it has come there.
std::shared_ptr<bool> mark(Stream stream);
void wait_for(Stream waiter, Stream stream, const std::shared_ptr<bool>& reached);

}  // namespace fake_cuda
