;; Hands over a state that nobody wants.
(module (;include trainable.inc;)
  (func $train (drop (call $saved (i32.const 16) (i32.const 0)))))
