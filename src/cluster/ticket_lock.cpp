#include "cluster/ticket_lock.hpp"

#include <fmt/format.h>

namespace wasp {

TicketLock::TicketLock(Cluster& cluster, std::string_view what)
    : cluster_(cluster), what_(what), counters_(cluster.make_counters(counters)) {}

std::int64_t TicketLock::enter(const Progress& progress) {
    const std::int64_t ticket = counters_->fetch_add(keeper, tickets, 1);
    wait_until(
        cluster_, [&] { return served() == ticket; },
        [&] { return fmt::format("{} {}(s) before mine", ticket - served(), what_); },
        progress ? progress : [this] { return served(); });
    return ticket;
}

void TicketLock::leave() {
    counters_->fetch_add(keeper, served_tickets, 1);
}

void TicketLock::go_on_from(std::int64_t served_so_far) {
    counters_->fetch_add(keeper, served_tickets, served_so_far - served());
}

std::int64_t TicketLock::served() {
    return counters_->read(keeper, served_tickets);
}

}  // namespace wasp
