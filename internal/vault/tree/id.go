package tree

import (
	"crypto/sha256"
	"strings"
	"time"

	"collie/internal/siyuanapi"
)

// ValidID reports whether id has the form yyyyMMddHHmmss-xxxxxxx.
func ValidID(id string) bool { return siyuanapi.ID(id).Valid() }

// Stamp formats a time as in ids and in the attribute updated: local time, yyyyMMddHHmmss.
func Stamp(t time.Time) string { return t.Format("20060102150405") }

// RandomID returns an id with the current time. The caller checks that it is free.
func RandomID() string { return string(siyuanapi.NewID()) }

// DerivedID returns an id that is always the same for the same arguments. Its time is that of from, if from is an id.
func DerivedID(from string, parts ...string) string {
	sum := sha256.Sum256([]byte(from + "\x00" + strings.Join(parts, "\x00")))
	tail := make([]byte, 7)
	for i := range tail {
		tail[i] = siyuanapi.IDDigits[int(sum[i])%len(siyuanapi.IDDigits)]
	}
	stamp := "20000101000000"
	if ValidID(from) {
		stamp = from[:14]
	}
	return stamp + "-" + string(tail)
}

// IDTime returns the time in an id, the zero time for a malformed one.
func IDTime(id string) time.Time {
	if len(id) < 14 {
		return time.Time{}
	}
	t, err := time.ParseInLocation("20060102150405", id[:14], time.Local)
	if err != nil {
		return time.Time{}
	}
	return t
}
