package mirror

import _ "gocloud.dev/blob/fileblob" // file://
