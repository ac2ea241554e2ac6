#include "base/failure.hpp"

#include <algorithm>
#include <cctype>
#include <exception>
#include <new>

namespace wasp {

std::optional<Error> failure_of(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const Error& error) {
        return error;
    } catch (const std::bad_alloc&) {
        return Error(ExitCode::fault, "out of memory");
    } catch (const std::exception& error) {
        return Error(ExitCode::fault, error.what());
    }
}

std::string one_line(std::string_view text) {
    std::string line(text);
    std::ranges::replace_if(
        line, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, '?');
    return line;
}

}  // namespace wasp
