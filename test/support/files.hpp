/// Bytes of files, and refusals as text: for tests that feed files to the program.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"

namespace wasp::test {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush()) << path;
}

/// The message of the Error for bad input that `call` throws: one line. Anything else fails.
template <class Call>
std::string refusal_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(error.code(), ExitCode::usage) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message;
    }
    ADD_FAILURE() << "was accepted";
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace wasp::test
