/// The one table of what `wasp train` can be told.
#pragma once

#include "app/train_config.hpp"
#include "option_table.hpp"

namespace wasp {

/// Rows bound to `config`, which holds the defaults and outlives the table.
OptionTable train_options(TrainConfig& config);

/// The row of --shard-bytes.   bytes: 0: auto.
void add_shard_bytes(OptionTable& table, std::int64_t& bytes);

}  // namespace wasp
