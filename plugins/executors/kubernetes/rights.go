package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// right is something that this executor does in its namespace. The Role in docs/KUBERNETES.md has all of them.
type right struct{ verb, resource, subresource string }

// String is the right in words, such as "create pods/exec".
func (r right) String() string {
	if r.subresource == "" {
		return r.verb + " " + r.resource
	}
	return r.verb + " " + r.resource + "/" + r.subresource
}

// rights are those that the options need.
func (e *executor) rights() (list []right) {
	for _, verb := range []string{"get", "list", "watch", "create", "delete"} {
		list = append(list, right{verb, "pods", ""})
	}
	if e.x.Agent == nil {
		return list
	}
	for _, verb := range []string{"list", "create", "patch", "delete"} {
		list = append(list, right{verb, "secrets", ""})
	}
	if e.Program == "" || e.way() == exec {
		list = append(list, right{"create", "pods", "exec"})
	}
	return list
}

// missing are the rights that the user does not have. One that the API server does not tell about counts as had: the
// request that needs it has the server's own message.
func (c *cluster) missing(ctx context.Context, rights []right) (missing []string) {
	refused := make([]bool, len(rights))
	var all sync.WaitGroup
	for i, r := range rights {
		all.Go(func() { refused[i] = c.refuses(ctx, r) })
	}
	all.Wait()
	for i, r := range rights {
		if refused[i] {
			missing = append(missing, r.String())
		}
	}
	return missing
}

// refuses reports whether the API server says that the user does not have a right.
func (c *cluster) refuses(ctx context.Context, r right) bool {
	review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: c.namespace, Verb: r.verb,
			Resource: r.resource, Subresource: r.subresource}}}
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	text, err := json.Marshal(review)
	if err != nil {
		return false
	}
	text, err = c.client.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").
		SetHeader("Content-Type", "application/json").Body(text).DoRaw(ctx)
	return err == nil && json.Unmarshal(text, &review) == nil && !review.Status.Allowed
}

const adviceOfRights = "docs/KUBERNETES.md has the Role that tunehost needs"

// withoutRights is the message for a user who lacks rights.
func (c *cluster) withoutRights(missing []string) string {
	return kubernetes("", "this user may not "+strings.Join(missing, ", ")+" in the namespace "+c.namespace+"; "+
		adviceOfRights)
}
