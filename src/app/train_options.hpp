/// The one table of what `wasp train` can be told.
#pragma once

#include "app/train_config.hpp"
#include "option_table.hpp"

namespace wasp {

/// Rows bound to `config`, which holds the defaults and outlives the table.
OptionTable train_options(TrainConfig& config);

}  // namespace wasp
