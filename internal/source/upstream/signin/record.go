package signin

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// record is what is stored of a sign-in, under the digest of issuer, resource and client id.
type record struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`

	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	ClientAuth   string    `json:"clientAuth"`             // how it shows itself: none, basic or post
	ClientEnds   time.Time `json:"clientEnds,omitzero"`    // when the secret does
	Registered   bool      `json:"registered,omitempty"`   // by us, for Redirect
	Doubtful     bool      `json:"doubtful,omitempty"`     // the client may be unknown there by now
	Redirect     string    `json:"redirect"`               // where the callback was
	TokenURL     string    `json:"tokenUrl"`               //
	RevokeURL    string    `json:"revokeUrl,omitempty"`    // empty if not offered
	Inside       bool      `json:"inside,omitempty"`       // addresses of private networks are fine
	AccessToken  string    `json:"accessToken,omitempty"`  //
	RefreshToken string    `json:"refreshToken,omitempty"` //
	Expiry       time.Time `json:"expiry,omitzero"`        // of AccessToken; zero is unknown
	Scopes       []string  `json:"scopes,omitempty"`       // granted
	Wanted       []string  `json:"wanted,omitempty"`       // asked for by the server since
	Subject      string    `json:"subject,omitempty"`      // who signed in
	Login        string    `json:"login"`                  // random; one sign-in
	ByItself     bool      `json:"byItself,omitempty"`     // got with the client's own credentials
}

// key is the name of the record in the store.
func (r *record) key() string { return Prefix + "token:" + digest(r.Issuer, r.Resource, r.ClientID) }

// signedIn reports whether there is anything to send. r may be nil.
func (r *record) signedIn() bool { return r != nil && r.AccessToken != "" }

// stale reports whether the access token ends within d.
func (r *record) stale(now time.Time, d time.Duration) bool {
	return !r.Expiry.IsZero() && !now.Add(d).Before(r.Expiry)
}

// pointer is the name under which the store has the key of this server's record. Two servers of
// the settings may have the same URL for two accounts, so that the name counts.
func (s *Session) pointer() string {
	return Prefix + "server:" + digest(s.server.Name, s.server.URL, s.server.ClientID)
}

// load reads the record of this server and its key; nil where there is none. A record that
// cannot be read is none: a new sign-in writes over it.
func (s *Session) load(ctx context.Context) (rec *record, key string, err error) {
	has, err := s.store.Has(ctx, s.pointer())
	if err != nil || !has {
		return nil, "", err
	}
	key, ok, err := s.store.Get(ctx, s.pointer())
	if err != nil || !ok {
		return nil, "", err
	}
	raw, ok, err := s.store.Get(ctx, key)
	if err != nil || !ok {
		return nil, key, err
	}
	rec = &record{}
	if err := json.Unmarshal([]byte(raw), rec); err != nil || rec.key() != key {
		s.log.Warn("what is stored of the sign-in is damaged: sign in again") // its text is secret
		return nil, key, nil                                                  //nolint:nilerr // one has to sign in again
	}
	if rec.ByItself != s.server.ClientCredentials {
		return nil, key, nil // a token of a person is not the client's, nor the other way round
	}
	if rec.ClientID == s.server.ClientID {
		rec.ClientSecret = s.server.ClientSecret // it may have been changed since
	}
	return rec, key, nil
}

// save stores rec, and makes it this server's.
func (s *Session) save(ctx context.Context, rec *record) error {
	kept := *rec
	if kept.ClientID == s.server.ClientID {
		kept.ClientSecret = "" // it is in the settings
	}
	raw, err := json.Marshal(&kept) //nolint:gosec // it goes to the keyring
	if err != nil {
		return err
	}
	if err := s.store.Set(ctx, rec.key(), string(raw)); err != nil {
		return err
	}
	if has, err := s.store.Has(ctx, s.pointer()); err == nil && has {
		if key, _, err := s.store.Get(ctx, s.pointer()); err == nil && key == rec.key() {
			return nil
		}
	}
	return s.store.Set(ctx, s.pointer(), rec.key())
}

// known is the record in memory; the store is asked the first time, and later whether it still
// has one.
func (s *Session) known(ctx context.Context) (*record, error) {
	now := s.opts.Now()
	s.mu.Lock()
	rec, looked := s.current, s.looked
	s.mu.Unlock()
	if !looked.IsZero() && (rec == nil || now.Sub(looked) < lookAgain) {
		return rec, nil
	}
	if rec == nil {
		return s.reload(ctx)
	}
	has, err := s.store.Has(ctx, s.pointer())
	if err != nil {
		return rec, nil //nolint:nilerr // what we have is good until the server says otherwise
	}
	if !has {
		rec = nil
	}
	s.adopt(rec)
	return rec, nil
}

// reload asks the store.
func (s *Session) reload(ctx context.Context) (*record, error) {
	rec, _, err := s.load(ctx)
	if err != nil {
		return nil, s.failed("read the sign-in", err)
	}
	s.adopt(rec)
	return rec, nil
}

// adopt makes rec the one that requests use.
func (s *Session) adopt(rec *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.looked = rec, s.opts.Now()
	s.needs = s.needs && !rec.signedIn()
}

// union is all scopes of both lists, in their order.
func union(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		for _, scope := range l {
			if !slices.Contains(out, scope) {
				out = append(out, scope)
			}
		}
	}
	return out
}
