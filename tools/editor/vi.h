// vi's keys over a buffer: the commands of its normal mode.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/editor/buffer.h"
#include "tools/editor/keys.h"

namespace gasell::editor {

/// Between insert mode, where keys mean what they mean without vi, and normal mode, where they are commands: counts, motions (h l j k w b e
/// W B E 0 ^ $ f F t T ; , gg G), the operators d c y with them and doubled, and x X D C Y s S r ~ J i a I A o O p P u Ctrl-R.
class Vi {
 public:
  bool is_normal() const { return normal_; }
  /// An entry begins in insert mode.
  void begin() { *this = {}; }
  /// Escape in insert mode.
  void leave_insert(Buffer& buffer);

  enum class Taken { done, beeps, not_mine };
  /// A key in normal mode; what is not vi's (Enter, Tab, control keys) is for who reads keys. `older` and `newer`: j and k at the last and
  /// first line.
  Taken handle(const Key& key, Buffer& buffer, KillRing& cuts, const std::function<void(bool older)>& recall);

 private:
  struct Motion {
    size_t to;
    bool inclusive = false;  // the character there belongs to it
    bool lines = false;      // whole lines do
  };
  std::optional<Motion> motion(char key, const Buffer& buffer) const;
  std::optional<Motion> find(char how, const std::string& character, const Buffer& buffer) const;
  void operate(char op, Motion motion, Buffer& buffer, KillRing& cuts);
  void operate_on_lines(char op, size_t begin, size_t end, Buffer& buffer, KillRing& cuts);
  Taken command(char key, Buffer& buffer, KillRing& cuts, const std::function<void(bool older)>& recall);
  void put(bool behind, Buffer& buffer, const KillRing& cuts) const;
  void insert_at(size_t at, Buffer& buffer);
  void finish(Buffer& buffer);

  bool normal_ = false;
  int count_ = 0;           // as typed; 0: none
  char operator_ = 0;       // d, c or y waits for its motion
  char awaits_ = 0;         // f, F, t, T, r or g waits for a character
  char last_find_ = 0;      // f, F, t or T
  std::string found_;       // its character
  bool cut_lines_ = false;  // what was cut last are whole lines
};

}  // namespace gasell::editor
