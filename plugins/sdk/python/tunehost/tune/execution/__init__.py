"""Ray Tune's package of the same name, as far as scripts import from it."""
