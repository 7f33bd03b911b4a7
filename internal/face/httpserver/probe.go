package httpserver

import "context"

// Probe says why [Open] could not listen on addr, and nil if it could: the address is
// listened on and given back at once. The error is that of Open.
func Probe(ctx context.Context, addr string) error {
	at, err := resolve(ctx, addr)
	if err != nil {
		return err
	}
	l, err := listen(ctx, at, addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// CheckToken says what is wrong with the token file at path as [LoadOrCreateToken] would,
// and makes nothing. A missing file is [io/fs.ErrNotExist].
func CheckToken(path string) error {
	_, err := loadToken(path)
	return err
}
