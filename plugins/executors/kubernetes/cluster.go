package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
)

// reachWithin bounds the first requests; callWithin bounds each of the others.
const (
	reachWithin = 20 * time.Second
	callWithin  = 30 * time.Second
)

// cluster is the API server. It knows pods, secrets and nodes: the client library of all kinds would make
// the program twice as large.
type cluster struct {
	config    *rest.Config
	client    *rest.RESTClient
	namespace string
	params    runtime.ParameterCodec
}

// connect reads the configuration as kubectl does. It contacts nobody.
func connect(o *options) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = fromUser(o.Kubeconfig)
	for i, path := range rules.Precedence {
		rules.Precedence[i] = fromUser(path)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	overrides.Context.Namespace = cmp.Or(o.Namespace, o.template.Namespace)
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, unconfigured(loader, o.Context, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %s", oneLine(err.Error()))
	}
	return newCluster(config, namespace)
}

// unconfigured is the error for a configuration that names no cluster.
func unconfigured(loader clientcmd.ClientConfig, name string, err error) error {
	raw, unread := loader.RawConfig()
	name = cmp.Or(name, raw.CurrentContext)
	if unread != nil || len(raw.Contexts) == 0 || raw.Contexts[name] != nil {
		return fmt.Errorf("no Kubernetes cluster is configured: %s; set KUBECONFIG, or the option kubeconfig",
			oneLine(err.Error()))
	}
	lacks := fmt.Sprintf("context %q", name)
	if name == "" {
		lacks = "current context"
	}
	return fmt.Errorf("the kubeconfig has no %s; set the option context to one that it has: %s", lacks,
		strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "))
}

func newCluster(config *rest.Config, namespace string) (*cluster, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.QPS, config.Burst = 50, 200
	config.UserAgent = "tunehost-executor-kubernetes"
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %s", oneLine(err.Error()))
	}
	return &cluster{config, client, namespace, runtime.NewParameterCodec(scheme)}, nil
}

// check looks whether the API server answers, and whether this user may do there what the executor does.
func (e *executor) check(ctx context.Context) error {
	c := e.cluster
	err := c.client.Get().Namespace(c.namespace).Resource("pods").Param("limit", "1").Do(ctx).Error()
	if err != nil && !apierrors.IsForbidden(err) {
		return unanswered(c.config.Host, err)
	}
	if missing := c.missing(ctx, e.rights()); len(missing) > 0 {
		return errors.New(c.withoutRights(missing))
	}
	if err != nil {
		return errors.New(kubernetes("", words(err)+"; "+adviceOfRights))
	}
	return nil
}

// unanswered is the error for a first request that failed: the cluster is not there, or does not know this user.
func unanswered(host string, err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the Kubernetes cluster at %s does not accept the credentials of the kubeconfig: %s", host,
			words(err))
	case strings.Contains(err.Error(), "getting credentials"):
		return fmt.Errorf("no credentials for the Kubernetes cluster at %s: %s", host, words(err))
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of the Kubernetes cluster at %s is not one that the kubeconfig trusts: %v",
			host, certificate.Err)
	}
	return fmt.Errorf("the Kubernetes cluster at %s does not answer: %s", host, words(err))
}

// seesNodes reports whether this user may list the nodes and all pods.
func (c *cluster) seesNodes(ctx context.Context) bool {
	return c.client.Get().Resource("nodes").Param("limit", "1").Do(ctx).Error() == nil &&
		c.client.Get().Resource("pods").Param("limit", "1").Do(ctx).Error() == nil
}

// words are what the API server says, in one line.
func words(err error) string {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return oneLine(status.ErrStatus.Message)
	}
	return oneLine(err.Error())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// watch lists the pods with the label and watches them.
func (c *cluster) watch(selector string) *cache.ListWatch {
	return cache.NewFilteredListWatchFromClient(c.client, "pods", c.namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = selector, fields.Everything().String()
	})
}

func (c *cluster) pods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := c.call(ctx, c.client.Get().Namespace(c.namespace).Resource("pods").Param("labelSelector", selector), &list)
	return list.Items, err
}

func (c *cluster) secrets(ctx context.Context, selector string) ([]corev1.Secret, error) {
	var list corev1.SecretList
	r := c.client.Get().Namespace(c.namespace).Resource("secrets").Param("labelSelector", selector)
	err := c.call(ctx, r, &list)
	return list.Items, err
}

func (c *cluster) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	p := &corev1.Pod{}
	return p, c.call(ctx, c.client.Get().Namespace(c.namespace).Resource("pods").Name(name), p)
}

// create creates an object, and returns it as the API server has made it.
func (c *cluster) createPod(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	made := &corev1.Pod{}
	return made, c.call(ctx, c.client.Post().Namespace(c.namespace).Resource("pods").Body(p), made)
}

func (c *cluster) createSecret(ctx context.Context, s *corev1.Secret) error {
	return c.call(ctx, c.client.Post().Namespace(c.namespace).Resource("secrets").Body(s), &corev1.Secret{})
}

// own makes a secret go with the pods.
func (c *cluster) own(ctx context.Context, secret string, patch []byte) error {
	return c.call(ctx, c.client.Patch(types.MergePatchType).Namespace(c.namespace).Resource("secrets").Name(secret).
		Body(patch), &corev1.Secret{})
}

// remove deletes an object; one that is gone is no error. Pods have so many seconds to end.
func (c *cluster) remove(ctx context.Context, resource, name string, uid types.UID, grace int64) error {
	o := &metav1.DeleteOptions{}
	if resource == "pods" {
		o.GracePeriodSeconds = &grace
	}
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	err := c.client.Delete().Namespace(c.namespace).Resource(resource).Name(name).Body(o).Do(ctx).Error()
	if apierrors.IsNotFound(err) || uid != "" && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (c *cluster) call(ctx context.Context, r *rest.Request, into runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	return r.Do(ctx).Into(into)
}

// exec runs a command in the container of trials.
func (c *cluster) exec(ctx context.Context, pod string, command []string, in io.Reader, out, errs io.Writer) error {
	url := c.client.Post().Namespace(c.namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(
		&corev1.PodExecOptions{Container: container, Command: command, Stdin: in != nil, Stdout: out != nil,
			Stderr: errs != nil}, c.params).URL()
	web, err := remotecommand.NewWebSocketExecutor(c.config, "GET", url.String())
	if err != nil {
		return err
	}
	old, err := remotecommand.NewSPDYExecutor(c.config, "POST", url)
	if err != nil {
		return err
	}
	both, err := remotecommand.NewFallbackExecutor(web, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	return both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: errs})
}
