// mini flight: who is missing in which operation, from the flight recorders of all ranks.

#pragma once

namespace CLI {
class App;
}

namespace mini::tools {

/// Declares `flight` in `app`; it prints to stdout when the command line has been parsed.
/// Throws BadFile, one line, for a file that is damaged or no dump, UsageError when there
/// is none.
void add_flight(CLI::App& app);

}  // namespace mini::tools
