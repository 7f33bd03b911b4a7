package natsstore

import (
	"net/url"
	"strconv"
	"strings"

	"collie/internal/tool"
)

// defaultBucket is used where the address names none.
const defaultBucket = "collie-toolcache"

// address is where the bucket is. Its servers may hold secrets.
type address struct {
	servers []string
	shown   string // the same without secrets
	bucket  string
}

func parse(where string) (a address, err error) {
	a.bucket = defaultBucket
	var shown []string
	for one := range strings.SplitSeq(where, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil: // which repeats the address, and what secret may be in it
			return address{}, wrong("the address is not a URL")
		case u.Scheme != "nats" && u.Scheme != "tls":
			return address{}, wrong("the address has the scheme " + strconv.Quote(u.Scheme) + ", expected nats or tls")
		case u.Host == "":
			return address{}, wrong("the address names no host")
		case u.RawQuery != "" || u.Fragment != "":
			return address{}, wrong("the address has a query or fragment")
		}
		if path := strings.Trim(u.Path, "/"); path != "" {
			a.bucket = path
		}
		u.Path, u.RawPath = "", ""
		a.servers = append(a.servers, u.String())
		u.User = nil
		shown = append(shown, u.String())
	}
	a.shown = strings.Join(shown, ",")
	return a, checkBucket(a.bucket)
}

func checkBucket(name string) error {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !ok(r) }) < 0 {
		return nil
	}
	return wrong("the bucket " + strconv.Quote(name) + " has other characters than letters, digits, - and _")
}

func wrong(message string) error {
	return &tool.Error{
		Op: "open shared tool cache", Kind: tool.Invalid, Message: message,
		Hint: "give the address of the NATS server, such as nats://nats.example:4222, or nats://nats.example:4222/my-bucket",
	}
}
