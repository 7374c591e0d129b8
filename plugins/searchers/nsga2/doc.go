// Package nsga2 suggests points by the genetic algorithm NSGA-II, for problems with
// two or three objectives and many trials.
//
// The method is that of K. Deb and others, A Fast and Elitist Multiobjective Genetic
// Algorithm: NSGA-II (2002): parents are chosen by tournaments of two, in which the
// better front wins, then the less crowded trial; a child has its numbers from both by simulated binary
// crossover, its choices from either, and some of its parameters are
// mutated.
//
// There are no generations to wait for, so that trials may end in any order, as many at
// a time as one likes: each trial that ends well joins the population, and then the
// worst of all leaves it, which is the most crowded one of the last front. That also finds better
// fronts (J. J. Durillo and others, On the Effect of the Steady-State Selection
// Scheme in Multi-Objective Genetic Algorithms, 2009). Numbers are crossed and mutated
// in unit coordinates. Conditions are respected: what comes to exist is taken from the other parent, if it has
// it, or drawn. Failed trials and those without finite losses do not join.
//
// With one objective it is a plain genetic algorithm; cmaes and tpe are better then.
package nsga2
