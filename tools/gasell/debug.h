// %debug: the frames that the last uncaught exception left, and their variables.
#pragma once

namespace gasell::cli {

class Session;

/// Reads commands at a prompt of its own: up, down, where, list, vars, quit, and expressions, which see the frame's variables. Ends at
/// Ctrl-D. ValueError where no exception was met.
void look_at_exception(Session& session);

}  // namespace gasell::cli
