// What ducc wants of its user's threads. It works on the calling thread alone here (serial.cpp); several threads call it, which its cache
// of plans must withstand.
#pragma once

#include <condition_variable>
#include <mutex>

namespace DUCC0_NAMESPACE {
namespace detail_threading {

using Mutex = std::mutex;
using UniqueLock = std::unique_lock<std::mutex>;
using LockGuard = std::lock_guard<std::mutex>;
using CondVar = std::condition_variable;

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE
