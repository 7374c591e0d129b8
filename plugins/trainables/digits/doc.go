// Package digits is a bundled trainable: real training, small enough for a first experiment, for
// examples and for tests. It needs nothing installed.
//
// A multilayer perceptron learns to read 1,797 handwritten digits of 8x8 pixels (README.md in this
// folder describes the data, its source and its licence). An epoch takes a few milliseconds. Good
// parameters reach an accuracy of 0.97 on validation images, and bad ones fail in all the usual
// ways: too slow, stuck, diverged.
//
// # Parameters
//
// All are optional; any other name is an error.
//
//	lr            learning rate, above 0                        0.1 (adam: 0.003)
//	momentum      of sgd, in [0, 1); adam ignores it            0.9
//	layers        hidden layers, 1 to 3                         1
//	units         neurons of each hidden layer, 1 to 1024       32
//	batch         images a step, 1 to 1024                      32
//	weight_decay  L2 penalty on weights, not on biases          0
//	dropout       share of hidden outputs dropped, in [0, 1)    0
//	activation    relu or tanh                                  relu
//	optimizer     sgd or adam                                   sgd
//	epochs        passes over the training images               27
//
// A search space that is worth searching:
//
//	lr:           {loguniform: [1e-4, 1.0]}
//	layers:       {int: [1, 3]}
//	units:        {int: [8, 128], log: true}
//	optimizer:    {choice: [sgd, adam]}
//	momentum:     {uniform: [0, 0.99], when: "optimizer == 'sgd'"}
//
// # Results
//
// One per epoch; the epoch is the result's iteration.
//
//	accuracy      share of the validation images read rightly
//	loss          mean cross-entropy on the validation images, in nats
//	train_loss    the same over the epoch's training steps
//
// A network that has diverged reports NaN for accuracy and loss, from the next epoch on for
// train_loss too, and continues. (Most rates that are too large make the network stop learning
// instead: accuracy stays near 0.1.)
//
// # Saving
//
// A checkpoint is one file: weights, the optimizer's moments, the epoch. All randomness comes from
// the trial's seed and the epoch's number, so that a run that continues from a checkpoint is bit by
// bit identical to an uninterrupted one, on the same kind of processor. Parameters may have changed
// (as in population based training), except layers and units.
//
// # Exporting
//
// The format json is one file, network.json: the layers' weights and biases as lists of numbers,
// which programs in any language can read.
package digits
