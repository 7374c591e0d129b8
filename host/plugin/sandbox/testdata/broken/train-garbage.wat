;; Reports bytes that are no message.
(module (;include trainable.inc;)
  (data (i32.const 32) "\ff\ff\ff")
  (func $train (drop (call $report (i32.const 32) (i32.const 3)))))
