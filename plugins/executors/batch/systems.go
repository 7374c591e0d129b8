package batch

// texts are the options that a batch system determines: commands as templates, and regular
// expressions that read what they print.
type texts struct {
	Submit, Status, Cancel, List, Launch string
	ID, Pending, Running, Ended, Refused string
	Hosts, Listed                        string
}

// system is a batch system that the option system names.
type system string

// other is the system of users who give all commands themselves.
const other system = "other"

// systems are the commands of batch systems that are known, for the current versions of their
// manuals.
var systems = map[system]texts{
	// OpenPBS and PBS Professional.
	"pbs": {
		Submit: "qsub -N {name} -l select={nodes}:ncpus={cpu}{?:mem={memory}mb?}{?:ngpus={gpu}?} -l place=scatter " +
			"{?-l walltime={time}?} -j oe -o {log} {args} {script}",
		Status:  "qstat -f {id}",
		Cancel:  "qdel {id}",
		List:    "qselect -N {name}",
		ID:      `^\s*(\d+(?:\[\d*\])?[\w.-]*)\s*$`,
		Pending: `job_state = [QHWTM]\b`,
		Running: `job_state = [RSUBE]\b`,
		Ended:   `(?i)job_state = [FXC]\b|unknown job id|job has finished`,
		Refused: `(?i)job (?:exceeds|violates)|unknown (?:queue|resource)|illegal attribute|illegal -\w value|` +
			`bad uid|unauthorized|access (?:to|from) .*denied|queue is not enabled|invalid account`,
		Hosts: `exec_host = (\S+)`,
	},
	// IBM Spectrum LSF. The script is an argument: bjobs shows everybody what bsub reads from stdin.
	"lsf": {
		Submit: "bsub -J {name} -n {slots} -R span[ptile={cpu}] {?-M {memory}MB -R rusage[mem={memory}MB]?} " +
			"{?-gpu num={gpu}?} {?-W {minutes}?} -o {log} {args} /bin/sh {script}",
		Status:  `bjobs -noheader -o "stat exec_host delimiter=';'" {id}`,
		Cancel:  "bkill {id}",
		List:    "bjobs -noheader -J {name} -o jobid",
		ID:      `Job <(\d+)>`,
		Pending: `^\s*(?:PEND|PSUSP|WAIT|PROV)\b`,
		Running: `^\s*(?:RUN|USUSP|SSUSP|UNKWN)\b`,
		Ended:   `^\s*(?:DONE|EXIT|ZOMBI)\b|is not found|already finished`,
		Refused: `(?i)no such queue|request aborted by esub|cannot use the (?:queue|project)|` +
			`bad (?:resource|queue|project)|exceeds? .*limit|too many processors`,
		Hosts: `^\s*\w+;(\S+)`,
	},
	// Grid Engine: Son of, Open and Altair. Status asks for all jobs of the user at once.
	"sge": {
		Submit: "qsub -terse -N {name} -S /bin/sh -pe smp {cpu} {?-l h_vmem={memory_per_cpu}M?} {?-l gpu={gpu}?} " +
			"{?-l h_rt={time}?} -j y -o {log} {args} {script}",
		Status:  "qstat",
		Cancel:  "qdel {id}",
		List:    "qstat -j {name}",
		ID:      `^\s*(\d+)(?:\.\d+\S*)?\s*$`,
		Pending: `^\s*\d+\s+\S+\s+\S+\s+\S+\s+[hREd]*(?:q?w|w?q)\s`,
		Running: `^\s*\d+\s+\S+\s+\S+\s+\S+\s+[dhRstSTP]*[rtsST]\s`,
		Ended:   `(?i)does not exist|do not exist`,
		Refused: `(?i)unable to run job:.*(?:unknown resource|rejected|denied|no suitable queue|does not exist)|` +
			`requested parallel environment`,
		Hosts:  `\s\S+@(\S+)`,
		Listed: `^job_number:\s+(\d+)`,
	},
	// HTCondor. The script is sent with the job, so that it need not be an executable file.
	"condor": {
		Submit: "condor_submit -terse universe=vanilla executable=/bin/sh transfer_executable=false " +
			"arguments={script_name} transfer_input_files={script} should_transfer_files=YES batch_name={name} " +
			"output={log} error={log} request_cpus={cpu} {?request_memory={memory}?} {?request_gpus={gpu}?} " +
			"{?'periodic_remove=JobStatus == 2 && time() - EnteredCurrentStatus > {seconds}'?} {args} /dev/null " +
			"-queue 1",
		Status:  "condor_q {id} -af JobStatus RemoteHost",
		Cancel:  "condor_rm {id}",
		List:    `condor_q -constraint 'JobBatchName == "{name}"' -af ClusterId`,
		ID:      `^\s*(\d+)\.\d+`,
		Pending: `^\s*[15]\b`,
		Running: `^\s*[267]\b`,
		// It says nothing of jobs that have left the queue.
		Ended:   `^\s*[34]\b|(?i)couldn't find|not found|no jobs? (?:found|matching)|\A\z`,
		Refused: `(?i)submit(?:ting)? (?:is )?not allowed|requirement .*rejected|invalid (?:value|request)`,
		Hosts:   `^\s*\d\s+(?:\S+@)?(\S+)`,
	},
	"flux": {
		Submit: "flux batch --job-name={name} -N{nodes} -n{nodes} -c{cpu} {?-g{gpu}?} {?-t{minutes}m?} " +
			"--output={log} " +
			"{args} {script}",
		Status:  `flux jobs -n -o "{{status_abbrev}};{{nodelist}}" {id}`,
		Cancel:  "flux cancel {id}",
		List:    `flux jobs -n --name={name} -o "{{id.f58}}"`, // as batch and the job itself say it
		Launch:  "flux run -N{nodes} -n{nodes} -c{cpu} {?-g{gpu}?}",
		ID:      `^\s*(\S+)\s*$`,
		Pending: `^\s*(?:D|P|S|PD)\b`,
		Running: `^\s*(?:R|C|CG)\b`,
		Ended:   `^\s*(?:CD|F|CA|TO)\b|(?i)unknown job|jobid \S+ unknown|inactive|not found`,
		Refused: `(?i)unsatisfiable|exceeds .*limit|invalid (?:job|queue|bank)`,
		Hosts:   `;(\S+)`,
		Listed:  `^\s*(\S+)\s*$`,
	},
	other: {
		ID:      `(\d[\w.\[\]-]*)`,
		Pending: `(?i)\b(?:Q|PD|PEND|PENDING|QUEUED|WAITING|IDLE|CONFIGURING)\b`,
		Running: `(?i)\b(?:R|CG|RUN|RUNNING|COMPLETING)\b`,
		Ended: `(?i)\b(?:C|CD|CA|F|DONE|EXIT|ENDED|COMPLETED?|FINISHED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL)\b|` +
			`unknown job|invalid job|not found|does not exist`,
	},
}

// guesses are the systems of commands, by their first word.
var guesses = map[string]system{"qsub": "pbs", "bsub": "lsf", "condor_submit": "condor", "flux": "flux"}
