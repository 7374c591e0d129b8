package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// reportPage has a policy that allows its own script and style, and no request.
const reportPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; ` +
	`img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tunehost report</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
<body>
<div id="app"></div>
<noscript>The report needs JavaScript.</noscript>
<script type="application/gzip;base64" id="data">%s</script>
<script>%s</script>
</body>
</html>
`

// Report returns the dashboard as one page that has its data inside, as class Embedded of src/source.ts reads them.
func Report(data []byte) ([]byte, error) {
	script, err := File(Script)
	if err != nil {
		return nil, err
	}
	style, err := File(Style)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{script, style} {
		if text := bytes.ToLower(part); bytes.Contains(text, []byte("</s")) || bytes.Contains(text, []byte("<!--")) {
			return nil, fmt.Errorf("the dashboard's bundle cannot be in a page: it has %q or %q", "</s", "<!--")
		}
	}
	text, err := compressed(data)
	return fmt.Appendf(nil, reportPage, hashOf(script), hashOf(style), style, text, script), err
}

// compressed returns data in letters that mean nothing in HTML.
func compressed(data []byte) (string, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
