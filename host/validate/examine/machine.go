package examine

import (
	"context"
	"time"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/local"
)

// detectWithin bounds the search for the resources of this machine.
const detectWithin = 15 * time.Second

// Here says what this machine has.
func Here() []Finding {
	ctx, cancel := context.WithTimeout(context.Background(), detectWithin)
	defer cancel()
	node, warning := local.Detect(ctx)
	list := []Finding{{What: "machine", Text: offers(node)}}
	if warning != "" {
		list = append(list, Finding{What: "gpu", Text: warning, Bad: true})
	}
	if err := local.Limits(); err != nil { // no experiment starts
		list = append(list, Finding{What: "limits", Text: err.Error(), Bad: true})
	}
	return list
}

func offers(n local.Node) string {
	text := n.String()
	if b, err := resource.ParseBundle(text); err == nil {
		text = b.String()
	}
	if len(n.GPUs) > 0 && n.GPUs[0].Model != "" {
		text += " (" + n.GPUs[0].Model + ")"
	}
	return text
}
