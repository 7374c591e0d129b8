package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// documented are the objects of the first YAML block of docs/KUBERNETES.md that has the text.
func documented(t testing.TB, has string) (objects []string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/KUBERNETES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.Contains(block, has) {
			return strings.Split(block, "---\n")
		}
	}
	t.Fatalf("docs/KUBERNETES.md has no block with %q", has)
	return nil
}

// account makes the service account of the documentation in a namespace of its own, with the rights that are
// documented, unless a test before has made it.
func (w *world) account(t testing.TB) {
	t.Helper()
	if w.accounted {
		return
	}
	w.accounted = true
	w.namespace(t, "ml")
	paths := map[string]string{"ServiceAccount": "/api/v1/namespaces/ml/serviceaccounts"}
	for _, kind := range []string{"Role", "RoleBinding"} {
		paths[kind] = rbac + "/namespaces/ml/" + strings.ToLower(kind) + "s"
	}
	for _, object := range documented(t, "kind: Role\n") {
		w.post(t, paths[kindOf(t, object)], object)
	}
}

// token is the path of a kubeconfig with a token of the service account.
func (w *world) token(t testing.TB) (config string) {
	t.Helper()
	made := w.post(t, "/api/v1/namespaces/ml/serviceaccounts/tunehost/token",
		"{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {expirationSeconds: 7200}}")
	var token struct{ Status struct{ Token string } }
	if err := json.Unmarshal(made, &token); err != nil {
		t.Fatal(err)
	}
	config = filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}],
users: [{name: u, user: {token: %q}}], contexts: [{name: c, context: {cluster: c, user: u, namespace: ml}}]}`,
		w.Server, filepath.Join(filepath.Dir(w.Config), "pki", "ca.crt"), token.Status.Token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

const rbac = "/apis/rbac.authorization.k8s.io/v1"

func kindOf(t testing.TB, object string) string {
	t.Helper()
	var o struct{ Kind string }
	if err := yaml.Unmarshal([]byte(object), &o); err != nil {
		t.Fatal(err)
	}
	return o.Kind
}

// The rights in the documentation are enough, and none of them can be left out: who lacks one reads which, in one line.
func testRights(t *testing.T, w *world) {
	w.account(t)
	config := w.token(t)
	executor := w.executor(", kubeconfig: " + config)
	dir := w.file(t, "rights", "trainable: {command: [echo, '{{\"loss\": 1}}']}\ntrials: 3\nconcurrency: 2\n"+
		"resources: {cpu: 0.1}\nexecutor: "+executor+"\n")
	w.run(t, dir, "run", "e.yaml")
	if n := w.ended(t, dir, "rights"); n != 3 {
		t.Errorf("%d trials ended well, want 3", n)
	}
	if out := w.run(t, dir, "doctor", "--executor", executor); strings.Contains(out, "2 nodes") {
		t.Errorf("the Role alone shows the nodes:\n%s", out)
	}
	role, whole := rbac+"/namespaces/ml/roles/tunehost", documented(t, "kind: Role\n")[1]
	user := w.user(t, config)
	for _, less := range lesser(t, documented(t, "kind: Role\n")) {
		w.put(t, role, less.object)
		until(t, "the user may not "+less.without, func() bool {
			return slices.Equal(user.cluster.missing(t.Context(), user.rights()), []string{less.without})
		})
		w.refuses(t, dir, executor, less.without)
	}
	// Clusters before the ones that exec by WebSocket know only the right to create.
	w.put(t, role, strings.Replace(whole, "verbs: [get, create]", "verbs: [create]", 1))
	until(t, "the user has all rights again", func() bool {
		return len(user.cluster.missing(t.Context(), user.rights())) == 0
	})
	w.run(t, dir, "doctor", "--executor", executor)
	w.put(t, role, whole)
	for _, object := range documented(t, "kind: ClusterRole\n") {
		w.post(t, rbac+"/"+strings.ToLower(kindOf(t, object))+"s", object)
	}
	until(t, "the ClusterRole shows the nodes", func() bool {
		return strings.Contains(w.run(t, dir, "doctor", "--executor", executor), "2 nodes")
	})
}

// user is an executor of the user of a kubeconfig.
func (w *world) user(t testing.TB, config string) *executor {
	t.Helper()
	o, err := read([]byte(`{"image": "x", "kubeconfig": "`+config+`"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(&o)
	if err != nil {
		t.Fatal(err)
	}
	return newExecutor(sdk.Execution{Agent: &sdk.Agent{}}, o, c, nil)
}

// refuses checks that doctor says in one line what the user may not do.
func (w *world) refuses(t testing.TB, dir, executor, what string) {
	t.Helper()
	out, err := w.command(dir, "doctor", "--executor", executor).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "this user may not "+what+" in the namespace ml; docs/KUBERNETES.md") && err != nil {
			return
		}
	}
	t.Errorf("without the right to %s: %v\n%s", what, err, out)
}

// lesserRole is the documented Role without one of its rights.
type lesserRole struct{ without, object string }

// lesser are the roles that lack one right each. Of the two ways to exec one is enough.
func lesser(t testing.TB, objects []string) (list []lesserRole) {
	t.Helper()
	at := slices.IndexFunc(objects, func(o string) bool { return kindOf(t, o) == "Role" })
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict([]byte(objects[at]), &role); err != nil {
		t.Fatal(err)
	}
	for i, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			if rule.Resources[0] == "pods/exec" && verb == "get" {
				continue
			}
			less := role.DeepCopy()
			less.Rules[i].Verbs = slices.DeleteFunc(less.Rules[i].Verbs, func(v string) bool { return v == verb })
			text, err := yaml.Marshal(less)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, lesserRole{verb + " " + rule.Resources[0], string(text)})
		}
	}
	if len(list) < 10 {
		t.Fatalf("the documented Role has %d rights", len(list))
	}
	return list
}

// namespace makes a namespace, and waits until pods can be created in it.
func (w *world) namespace(t testing.TB, name string) {
	t.Helper()
	w.post(t, "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	until(t, "the namespace has its service account", func() bool {
		path := "/api/v1/namespaces/" + name + "/serviceaccounts/default"
		return w.api.client.Get().AbsPath(path).Do(context.Background()).Error() == nil
	})
}

// post creates an object from YAML, and returns what the API server has stored.
func (w *world) post(t testing.TB, path, object string) []byte {
	t.Helper()
	return w.send(t, "POST", path, "application/yaml", object)
}

// put replaces an object.
func (w *world) put(t testing.TB, path, object string) {
	t.Helper()
	w.send(t, "PUT", path, "application/yaml", object)
}

// patch changes an object, as kubectl patch --type=json does.
func (w *world) patch(t testing.TB, path, patch string) {
	t.Helper()
	w.send(t, "PATCH", path, "application/json-patch+json", patch)
}

func (w *world) send(t testing.TB, verb, path, kind, object string) []byte {
	t.Helper()
	out, err := w.api.client.Verb(verb).AbsPath(path).SetHeader("Content-Type", kind).Body([]byte(object)).
		DoRaw(t.Context())
	if err != nil {
		t.Fatalf("%s %s: %v: %s", verb, path, err, out)
	}
	return out
}
