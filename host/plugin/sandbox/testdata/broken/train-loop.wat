;; Trains without end and never asks whether it is to stop.
(module (;include trainable.inc;)
  (func $train (loop (br 0))))
