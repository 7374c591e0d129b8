module github.com/tunehost/tunehost

go 1.26
