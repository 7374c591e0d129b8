"""Callbacks of libraries with Ray Tune's names and arguments. tunehost.integrations has those for new code."""
