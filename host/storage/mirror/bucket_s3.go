package mirror

import _ "gocloud.dev/blob/s3blob" // s3://
