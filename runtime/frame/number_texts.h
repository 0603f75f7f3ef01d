// Numbers of texts: equal texts of some dictionaries get equal ones.
#pragma once

#include <vector>

#include "runtime/frame/dictionary.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

struct NumberedTexts {
  /// Each text once, in the order of their first appearance. Null: of one dictionary, all are different, so they are numbered as they
  /// stand.
  DictionaryRef texts;
  Scratch<int32_t> numbers;  // one a text, those of a dictionary behind those of the one before; none where `texts` is null
};

/// On all cores; what it needs beside its results counts towards the memory budget, and is read and written in order. Throws
/// NotImplementedError beyond 2**31 - 1 different texts.
NumberedTexts number_texts(Engine& engine, const std::vector<const Dictionary*>& dictionaries);

}  // namespace gasell::frame
