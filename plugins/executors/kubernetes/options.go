package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// options are what the user says of the pods.
type options struct {
	Image          string
	Namespace      string
	Context        string
	Kubeconfig     string
	Template       json.RawMessage
	Labels         map[string]string
	Annotations    map[string]string
	ServiceAccount string
	NodeSelector   map[string]string
	Tolerations    []json.RawMessage
	GPU            string
	Memory         float64
	Time           float64
	Notice         float64
	Within         float64
	Program        string
	Cache          string
	Connection     way

	given
}

// given is what becomes of the options.
type given struct {
	dir         string // of the experiment; "": none
	template    template
	tolerations []corev1.Toleration
	warnings    []string
}

// way is how agents and the host reach each other.
type way string

const (
	dial way = "dial"
	exec way = "exec"
)

// maxSeconds bounds durations: a year.
const maxSeconds = 365 * 24 * 3600

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.String("image", &o.Image, "",
			"The container image of trials, with a shell. It may be in the template instead."),
		option.String("namespace", &o.Namespace, "",
			"The namespace of the pods. Empty: that of the template, of the context, or of the pod in which tunehost "+
				"runs."),
		option.String("context", &o.Context, "", "The context of the kubeconfig. Empty: the current one."),
		option.String("kubeconfig", &o.Kubeconfig, "",
			"The path of a kubeconfig. Empty: kubectl's own rules: KUBECONFIG, ~/.kube/config, or the service account "+
				"of the pod in which tunehost runs."),
		option.Of("template", &o.Template, json.RawMessage(`""`), option.Raw("string", "object"),
			"A pod that tunehost's pods are merged into, as kubectl patch does: a YAML file, from where tunehost is "+
				"started, or the pod itself. The container of trials has the name trial."),
		option.Of("labels", &o.Labels, nil, option.Map(option.Text()),
			"Labels of the pods, such as kueue.x-k8s.io/queue-name. {lease} stands for the name of the pod's lease, "+
				"{pods} for the number of its pods."),
		option.Of("annotations", &o.Annotations, nil, option.Map(option.Text()), "Annotations of the pods, as labels."),
		option.String("service_account", &o.ServiceAccount, "",
			"The service account of the pods. Empty: the namespace's default, without its token in the pod."),
		option.Of("node_selector", &o.NodeSelector, nil, option.Map(option.Text()), "Labels that nodes must have."),
		option.Of("tolerations", &o.Tolerations, nil, option.List(option.Raw("object")),
			"Taints that pods tolerate, as in a pod, such as {key: nvidia.com/gpu, operator: Exists}."),
		option.Of("gpu", &o.GPU, "nvidia.com/gpu", option.NonEmpty(), "The resource of Kubernetes that a GPU is."),
		option.Float("memory_gib", &o.Memory, 0, option.From(0),
			"GiB of memory of each bundle that requests none; 0: the namespace's default."),
		option.Float("time", &o.Time, 0, option.From(0).To(maxSeconds),
			"Seconds for which a pod lives at most (activeDeadlineSeconds), 60 or more; trials continue in another "+
				"one. 0: no limit."),
		option.Float("notice", &o.Notice, 30, option.From(1).To(86400),
			"Seconds that trials have to save and leave when a pod is evicted, preempted or deleted, or its time ends "+
				"(terminationGracePeriodSeconds)."),
		option.Float("within", &o.Within, 30, option.Above(0).To(86400),
			"Seconds after which a lease of several bundles is given up, and tried again later, if only some of them "+
				"have a node."),
		option.String("program", &o.Program, "",
			"The path of the tunehost program in the image. Empty: it is copied into each pod."),
		option.String("cache", &o.Cache, "",
			"A folder of the nodes (hostPath) that keeps the tunehost program, so that it is copied once to each "+
				"node. Empty: none."),
		option.Enum("connection", &o.Connection, exec,
			"How host and agents reach each other: exec (through the API server, as kubectl exec does) or dial (pods "+
				"connect to the host, as they can if it runs in the cluster).", exec, dial),
	}
})

// read reads the options of an experiment. Dir is its directory, or "".
func read(text []byte, dir string) (options, error) {
	o, err := declared.Read(text)
	if err != nil {
		return o, err
	}
	o.dir = dir
	for _, check := range []func() error{o.readTemplate, o.readTolerations, o.checkPaths, o.checkTimes,
		o.checkNamespace, o.checkLabels, o.checkAnnotations, o.checkImage} {
		if err := check(); err != nil {
			return o, err
		}
	}
	return o, o.keepTemplate()
}

// fromUser is a path that is relative to where the user has started tunehost, or to the home directory: a plugin
// starts in its own folder, and no shell sees what is in a file.
func fromUser(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[2:])
	}
	return filepath.Join(os.Getenv("PWD"), path)
}

func (o *options) readTolerations() error {
	for _, text := range o.Tolerations {
		var t corev1.Toleration
		if err := yaml.UnmarshalStrict(text, &t); err != nil {
			return option.Wrong("tolerations", text, "a toleration of a pod: %s", briefly(err))
		}
		o.tolerations = append(o.tolerations, t)
	}
	return nil
}

func (o *options) checkPaths() error {
	for name, path := range map[string]string{"program": o.Program, "cache": o.Cache} {
		if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\x00\n")) {
			return option.Wrong(name, path, "an absolute path")
		}
	}
	if o.Program != "" && o.Cache != "" {
		return option.Wrong("cache", o.Cache, "empty: with program, nothing is copied")
	}
	return nil
}

// leastTime is the shortest life of a pod in which trials get somewhere.
const leastTime = 60

// checkTimes checks how long pods live, which the template may say instead.
func (o *options) checkTimes() error {
	what, life := "time", o.Time
	if d := o.template.Spec.ActiveDeadlineSeconds; life == 0 && d != nil {
		what, life = "activeDeadlineSeconds of the template", float64(*d)
		if life < leastTime {
			return option.Wrong("template", o.Template, "activeDeadlineSeconds of at least %d, and not %v", leastTime,
				life)
		}
	}
	switch {
	case life == 0:
		return nil
	case life < leastTime:
		return option.Wrong("time", o.Time, "at least %d", leastTime)
	case o.Notice >= life:
		return option.Wrong("notice", o.Notice, "less than %s, which is %v", what, life)
	}
	return nil
}

// checkNamespace refuses two namespaces, as kubectl does.
func (o *options) checkNamespace() error {
	if own := o.template.Namespace; own != "" && o.Namespace != "" && own != o.Namespace {
		return option.Wrong("namespace", o.Namespace, "%s, which the template has as metadata.namespace; leave one of "+
			"them out", own)
	}
	return nil
}

// checkLabels refuses what would hide pods from this executor, and what the API server would refuse of all pods.
func (o *options) checkLabels() error {
	for key, value := range o.Labels {
		if strings.HasPrefix(key, domain) || key == managedBy {
			return option.Wrong("labels", key, "other labels; tunehost sets this one itself")
		}
		full := strings.NewReplacer("{lease}", "th", "{pods}", "1").Replace(value)
		if bad := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(full)...); len(bad) > 0 {
			return option.Wrong("labels", key+": "+value, "a label: %s", bad[0])
		}
	}
	return nil
}

// checkAnnotations refuses those by which this executor knows its pods.
func (o *options) checkAnnotations() error {
	for key := range o.Annotations {
		if strings.HasPrefix(key, domain) {
			return option.Wrong("annotations", key, "other annotations; tunehost sets this one itself")
		}
	}
	return nil
}

// checkImage refuses pods without an image.
func (o *options) checkImage() error {
	if o.Image != "" || slices.ContainsFunc(o.template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == container && c.Image != ""
	}) {
		return nil
	}
	return option.Wrong("image", o.Image, "the image of trials, such as python:3.12, here or in the template (of the "+
		"container %s)", container)
}

func (o *options) notice() time.Duration { return seconds(o.Notice) }

func (o *options) within() time.Duration { return seconds(o.Within) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
