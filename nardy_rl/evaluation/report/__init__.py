"""The report card of a trained bot: measured (`measure`), written as a page (`page`), drawn (`plots`)."""
