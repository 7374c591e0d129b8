"""The words that make a parameter of a map in the space of an experiment file, and are no names in it."""

FORMS = {
    "uniform",
    "loguniform",
    "int",
    "normal",
    "choice",
    "ordinal",
    "grid",
    "sample",
    "value",
    "when",
    "step",
    "log",
    "was",
}
