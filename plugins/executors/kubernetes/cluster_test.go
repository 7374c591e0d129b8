package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// kubeconfig has a context for each mistake. Its cluster is the test's.
const kubeconfig = `
apiVersion: v1
kind: Config
clusters:
- {name: here, cluster: {server: SERVER, insecure-skip-tls-verify: true}}
- {name: other, cluster: {server: SERVER}}
- {name: down, cluster: {server: "https://127.0.0.1:1"}}
users:
- {name: me, user: {token: old}}
- name: login
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-login, interactiveMode: Never}}
contexts:
- {name: expired, context: {cluster: here, user: me}}
- {name: login, context: {cluster: here, user: login}}
- {name: other, context: {cluster: other, user: me}}
- {name: down, context: {cluster: down, user: me}}
current-context: CURRENT
`

// What is wrong with a kubeconfig is said in one line that names it: a context that it has not, credentials that the
// cluster refuses, a certificate that it does not know.
func TestKubeconfigs(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "Unauthorized",
			"reason": "Unauthorized", "code": 401}`))
	}))
	t.Cleanup(server.Close)
	has := "set the option context to one that it has: down, expired, login, other"
	for _, c := range []struct{ current, context, want string }{
		{"expired", "nope", `the kubeconfig has no context "nope"; ` + has},
		{"nowhere", "", `the kubeconfig has no context "nowhere"; ` + has},
		{`""`, "", "the kubeconfig has no current context; " + has},
		{"expired", "", "does not accept the credentials of the kubeconfig: Unauthorized"},
		{"expired", "login", "no credentials for the Kubernetes cluster at"},
		{"expired", "other", "is not one that the kubeconfig trusts"},
		{"expired", "down", "does not answer"},
	} {
		path := filepath.Join(t.TempDir(), "config")
		text := strings.NewReplacer("SERVER", server.URL, "CURRENT", c.current).Replace(kubeconfig)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		options := `{"image": "x", "kubeconfig": "` + path + `", "context": "` + c.context + `"}`
		_, _, err := open(sdk.Execution{}, []byte(options), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("current context %s, option context %q: %v, want %q", c.current, c.context, err, c.want)
		}
	}
}
