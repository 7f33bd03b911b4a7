package kerneltest

import (
	"math/rand/v2"
	"regexp"
	"time"
)

var idPattern = regexp.MustCompile(`^\d{14}-[0-9a-z]{7}$`)

// validID reports whether id has the form yyyyMMddHHmmss-xxxxxxx.
func validID(id string) bool { return idPattern.MatchString(id) }

// stamp is a time as the kernel writes it into ids and the updated attribute.
func stamp(t time.Time) string { return t.Format("20060102150405") }

// newID makes an id that was never given out.
func (k *Kernel) newID() string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	for {
		tail := make([]byte, 7)
		for i := range tail {
			tail[i] = digits[rand.IntN(len(digits))]
		}
		id := stamp(time.Now()) + "-" + string(tail)
		if !k.ids[id] {
			k.ids[id] = true
			return id
		}
	}
}

// idTime is the time an id was made at; malformed ids are as old as the hills.
func idTime(id string) time.Time {
	if len(id) < 14 {
		return time.Time{}
	}
	t, err := time.ParseInLocation("20060102150405", id[:14], time.Local)
	if err != nil {
		return time.Time{}
	}
	return t
}
