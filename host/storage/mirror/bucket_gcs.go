//go:build gcs

package mirror

import _ "gocloud.dev/blob/gcsblob" // gs://
