package find

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// foreignNames maps bundled plugins to their names in other tuners: Ray Tune, Optuna, Hyperopt, NNI, Katib,
// Ax and W&B sweeps, in lower case without separators.
var foreignNames = map[sdk.Kind]map[string]string{
	sdk.KindSearcher: {
		"tpe": "tpesampler hyperoptsearch hyperopt optunasearch bayesianoptimization multivariatetpe tpetuner",
		"gp": "bayes bayesian bayesoptsearch bayesopt skopt skoptsearch gpsampler botorchsampler axsearch ax gptuner " +
			"gaussianprocess " +
			"metistuner hebosearch",
		"random": "randomsearch randomsampler basicvariantgenerator randomtuner uniform",
		"grid":   "gridsearch gridsampler gridsearchtuner bruteforcesampler",
		"sobol":  "qmcsampler quasirandom halton",
		"cmaes":  "cmaessampler cma cmaessearch",
		"bohb":   "tunebohb bohbadvisor",
		"nsga2":  "nsgaiisampler nsga3 nsgaiiisampler nsgaii",
		"evolution": "nevergradsearch nevergrad evolutiontuner differentialevolution annealtuner smac smactuner " +
			"zooptsearch " +
			"flaml cfo blendsearch",
	},
	sdk.KindExecutor: {
		"batch": "pbs pbspro openpbs torque lsf sge uge gridengine condor htcondor flux qsub bsub",
		"slurm": "sbatch srun",
	},
	sdk.KindScheduler: {
		"asha": "ashascheduler asynchyperband asynchyperbandscheduler successivehalvingpruner sha successivehalving " +
			"asyncsuccessivehalving",
		"hyperband":  "hyperbandscheduler hyperbandpruner hyperbandadvisor",
		"bohb":       "hyperbandforbohb",
		"median":     "medianstop medianstoppingrule medianstopping medianpruner medianstopassessor percentilepruner",
		"patience":   "patientpruner earlystopping curvefittingassessor thresholdpruner",
		"wilcoxon":   "wilcoxonpruner",
		"pbt":        "populationbasedtraining pbttuner",
		"pb2":        "pb2scheduler populationbasedbandits",
		"pbt-replay": "populationbasedtrainingreplay",
		"fifo":       "fifoscheduler none noppruner nopruner",
		"resources":  "resourcechangingscheduler",
	},
}

// beside are plugins of tunehost that are not in the program, with the guides that say how to get them.
var beside = map[string]string{
	"optuna":     "plugins/searchers/optuna/README.md",
	"ray":        "docs/RAYCLUSTER.md",
	"kubernetes": "docs/KUBERNETES.md", "k8s": "docs/KUBERNETES.md",
}

// sources is where the sources of this program are.
const sources = "github.com/tunehost/tunehost"

// meant returns the bundled plugin that has this name elsewhere, or "".
func meant(kind sdk.Kind, name string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
	for ours, names := range foreignNames[kind] {
		if slices.Contains(strings.Fields(names), plain) || plain == strings.ReplaceAll(ours, "-", "") {
			return ours
		}
	}
	return ""
}
