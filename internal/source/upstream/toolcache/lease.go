package toolcache

import (
	"encoding/json"
	"time"
)

// lease is the right of one holder to refresh a server.
type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// takeLease gives, renews or ends a lease in a file of leases. Those that are over go with it.
func takeLease(file []byte, server, holder string, d time.Duration, now time.Time) (next []byte, ok bool) {
	all := map[string]lease{}
	if json.Unmarshal(file, &all) != nil || all == nil {
		all = map[string]lease{} // a broken file holds nothing that a minute would not mend
	}
	for name, l := range all {
		if !now.Before(l.Until) {
			delete(all, name)
		}
	}
	l, held := all[server]
	switch {
	case held && l.Holder != holder:
	case d <= 0:
		delete(all, server)
		ok = true
	default:
		all[server] = lease{holder, now.Add(d).UTC()}
		ok = true
	}
	return encode(all), ok
}
