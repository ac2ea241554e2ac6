#include "sim_engine.hpp"

#include <memory>
#include <vector>

#include "base/error.hpp"

namespace wasp {

namespace {

namespace s4u = simgrid::s4u;

/// Sanitizers know threads, not how SimGrid changes stacks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool actors_are_threads = true;
#else
constexpr bool actors_are_threads = false;
#endif

std::unique_ptr<s4u::Engine> make_engine(const std::string& platform) {
    std::vector<std::string> words{"wasp", "--log=root.thresh:critical",
                                   "--cfg=contexts/stack-size:1024",  // KiB
                                   "--cfg=surf/precision:1e-10",    // s: below a tick of SimWorld's
                                   "--cfg=debug/verbose-exit:no"};  // SIGINT is the program's
    if (actors_are_threads) words.emplace_back("--cfg=contexts/factory:thread");
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    int count = static_cast<int>(words.size());
    auto engine = std::make_unique<s4u::Engine>(&count, pointers.data());
    if (platform.empty()) {
        auto* const zone = s4u::create_full_zone("machine");
        zone->create_host("all ranks", 1e9);
        zone->seal();
    } else {
        engine->load_platform(platform);
    }
    return engine;
}

}  // namespace

s4u::Engine& sim_engine(const std::string& platform) {
    ENSURE(platform.empty() || !s4u::Engine::has_instance(),
           "{}: a process can read one platform file, before anything runs in virtual time",
           platform);
    static const std::unique_ptr<s4u::Engine> engine = make_engine(platform);
    return *engine;
}

s4u::Host* sim_host() {
    return sim_engine().get_all_hosts().front();
}

}  // namespace wasp
