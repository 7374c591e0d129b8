// Package evolution suggests points by regularised evolution: the best of a few
// trials, drawn from those that ended last, is changed in one parameter. It asks
// nothing of the space but that values can be changed, so it does where models
// do not fit: many choices, deep conditions, hundreds of parameters.
//
// The method is that of E. Real and others, Regularized Evolution for Image
// Classifier Architecture Search (2019): the population is the last trials, whatever
// their result, so that a lucky result is not inherited from for ever. Until
// a population has ended, points are drawn at random.
//
// A choice is changed to another one. A number is moved by a step that is normally
// distributed in the unit coordinate, reflected at the ends, or by its smallest step if that would change
// nothing; one in ten is drawn anew. Parameters that come to exist by the change are
// drawn at random, those that are left keep their value. Failed trials and those without a finite loss lose every comparison; with several objectives the winner is drawn from those that no other of the few
// dominates.
package evolution
