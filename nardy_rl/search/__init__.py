"""Beyond the bare network: look-ahead over the rolls to come, and tables of the bear-off."""
