#include "mpi_requests.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr int request_tag = 0;  // an answer's tag is 1 + the number of the slot that waits for it

bool all_done(std::span<MPI_Request> requests) {
    int done = 0;
    mpi_check(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    return done != 0;
}

}  // namespace

MpiRequests::MpiRequests(Cluster& cluster) : cluster_(cluster) {
    mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    for (std::size_t ear = 0; ear < ears_.size(); ++ear) {
        heard_[ear].resize(buffer_bytes);
        listen(ear);
    }
}

MpiRequests::~MpiRequests() {
    for (auto& ear : ears_) {
        MPI_Cancel(&ear);
        MPI_Wait(&ear, MPI_STATUS_IGNORE);
    }
    for (auto& answer : answers_) MPI_Wait(&answer.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm_);
}

int MpiRequests::offer(NodeWindow& window) {
    windows_[next_number_] = &window;
    return next_number_++;
}

int MpiRequests::offer(NodeCounters& counters) {
    counters_[next_number_] = &counters;
    return next_number_++;
}

void MpiRequests::withdraw(int number) {
    windows_.erase(number);
    counters_.erase(number);
}

void MpiRequests::listen(std::size_t ear) {
    mpi_check(MPI_Irecv(heard_[ear].data(), static_cast<int>(buffer_bytes), MPI_BYTE,
                        MPI_ANY_SOURCE, request_tag, comm_, &ears_[ear]),
              "MPI_Irecv");
}

MpiRequests::Slot* MpiRequests::free_slot() {
    for (auto& slot : slots_) {
        if (slot.busy && all_done(slot.requests)) slot.busy = false;
        if (!slot.busy) return &slot;
    }
    return nullptr;
}

MpiRequests::Slot& MpiRequests::send(int rank, Header header, std::span<const float> payload,
                                     std::size_t answers) {
    Slot* slot = nullptr;
    wait_until(
        cluster_, [&] { return (slot = free_slot()) != nullptr; },
        [&] { return fmt::format("rank {} to answer a request", slots_[0].rank); });
    slot->busy = true;
    slot->rank = rank;
    slot->answer.resize(answers);
    header.answer_tag = 1 + static_cast<int>(slot - slots_.data());
    slot->buffer.resize(std::max(slot->buffer.size(), sizeof header + payload.size_bytes()));
    std::memcpy(slot->buffer.data(), &header, sizeof header);
    if (!payload.empty())
        std::memcpy(slot->buffer.data() + sizeof header, payload.data(), payload.size_bytes());
    mpi_check(MPI_Irecv(slot->answer.data(), static_cast<int>(answers), MPI_INT64_T, rank,
                        header.answer_tag, comm_, &slot->requests[1]),
              "MPI_Irecv");
    mpi_check(MPI_Isend(slot->buffer.data(), static_cast<int>(sizeof header + payload.size_bytes()),
                        MPI_BYTE, rank, request_tag, comm_, &slot->requests[0]),
              "MPI_Isend");
    return *slot;
}

void MpiRequests::wait_for(Slot& slot) {
    wait_until(
        cluster_, [&] { return all_done(slot.requests); },
        [&] { return fmt::format("rank {} to answer a request", slot.rank); });
    slot.busy = false;
}

void MpiRequests::finish() {
    for (auto& slot : slots_)
        if (slot.busy) wait_for(slot);
}

void MpiRequests::add(int rank, int window, std::size_t offset, float scale,
                      std::span<const float> in) {
    send(rank,
         {.kind = Kind::add,
          .object = window,
          .scale = scale,
          .place = offset,
          .amount = static_cast<std::int64_t>(in.size())},
         in, 0);
}

void MpiRequests::put(int rank, int window, std::size_t offset, std::span<const float> in) {
    send(rank,
         {.kind = Kind::put,
          .object = window,
          .place = offset,
          .amount = static_cast<std::int64_t>(in.size())},
         in, 0);
}

std::int64_t MpiRequests::fetch_add(int rank, int counters, std::size_t index, std::int64_t delta) {
    Slot& slot =
        send(rank, {.kind = Kind::fetch_add, .object = counters, .place = index, .amount = delta},
             {}, 1);
    wait_for(slot);
    return slot.answer[0];
}

void MpiRequests::read(int rank, int counters, std::size_t first, std::span<std::int64_t> out) {
    Slot& slot = send(rank,
                      {.kind = Kind::read,
                       .object = counters,
                       .place = first,
                       .amount = static_cast<std::int64_t>(out.size())},
                      {}, out.size());
    wait_for(slot);
    std::ranges::copy(slot.answer, out.begin());
}

void MpiRequests::serve() {
    // A request of the largest kind takes about 50 µs; serving may itself wait for a block, and so
    // come here again.
    constexpr int most_at_once = 8;
    if (serving_) return;
    serving_ = true;
    for (int turn = 0; turn < most_at_once; ++turn) {
        int ear = MPI_UNDEFINED;
        int any = 0;
        MPI_Status status;
        mpi_check(MPI_Testany(static_cast<int>(ears_.size()), ears_.data(), &ear, &any, &status),
                  "MPI_Testany");
        if (any == 0) break;
        const auto index = static_cast<std::size_t>(ear);
        Header header;
        std::memcpy(&header, heard_[index].data(), sizeof header);
        auto& answer = answers_.emplace_back();
        answer.values = fulfil(header, heard_[index].data() + sizeof header);
        listen(index);
        mpi_check(
            MPI_Isend(answer.values.data(), static_cast<int>(answer.values.size()), MPI_INT64_T,
                      status.MPI_SOURCE, header.answer_tag, comm_, &answer.request),
            "MPI_Isend");
    }
    std::erase_if(answers_, [](Answer& answer) { return all_done(std::span(&answer.request, 1)); });
    serving_ = false;
}

std::vector<std::int64_t> MpiRequests::fulfil(const Header& header, const std::byte* payload) {
    const int me = cluster_.rank();
    const auto place = static_cast<std::size_t>(header.place);
    const std::span floats(reinterpret_cast<const float*>(payload),
                           header.kind == Kind::add || header.kind == Kind::put
                               ? static_cast<std::size_t>(header.amount)
                               : 0);
    switch (header.kind) {
        case Kind::add:
            windows_.at(header.object)->add(me, place, header.scale, floats);
            return {};
        case Kind::put:
            windows_.at(header.object)->put(me, place, floats);
            return {};
        case Kind::fetch_add:
            return {counters_.at(header.object)->fetch_add(me, place, header.amount)};
        case Kind::read: {
            std::vector<std::int64_t> values(static_cast<std::size_t>(header.amount));
            counters_.at(header.object)->read(me, place, values);
            return values;
        }
    }
    return {};
}

}  // namespace wasp
