#include "mpi_mailbox.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace wasp {

namespace {

bool done(MPI_Request& request) {
    int complete = 0;
    mpi_check(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    return complete != 0;
}

}  // namespace

MpiMailbox::MpiMailbox(Cluster& cluster, const std::vector<int>& others)
    : cluster_(cluster), peers_(others.size()), peer_of_(static_cast<std::size_t>(cluster.size())) {
    for (std::size_t i = 0; i < others.size(); ++i) {
        peers_[i].rank = others[i];
        peer_of_[static_cast<std::size_t>(others[i])] = &peers_[i];
    }
    memory_.resize(outbox_at(buffers));
    window_.emplace(cluster, memory_);
}

MpiMailbox::~MpiMailbox() {
    for (auto& peer : peers_) {
        for (auto& posted : peer.letters) MPI_Wait(&posted.request, MPI_STATUS_IGNORE);
        for (auto& reply : peer.replies) MPI_Wait(&reply.request, MPI_STATUS_IGNORE);
    }
}

std::size_t MpiMailbox::mailbox_at(int from, std::uint32_t number) const {
    return (static_cast<std::size_t>(from) * most_letters + number % most_letters) *
           sizeof(Sealed<Letter>);
}

std::size_t MpiMailbox::answer_at(int from, std::uint32_t number) const {
    return mailbox_at(cluster_.size(), 0) +
           (static_cast<std::size_t>(from) * most_letters + number % most_letters) *
               sizeof(Sealed<std::int64_t>);
}

std::size_t MpiMailbox::outbox_at(std::size_t buffer) const {
    return answer_at(cluster_.size(), 0) + buffer * most_floats * sizeof(float);
}

int MpiMailbox::offer(NodeWindow& window) {
    windows_[next_number_] = &window;
    return next_number_++;
}

int MpiMailbox::offer(NodeCounters& counters) {
    counters_[next_number_] = &counters;
    return next_number_++;
}

void MpiMailbox::withdraw(int number) {
    windows_.erase(number);
    counters_.erase(number);
}

void MpiMailbox::add(int rank, int window, std::size_t offset, float scale,
                     std::span<const float> in) {
    post(rank, {.kind = Kind::add, .object = window, .scale = scale, .place = offset}, in);
}

void MpiMailbox::put(int rank, int window, std::size_t offset, std::span<const float> in) {
    post(rank, {.kind = Kind::put, .object = window, .place = offset}, in);
}

std::int64_t MpiMailbox::fetch_add(int rank, int counters, std::size_t index, std::int64_t delta) {
    const Posted& letter =
        post(rank, {.kind = Kind::fetch_add, .object = counters, .place = index, .number = delta});
    wait_until(
        cluster_,
        [&] {
            collect_answers();
            return letter.answered;
        },
        [&] { return whom(rank); });
    return letter.answer;
}

void MpiMailbox::finish() {
    wait_until(
        cluster_,
        [&] {
            collect_answers();
            return unanswered_.empty();
        },
        [&] { return whom(unanswered_[0]->rank); });
}

// Every word is written as a whole: MPI promises it of accumulates, whose REPLACE is a put.
template <class Words>
MPI_Request MpiMailbox::write(int rank, std::size_t at, const Words& words) {
    const int count = static_cast<int>(words.size());
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Raccumulate(words.data(), count, MPI_UINT64_T, rank, static_cast<MPI_Aint>(at),
                              count, MPI_UINT64_T, MPI_REPLACE, window_->handle(), &request),
              "MPI_Raccumulate");
    return request;
}

std::string MpiMailbox::whom(int rank) const {
    return fmt::format("rank {} to answer a letter",
                       unanswered_.empty() ? rank : unanswered_[0]->rank);
}

MpiMailbox::Posted& MpiMailbox::post(int rank, Letter letter, std::span<const float> floats) {
    Peer& peer = *peer_of_.at(static_cast<std::size_t>(rank));
    Posted& posted = peer.letters[(peer.posted + 1) % most_letters];
    std::optional<std::size_t> buffer;
    wait_until(
        cluster_,
        [&] {
            collect_answers();
            buffer = free_buffer();
            return posted.answered && done(posted.request) && (buffer || floats.empty());
        },
        [&] { return whom(rank); });
    if (!floats.empty()) {
        const std::span outbox(
            reinterpret_cast<std::uint32_t*>(memory_.data() + outbox_at(*buffer)), floats.size());
        const Packed packed = pack(floats, outbox);
        letter.packing = packed.packing;
        letter.number = static_cast<std::int64_t>(packed.words);
        mpi_check(MPI_Win_sync(window_->handle()), "MPI_Win_sync");
        letter.buffer = static_cast<std::uint16_t>(*buffer);
        letter.floats = static_cast<std::uint32_t>(floats.size());
        posted.buffer = buffer;
    }
    posted.rank = rank;
    posted.number = ++peer.posted;
    posted.words = seal(letter, posted.number);
    posted.answered = false;
    posted.request = write(rank, mailbox_at(cluster_.rank(), posted.number), posted.words);
    unanswered_.push_back(&posted);
    return posted;
}

std::optional<std::size_t> MpiMailbox::free_buffer() const {
    for (std::size_t buffer = 0; buffer < buffers; ++buffer)
        if (std::ranges::none_of(unanswered_,
                                 [&](const Posted* posted) { return posted->buffer == buffer; }))
            return buffer;
    return {};
}

void MpiMailbox::collect_answers() {
    std::erase_if(unanswered_, [&](Posted* posted) {
        auto& words = *reinterpret_cast<Sealed<std::int64_t>*>(
            memory_.data() + answer_at(posted->rank, posted->number));
        const auto answer = unseal<std::int64_t>(words, posted->number);
        if (!answer) return false;
        posted->answer = *answer;
        posted->answered = true;
        posted->buffer.reset();
        return true;
    });
}

void MpiMailbox::serve() {
    // Changing a window may itself wait for a block, and so come here again.
    if (serving_) return;
    serving_ = true;
    open_parcels();
    read_letters();
    serving_ = false;
}

MpiMailbox::Parcel* MpiMailbox::free_parcel() {
    const auto parcel = std::ranges::find(parcels_, nullptr, &Parcel::from);
    return parcel == parcels_.end() ? nullptr : &*parcel;
}

// Each time another rank's letters are read first: none is left out when places for floats are few.
void MpiMailbox::read_letters() {
    first_to_read_ = (first_to_read_ + 1) % peers_.size();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        Peer& peer = peers_[(first_to_read_ + i) % peers_.size()];
        while (Parcel* parcel = free_parcel()) {
            auto& words = *reinterpret_cast<Sealed<Letter>*>(memory_.data() +
                                                             mailbox_at(peer.rank, peer.read + 1));
            const auto letter = unseal<Letter>(words, peer.read + 1);
            if (!letter) break;
            const std::uint32_t number = ++peer.read;
            if (letter->kind == Kind::fetch_add) {
                NodeCounters& counters = *counters_.at(letter->object);
                reply(peer, number,
                      counters.fetch_add(cluster_.rank(), letter->place, letter->number));
                continue;
            }
            parcel->from = &peer;
            parcel->number = number;
            parcel->letter = *letter;
            const int count = static_cast<int>(letter->number);
            mpi_check(MPI_Rget(parcel->floats.data(), count, MPI_FLOAT, peer.rank,
                               static_cast<MPI_Aint>(outbox_at(letter->buffer)), count, MPI_FLOAT,
                               window_->handle(), &parcel->request),
                      "MPI_Rget");
        }
    }
}

void MpiMailbox::open_parcels() {
    for (auto& parcel : parcels_) {
        if (parcel.from == nullptr || !done(parcel.request)) continue;
        const Letter& letter = parcel.letter;
        NodeWindow& window = *windows_.at(letter.object);
        const auto floats = unpacked(parcel);
        if (letter.kind == Kind::add)
            window.add(cluster_.rank(), letter.place, letter.scale, floats);
        else
            window.put(cluster_.rank(), letter.place, floats);
        reply(*parcel.from, parcel.number, 0);
        parcel.from = nullptr;
    }
}

std::span<const float> MpiMailbox::unpacked(const Parcel& parcel) {
    const Letter& letter = parcel.letter;
    if (letter.packing == Packing::none) return std::span(parcel.floats).first(letter.floats);
    const auto bytes = std::as_bytes(std::span(parcel.floats));
    const std::span words(reinterpret_cast<const std::uint32_t*>(bytes.data()),
                          static_cast<std::size_t>(letter.number));
    const auto floats = std::span(unpacked_).first(letter.floats);
    unpack(letter.packing, words, floats);
    return floats;
}

void MpiMailbox::reply(Peer& peer, std::uint32_t number, std::int64_t value) {
    Reply& reply = peer.replies[number % most_letters];
    // The one before it in this place has arrived, since a letter followed it.
    mpi_wait(cluster_, reply.request, fmt::format("rank {} to be answered", peer.rank));
    reply.words = seal(value, number);
    reply.request = write(peer.rank, answer_at(cluster_.rank(), number), reply.words);
}

}  // namespace wasp
