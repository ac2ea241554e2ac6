#include "output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.hpp"

namespace wasp {

namespace {

bool reader_has_left() {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void say(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void check_output() {
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    ENSURE(written || reader_has_left(),
           "standard output can't be written: is its disk full? What was said is lost in part");
}

}  // namespace wasp
