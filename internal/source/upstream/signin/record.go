package signin

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// This file stores the tokens of a sign-in.

// record is a stored sign-in. Its key in the store is the digest of issuer, resource and client id.
type record struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`

	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	ClientAuth   string    `json:"clientAuth"`           // how the client authenticates: none, basic or post
	ClientEnds   time.Time `json:"clientEnds,omitzero"`  // when the client's secret expires
	Registered   bool      `json:"registered,omitempty"` // Collie registered the client, with Redirect
	Doubtful     bool      `json:"doubtful,omitempty"`   // the server may have forgotten the client
	Redirect     string    `json:"redirect"`             // URI of the callback
	TokenURL     string    `json:"tokenUrl"`
	RevokeURL    string    `json:"revokeUrl,omitempty"` // empty if the server has none
	Inside       bool      `json:"inside,omitempty"`    // private addresses are allowed; see requestGuard
	AccessToken  string    `json:"accessToken,omitempty"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"`    // of AccessToken; zero if unknown
	Scopes       []string  `json:"scopes,omitempty"`   // granted
	Wanted       []string  `json:"wanted,omitempty"`   // named by the server in a later refusal
	Subject      string    `json:"subject,omitempty"`  // who signed in
	Login        string    `json:"login"`              // random, different for each sign-in; see Principal
	ByItself     bool      `json:"byItself,omitempty"` // obtained with the client's own credentials
}

// key returns the name of the record in the store.
func (r *record) key() string { return Prefix + "token:" + digest(r.Issuer, r.Resource, r.ClientID) }

// signedIn reports whether there is a token to send. r may be nil.
func (r *record) signedIn() bool { return r != nil && r.AccessToken != "" }

// expiresWithin reports whether the access token expires within d.
func (r *record) expiresWithin(now time.Time, d time.Duration) bool {
	return !r.Expiry.IsZero() && !now.Add(d).Before(r.Expiry)
}

// recordKey returns the name under which the store holds the key of this server's record. It includes the server's
// name, since two servers of the settings may use one URL with two accounts.
func (s *Session) recordKey() string {
	return Prefix + "server:" + digest(s.server.Name, s.server.URL, s.server.ClientID)
}

// load reads the record of this server and its key. rec is nil if there is none, or if what is stored cannot be
// used: the next sign-in replaces that.
func (s *Session) load(ctx context.Context) (rec *record, key string, err error) {
	exists, err := s.store.Has(ctx, s.recordKey())
	if err != nil || !exists {
		return nil, "", err
	}
	key, ok, err := s.store.Get(ctx, s.recordKey())
	if err != nil || !ok {
		return nil, "", err
	}
	raw, ok, err := s.store.Get(ctx, key)
	if err != nil || !ok {
		return nil, key, err
	}
	rec = &record{}
	if err := json.Unmarshal([]byte(raw), rec); err != nil || rec.key() != key {
		s.log.Warn("what is stored of the sign-in is damaged: sign in again") // without the error, which may quote secrets
		return nil, key, nil                                                  //nolint:nilerr // treated like a missing record
	}
	if rec.ByItself != s.server.ClientCredentials {
		return nil, key, nil // a person's token is not used for the client, nor the reverse
	}
	if rec.ClientID == s.server.ClientID {
		rec.ClientSecret = s.server.ClientSecret // it may have changed in the settings
	}
	return rec, key, nil
}

// save stores rec as this server's record.
func (s *Session) save(ctx context.Context, rec *record) error {
	stored := *rec
	if stored.ClientID == s.server.ClientID {
		stored.ClientSecret = "" // it is in the settings
	}
	raw, err := json.Marshal(&stored) //nolint:gosec // it goes to the keyring
	if err != nil {
		return err
	}
	if err := s.store.Set(ctx, rec.key(), string(raw)); err != nil {
		return err
	}
	if exists, err := s.store.Has(ctx, s.recordKey()); err == nil && exists {
		if key, _, err := s.store.Get(ctx, s.recordKey()); err == nil && key == rec.key() {
			return nil
		}
	}
	return s.store.Set(ctx, s.recordKey(), rec.key())
}

// cachedRecord returns the record in memory. The store is read the first time. Later, at intervals, it is only asked
// whether it still has a record, because another process may have signed out. A record that is missing the first time
// is not looked for again here: a request that the server refuses reads the store.
func (s *Session) cachedRecord(ctx context.Context) (*record, error) {
	now := s.opts.Now()
	s.mu.Lock()
	rec, checked := s.current, s.storeChecked
	s.mu.Unlock()
	if !checked.IsZero() && (rec == nil || now.Sub(checked) < recheckInterval) {
		return rec, nil
	}
	if rec == nil {
		return s.reload(ctx)
	}
	exists, err := s.store.Has(ctx, s.recordKey())
	if err != nil {
		return rec, nil //nolint:nilerr // the record is good until the server refuses it
	}
	if !exists {
		rec = nil
	}
	s.adopt(rec)
	return rec, nil
}

// reload reads the record from the store.
func (s *Session) reload(ctx context.Context) (*record, error) {
	rec, _, err := s.load(ctx)
	if err != nil {
		return nil, s.failed("read the sign-in", err)
	}
	s.adopt(rec)
	return rec, nil
}

// adopt makes requests use rec.
func (s *Session) adopt(rec *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.storeChecked = rec, s.opts.Now()
	s.needsSignIn = s.needsSignIn && !rec.signedIn()
}

// union returns all scopes of the lists, in order and without duplicates.
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
