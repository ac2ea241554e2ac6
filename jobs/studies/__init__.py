"""Studies: many runs of `wasp train` from one small TOML file. See jobs/study."""
