package process

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// PROTOCOL.md quotes the messages for users.
func TestProtocolQuotes(t *testing.T) {
	b, err := os.ReadFile("../../../plugins/sdk/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, quote := range []string{
		strings.Replace(msgNoHandshake, "%q", `"…"`, 1),
		fmt.Sprintf(msgNewer, 2, 1), fmt.Sprintf(msgOlder, 0, 1), fmt.Sprintf(msgNetwork, "tcp"),
		fmt.Sprintf(msgNotGRPC, "netrpc"), msgNoCert, errLongHandshake.Error(), serve.CookieKey, serve.CookieValue,
	} {
		if !strings.Contains(string(b), quote) {
			t.Errorf("PROTOCOL.md does not quote %q", quote)
		}
	}
}
