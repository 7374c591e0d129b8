// Package evolution suggests points by regularised evolution: it draws a few of the most recent
// trials and changes one parameter of the best of them. It only requires that values can be
// changed, so it works where models do not fit: many choices, deep conditions, hundreds of
// parameters.
//
// The method is that of E. Real and others, Regularized Evolution for Image Classifier Architecture
// Search (2019): the population consists of the most recent trials, whatever their results, so that
// a lucky result does not dominate for ever. Until enough trials have ended, points are drawn at
// random.
//
// A choice changes to another category. A number moves by a normally distributed step in the unit
// coordinate, reflected at the ends, or by its smallest step if nothing would change; one in ten is
// drawn again. Parameters that exist because of the change are drawn at random; the others keep
// their values. Failed trials and those without a finite loss lose every comparison; if none of
// the few has one, the point is random. A failed trial that runs again counts by its result, as the
// most recent one. With several objectives the winner is drawn from the trials that no other of the
// few dominates. A child that was suggested before is replaced by another one, also in infinite spaces: a change of a
// choice often brings back a point.
package evolution
