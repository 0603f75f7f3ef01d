// Sums of bytes with small factors, by PTX's dot products of four bytes.
#pragma once

namespace llvm {
class Function;
}

namespace gasell {

/// Where a kernel for GPUs adds bytes that lie beside each other (Emitter::load_words), as means, differences and other linear filters of
/// images do, rows of them are added by dp4a without being taken apart; sums that several elements share, those that a loop's next round
/// uses again among them, are computed once. The results are the same: integers that wrap around have no order of addition. Whether
/// anything changed; nothing does where that would take more instructions.
bool use_dot_products(llvm::Function& function);

}  // namespace gasell
