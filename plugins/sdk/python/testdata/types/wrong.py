"""Mistakes that a type checker finds: one in each line below the imports."""

import tunehost
from tunehost import tune

tune.TuneConfig(num_sample=3)
tune.Tuner(print, params={})
tune.uniform("a", 1)
tunehost.minimize(lambda p: "text", {}, trials="many")
tunehost.AskTell({}, metrics="loss")
