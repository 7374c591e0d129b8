//go:build azure

package mirror

import _ "gocloud.dev/blob/azureblob" // azblob://
