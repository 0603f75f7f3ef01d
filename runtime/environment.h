// Settings of the environment.
#pragma once

namespace gasell {

/// A switch of the environment: `otherwise` where the variable is not set. Throws Error: ValueError where it is neither 0 nor 1.
bool switched_on(const char* variable, bool otherwise);

}  // namespace gasell
