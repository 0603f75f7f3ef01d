// The function of a stencil as functions of array elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace gasell::numba {

/// What stands where a stencil's indices reach beyond its arrays. scipy.ndimage's names: of a b c d, with 3 elements more on each side,
enum class BorderMode : uint8_t {
  constant,  // the result there is cval
  nearest,   // a a a | a b c d | d d d
  reflect,   // c b a | a b c d | d c b
  mirror,    // d c b | a b c d | c b a
  wrap,      // b c d | a b c d | a b c
  valid,     // the result has only the elements that need nothing from there
};
/// Whether indices beyond an array stand for elements of it.
inline bool reads_beyond(BorderMode mode) { return mode != BorderMode::constant && mode != BorderMode::valid; }
/// The element that index i of an axis of n elements stands for.
int64_t element_beyond(BorderMode mode, int64_t i, int64_t n);
/// The same as a function in the language, of i and an array, for one axis.
std::string text_of_beyond(BorderMode mode, size_t axis);

/// The least and the largest offset on each axis.
using Reach = std::vector<std::pair<int64_t, int64_t>>;

/// Names that no script has: the index of the element at hand, a function of relative indices (functions::kRelative), and the ones that
/// text_of_beyond() gives.
inline constexpr const char* kElementName = "stencil element";
std::string index_name(size_t axis);
std::string beyond_name(size_t axis);

struct StencilTrees {
  std::shared_ptr<const ast::Stmt>
      absolute;  // a[-1, 0] is a[i0 + -1, i1 + 0]; has the indices of the element at hand as further parameters
  std::shared_ptr<const ast::Stmt> relative;  // a[-1, 0] is element(a, -1, 0)
  Reach reach;
};
/// `arrays`: the parameters that have relative indices, with their ranks; the first array's is `rank`. `neighborhood`: how far indices
/// reach where the script says so; else they have to be constants. Throws Numba's NumbaValueError, at the place, for indices that cannot
/// be.
StencilTrees stencil_trees(const std::shared_ptr<const ast::Stmt>& definition, const SourceRef& source,
                           const std::map<std::string, int>& arrays, size_t rank, const Reach& neighborhood, BorderMode mode);

}  // namespace gasell::numba
