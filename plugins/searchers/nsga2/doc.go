// Package nsga2 suggests points by the genetic algorithm NSGA-II, for problems with two or three
// objectives and many trials.
//
// The method is that of K. Deb and others, A Fast and Elitist Multiobjective Genetic Algorithm:
// NSGA-II (2002). Parents are chosen by tournaments of two, won by the better front, then by the
// less crowded trial. A child gets its numbers from both parents by simulated binary crossover and
// its choices from either, and some of its parameters are mutated.
//
// There are no generations, so trials may end in any order, with any number in parallel. Each
// successful trial joins the population, and then the worst one leaves it: the most crowded trial
// of the last front. This also finds better fronts (J. J. Durillo and others, On the Effect of the
// Steady-State Selection Scheme in Multi-Objective Genetic Algorithms, 2009). Numbers are crossed
// and mutated in unit coordinates. Conditions are respected: a parameter that comes to exist is
// copied from the other parent, or drawn. Failed trials and those without finite losses do not
// join, until they run again and have some.
//
// A child that was suggested before is replaced by another one, also in infinite spaces: a child of equal parents
// that is not mutated is one of them.
//
// With one objective it is a plain genetic algorithm; then cmaes and tpe are better.
package nsga2
