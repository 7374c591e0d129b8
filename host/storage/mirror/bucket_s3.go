//go:build s3

package mirror

import _ "gocloud.dev/blob/s3blob" // s3://
