#include "base/failure.hpp"

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

}  // namespace wasp
