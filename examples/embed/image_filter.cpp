// A host whose image filter is a script that may change while it runs: the function is compiled anew when the file has changed, and called
// over the host's pixels, rows with a pitch, without a copy. A script that does not compile leaves the filter as it was.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gasell/gasell.hpp>
#include <optional>
#include <sstream>
#include <vector>

namespace fs = std::filesystem;
using Image = gasell::View<const float, 2>;
using Target = gasell::View<float, 2>;

class Filter {
 public:
  Filter(gasell::Engine& engine, fs::path script) : engine_(engine), script_(std::move(script)) {}

  void run(Image image, Target target) {
    reload();
    if (function_) (*function_)(image, target);
  }

 private:
  void reload() {
    const auto changed = fs::last_write_time(script_);
    if (changed == seen_) return;
    seen_ = changed;
    std::stringstream text;
    text << std::ifstream(script_).rdbuf();
    try {
      function_ = engine_.compile<void(Image, Target)>(text.str());
    } catch (const gasell::Error& e) {
      std::printf("the filter stays as it was: %s: %s\n", e.kind.c_str(), e.message.c_str());
    }
  }

  gasell::Engine& engine_;
  const fs::path script_;
  fs::file_time_type seen_{};
  std::optional<gasell::Function<void(Image, Target)>> function_;
};

int main() {
  constexpr int64_t kHeight = 4, kWidth = 6, kPitch = 8;
  std::vector<float> pixels(kHeight * kPitch), shown(kHeight * kWidth);
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x) pixels[static_cast<size_t>(y * kPitch + x)] = static_cast<float>(x >= 3);
  const Image image{pixels.data(), {kHeight, kWidth}, {kPitch, 1}};
  const Target target = Target::of(shown.data(), {kHeight, kWidth});

  const fs::path script = fs::temp_directory_path() / "gasell_image_filter.gsl";
  auto time = fs::file_time_type::clock::now();
  const auto edit = [&](const char* text) {  // as the person at the editor would
    std::ofstream(script) << text;
    fs::last_write_time(script, time += std::chrono::seconds(1));
  };
  const auto show = [&](const char* what) {
    std::printf("%-7s", what);
    for (int64_t x = 0; x < kWidth; ++x) std::printf(" %5.2f", shown[static_cast<size_t>(kWidth + x)]);
    std::printf("\n");
  };

  gasell::Engine engine;
  Filter filter(engine, script);
  edit(
      "def blur(a, out):\n"
      "    for y in range(a.shape[0]):\n"
      "        for x in range(a.shape[1]):\n"
      "            out[y, x] = (a[y, max(x - 1, 0)] + a[y, x] + a[y, min(x + 1, a.shape[1] - 1)]) / 3\n");
  filter.run(image, target);
  show("blur");
  edit(
      "def edges(a, out):\n"
      "    for y in range(a.shape[0]):\n"
      "        for x in range(a.shape[1]):\n"
      "            out[y, x] = abs(a[y, min(x + 1, a.shape[1] - 1)] - a[y, x])\n");
  filter.run(image, target);
  show("edges");
  edit("def broken(a, out):\n    out[0, 0] = a.brightness\n");
  filter.run(image, target);
  show("edges");
  fs::remove(script);
}
