// Bytes of terminals as keys.
#include "tools/editor/keys.h"

#include <string>

#include "catch.h"

using namespace gasell::editor;
using Code = Key::Code;

namespace {

std::vector<Key> keys_of(std::string_view bytes) {
  KeyDecoder decoder;
  decoder.feed(bytes);
  std::vector<Key> keys;
  while (auto key = decoder.next()) keys.push_back(*key);
  while (auto key = decoder.next(true)) keys.push_back(*key);
  return keys;
}
Key only(std::string_view bytes) {
  const std::vector<Key> keys = keys_of(bytes);
  REQUIRE(keys.size() == 1);
  return keys[0];
}

}  // namespace

TEST_CASE("characters and control characters") {
  CHECK(only("a") == Key{Code::character, "a"});
  CHECK(only("日") == Key{Code::character, "日"});
  CHECK(only("\x01") == Key{Code::character, "a", true});
  CHECK(only("\x1f") == Key{Code::character, "_", true});
  CHECK(only("\r") == Key{Code::enter});
  CHECK(only("\n") == Key{Code::enter});
  CHECK(only("\x7f") == Key{Code::backspace});
  CHECK(only("\t") == Key{Code::tab});
  CHECK(only("\xff").code == Code::unknown);
}

TEST_CASE("arrows, their modifiers, and what terminals differ in") {
  for (const char* up : {"\033[A", "\033OA"}) CHECK(only(up) == Key{Code::up});
  for (const char* home : {"\033[H", "\033OH", "\033[1~", "\033[7~"}) CHECK(only(home) == Key{Code::home});
  for (const char* end : {"\033[F", "\033OF", "\033[4~", "\033[8~"}) CHECK(only(end) == Key{Code::end});
  CHECK(only("\033[1;5C") == Key{Code::right, "", true});
  CHECK(only("\033[1;3D") == Key{Code::left, "", false, true});
  CHECK(only("\033\033[D") == Key{Code::left, "", false, true});
  CHECK(only("\033[3~") == Key{Code::erase});
  CHECK(only("\033[3;5~") == Key{Code::erase, "", true});
  CHECK(only("\033[5~") == Key{Code::page_up});
  CHECK(only("\033[Z") == Key{Code::tab, "", false, false, true});
  CHECK(only("\033[13;2u") == Key{Code::enter, "", false, false, true});
  CHECK(only("\033[27;5;114~") == Key{Code::character, "r", true});
  CHECK(only("\033[[A").code == Code::unknown);
  CHECK(only("\033[?1;2c").code == Code::unknown);
}

TEST_CASE("Escape and Alt") {
  CHECK(only("\033") == Key{Code::escape});
  CHECK(only("\033b") == Key{Code::character, "b", false, true});
  CHECK(only("\033\x7f") == Key{Code::backspace, "", false, true});
  CHECK(only("\033\r") == Key{Code::enter, "", false, true});
  CHECK(keys_of("\033\033").size() == 2);
  KeyDecoder decoder;
  decoder.feed("\033");
  CHECK_FALSE(decoder.next());
  decoder.feed("[A");
  CHECK(decoder.next() == Key{Code::up});
}

TEST_CASE("pastes, whole and in pieces") {
  CHECK(only("\033[200~a\r\tb\033[A\033[201~") == Key{Code::paste, "a\r\tb\033[A"});
  KeyDecoder decoder;
  const std::string text = "x\033[200~line one\rline two\033[201~y";
  std::vector<Key> keys;
  for (const char c : text) {
    decoder.feed({&c, 1});
    while (auto key = decoder.next()) keys.push_back(*key);
  }
  REQUIRE(keys.size() == 3);
  CHECK(keys[1] == Key{Code::paste, "line one\rline two"});
  CHECK(keys[2] == Key{Code::character, "y"});
}

TEST_CASE("any bytes are taken to their end") {
  uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int k = 0; k < 12; ++k) {
      state = state * 1664525u + 1013904223u;
      static constexpr std::string_view kLikely = "\033[O;~0159ABuZ\x80\xe6\xff\r\t a";
      bytes += kLikely[(state >> 16) % kLikely.size()];
    }
    KeyDecoder decoder;
    decoder.feed(bytes);
    int count = 0;
    while (decoder.next(true) && count < 100) ++count;
    CHECK(count < 100);
    CHECK((!decoder.unfinished() || bytes.find("\033[200~") != std::string::npos));
  }
}
