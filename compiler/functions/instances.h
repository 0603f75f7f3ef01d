// Functions that are called, not written in place: those that call themselves. Each set of argument types makes a kernel of its own.
#pragma once

#include "compiler/functions/lowering.h"

namespace gasell::functions {

/// Puts the instances' kernels into `function.instances`, and makes real calls (gasell_call) of the calls of them in those and in
/// `function.kernel`. `captured`: the parameters for arrays from outside, which every instance gets, too.
void finish_instances(Compiled& function, std::map<std::string, Instance>& instances, const std::vector<ir::Parameter>& captured);

}  // namespace gasell::functions
